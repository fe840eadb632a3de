package cite

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// SnippetRunes is the length of a snippet in characters.
const SnippetRunes = 200

// Pick is a quoted part of a source.
type Pick struct {
	N          int  // of [Source N], from 1
	Start, End int  // in bytes of the source's Text; both 0: all of it
	Found      bool `yaml:",omitempty"` // set by the program, not by the author of the answer
}

// Build returns the citations of picks, in their order, without repetitions. It fails if a pick names no
// source, or its span is empty, exceeds the text or splits a character.
func Build(sources []state.Source, picks ...Pick) ([]state.Citation, error) {
	var out []state.Citation
	seen := map[Pick]bool{}
	for _, p := range picks {
		if p.N < 1 || p.N > len(sources) {
			return nil, fmt.Errorf("cite source %d: there are %d sources", p.N, len(sources))
		}
		src := sources[p.N-1]
		if p.Start == 0 && p.End == 0 {
			p.End = len(src.Text)
		}
		if seen[p] {
			continue
		}
		seen[p] = true
		if !isSpan(src.Text, p.Start, p.End) {
			return nil, fmt.Errorf("cite source %d (%s): %d to %d is no span of its %d bytes", p.N, src.Source, p.Start, p.End, len(src.Text))
		}
		out = append(out, citation(src, p))
	}
	return out, nil
}

func isSpan(text string, start, end int) bool {
	if start < 0 || start >= end || end > len(text) {
		return false
	}
	return utf8.RuneStart(text[start]) && (end == len(text) || utf8.RuneStart(text[end]))
}

// titleOf returns the title of a document, and of mails the mail of a mailbox and the attachment too.
func titleOf(c state.Chunk) string {
	const most = 2 // headings, because an attachment has its own
	switch strings.ToLower(path.Ext(c.Source)) {
	case ".eml", ".mbox", ".msg":
		return strings.Join(append([]string{c.Title}, c.Headings[:min(len(c.Headings), most)]...), ", ")
	}
	return c.Title
}

func citation(src state.Source, p Pick) state.Citation {
	quote := src.Text[p.Start:p.End]
	first := strings.Count(src.Text[:p.Start], "\n")
	last := first + strings.Count(quote[:len(quote)-1], "\n")
	return state.Citation{
		N:         p.N,
		Source:    src.Source,
		Root:      src.Root,
		Title:     titleOf(src.Chunk),
		Start:     src.Start + p.Start,
		End:       src.Start + p.End,
		StartLine: src.LineAt(first),
		EndLine:   max(src.LineAt(first), src.LineAt(last)),
		Page:      src.PageAt(src.Start + p.Start),
		EndPage:   src.PageAt(src.Start + p.End - 1),
		PageLabel: src.PageLabel(src.Start+p.Start, src.Start+p.End),
		Quote:     quote,
		Score:     src.Score,
		Chunk:     src.ID,
		Hash:      src.Hash,
		Found:     p.Found,
		URL:       src.URL,
	}
}

// Snippet returns the first [SnippetRunes] characters of s, with "..." if something is cut off.
func Snippet(s string) string {
	if short := text.First(s, SnippetRunes); short != s {
		return short + "..."
	}
	return s
}
