// Package screen has what both the commands and the chat print and read with.
package screen

import (
	"context"
	"fmt"
	"strings"

	"example.com/ragflow/internal/transcript"
)

// Style writes text for terminals; the zero Style leaves it plain.
type Style struct{ On bool }

// SGR wraps text in the control sequence of a code, such as "1" for bold.
func (s Style) SGR(code, text string) string {
	if !s.On || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bold is for names and headings.
func (s Style) Bold(text string) string { return s.SGR("1", text) }

// Dim is for what matters less.
func (s Style) Dim(text string) string { return s.SGR("2", text) }

// Line makes a text one line that cannot command a terminal.
func Line(text string) string { return strings.Join(strings.Fields(transcript.Visible(text)), " ") }

// Count is a number with its noun.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Wait returns the result of read, or the cause of ctx once ctx ends. A read cannot be
// cancelled: it then lasts until the program ends.
func Wait(ctx context.Context, read func() (string, error)) (string, error) {
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := read()
		done <- result{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case r := <-done:
		return r.text, r.err
	}
}
