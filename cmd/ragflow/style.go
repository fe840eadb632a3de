package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"example.com/ragflow/cmd/ragflow/chat"
	"example.com/ragflow/internal/termmd"
	"example.com/ragflow/internal/transcript"
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

// size is how many columns and rows the terminal behind a stream has; ok is
// false where there is none.
func (a *app) size(w io.Writer) (columns, rows int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile || !a.terminal(w) {
		return 0, 0, false
	}
	columns, rows, err := term.GetSize(int(f.Fd()))
	return columns, rows, err == nil && columns > 0
}

// printMarkdown prints Markdown: rendered on a terminal, else as it is.
func (a *app) printMarkdown(text string) {
	text = transcript.Visible(strings.TrimSpace(text))
	if columns, _, ok := a.size(a.stdout); ok {
		text = termmd.Render(text, termmd.Options{Width: min(columns-1, chat.Widest), Style: a.styleOf(a.stdout).on, LongCode: true})
	}
	fmt.Fprintln(a.out, text)
}
