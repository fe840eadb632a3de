package main

import (
	"bytes"
	"regexp"
	"strings"

	"example.com/ragflow"
	"example.com/ragflow/transcript"
)

// marked is the snippet of a hit on one line, its words of the query marked. What
// only says how a page looks is left out: fences of code, rules of tables, the
// marks of headings, and a heading that is shown above the snippet anyway.
func marked(h ragflow.SearchHit, s style) string {
	from := h.Snippet.Start - h.Start
	said := withoutLooks(h)
	if from < 0 || from+len(h.Snippet.Text) > len(said) {
		from, said = 0, h.Snippet.Text
	}
	said = said[from : from+len(h.Snippet.Text)]
	var b oneLine
	if h.Snippet.Start > h.Start {
		b.WriteString("…")
	}
	at := 0
	for _, m := range h.Snippet.Marks {
		b.write(said[at:m.Start-h.Snippet.Start], nil)
		at = m.End - h.Snippet.Start
		b.write(said[m.Start-h.Snippet.Start:at], s.mark)
	}
	b.write(said[at:], nil)
	if h.Snippet.End < h.End {
		b.WriteString("…")
	}
	return strings.TrimSpace(b.String())
}

// oneLine puts pieces of a text on one line: white space, of any length and
// wherever pieces meet, is one space, and none behind the sign that something
// stands before.
type oneLine struct {
	strings.Builder

	space bool // one is due before what comes next
	begun bool
}

func (l *oneLine) write(piece string, shown func(string) string) {
	piece = transcript.Visible(piece)
	words := strings.Fields(piece)
	if len(words) == 0 {
		l.space = l.space || piece != ""
		return
	}
	if (l.space || strings.TrimLeft(piece, " \t\n") != piece) && l.begun {
		l.WriteByte(' ')
	}
	joined := strings.Join(words, " ")
	if shown != nil {
		joined = shown(joined)
	}
	l.WriteString(joined)
	l.begun, l.space = true, strings.TrimRight(piece, " \t\n") != piece
}

var (
	headingLine = regexp.MustCompile(`^ {0,3}#{1,6}[ \t]+(.*?)[ \t#]*$`)
	tableRule   = regexp.MustCompile(`^[ \t]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$`)
)

// withoutLooks is the text of a passage in which spaces stand for what only says how
// it looks; each byte keeps its place. Passages that are no Markdown stay.
func withoutLooks(h ragflow.SearchHit) string {
	if h.Cut.Chunker != "markdown" && h.Cut.Chunker != "html" {
		return h.Text
	}
	above := h.Title
	if n := len(h.Headings); n > 0 {
		above = h.Headings[n-1]
	}
	out := []byte(h.Text)
	at, inCode := 0, false
	for line := range strings.Lines(h.Text) {
		bare := strings.TrimRight(line, "\r\n")
		from, to := at, at // what is blanked
		mark := strings.TrimLeft(bare, " ")
		switch m := headingLine.FindStringSubmatchIndex(bare); {
		case strings.HasPrefix(mark, "```") || strings.HasPrefix(mark, "~~~"):
			inCode, to = !inCode, at+len(bare)
		case inCode:
		case m != nil && bare[m[2]:m[3]] == above && strings.TrimSpace(h.Text[:at]) == "" && h.Snippet.End-h.Start > len(line):
			to = at + len(bare)
		case m != nil:
			to = at + m[2]
		case tableRule.MatchString(bare) && strings.Contains(bare, "|"):
			to = at + len(bare)
		}
		copy(out[from:to], bytes.Repeat([]byte(" "), to-from))
		at += len(line)
	}
	return string(out)
}
