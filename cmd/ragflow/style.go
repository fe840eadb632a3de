package main

import (
	"io"
	"os"
	"regexp"
	"strings"

	"golang.org/x/term"

	"example.com/ragflow/transcript"
)

// style writes text for terminals; the zero style leaves it plain.
type style struct{ on bool }

func (s style) wrap(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(text string) string { return s.wrap("1", text) }
func (s style) dim(text string) string  { return s.wrap("2", text) }
func (s style) mark(text string) string { return s.wrap("1;33", text) }

// styleOf returns the style for a stream.
func (a *app) styleOf(w io.Writer) style {
	return style{on: a.terminal(w) && a.env["NO_COLOR"] == ""}
}

// terminal reports whether a person reads the stream on a terminal that can
// do more than print lines.
func (a *app) terminal(w io.Writer) bool {
	return a.env["TERM"] != "dumb" && a.isTerm(w)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

var (
	strong  = regexp.MustCompile(`\*\*([^*\n]+)\*\*`)
	heading = regexp.MustCompile(`(?m)^#{1,6} (.*)$`)
)

// markdown prints Markdown for a person: harmless, and on a terminal with bold
// headings and emphasis. Code blocks stay as they are.
func (s style) markdown(text string) string {
	text = transcript.Visible(strings.TrimSpace(text))
	if !s.on {
		return text
	}
	var b strings.Builder
	inCode := false
	for l := range strings.SplitAfterSeq(text, "\n") {
		switch {
		case strings.HasPrefix(strings.TrimSpace(l), "```"), strings.HasPrefix(strings.TrimSpace(l), "~~~"):
			inCode = !inCode
			l = s.dim(strings.TrimRight(l, "\n")) + l[len(strings.TrimRight(l, "\n")):]
		case !inCode:
			l = heading.ReplaceAllString(l, s.bold("$1"))
			l = strong.ReplaceAllString(l, s.bold("$1"))
		}
		b.WriteString(l)
	}
	return b.String()
}
