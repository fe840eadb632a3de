package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"

	"example.com/ragflow/cmd/ragflow/internal/chat"
	"example.com/ragflow/cmd/ragflow/internal/screen"
	"example.com/ragflow/internal/newfile"
	"example.com/ragflow/internal/settings"
	"example.com/ragflow/internal/termmd"
	"example.com/ragflow/internal/transcript"
)

// print writes the reply of a command: as JSON with --json, else by text.
func (a *app) print(reply any, text func()) error {
	if !a.asJSON {
		text()
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(reply)
	if err == nil {
		_, err = a.out.Write(transcript.VisibleJSON(b.Bytes()))
	}
	return failed("write JSON", err)
}

// table prints rows in columns. A cell is one line.
func (a *app) table(rows ...[]string) {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, cells := range rows {
		for i, c := range cells {
			cells[i] = line(c)
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	_ = w.Flush() // a.out keeps the first error for the end
}

// printMarkdown prints Markdown: rendered on a terminal, else as it is.
func (a *app) printMarkdown(text string) {
	text = transcript.Visible(strings.TrimSpace(text))
	if columns, _, ok := a.size(a.stdout); ok {
		text = termmd.Render(text, termmd.Options{Width: min(columns-1, chat.MaxWidth), Style: a.styleOf(a.stdout).On, LongCode: true})
	}
	fmt.Fprintln(a.out, text)
}

// tell prints a line on standard error, unless --quiet.
func (a *app) tell(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintln(a.err, line(fmt.Sprintf(format, args...)))
	}
}

// warn prints a warning on standard error.
func (a *app) warn(text string) { a.tell("warning: %s", text) }

// warnOnce prints a warning about the settings, which a command may read several times.
func (a *app) warnOnce(text string) { a.tellOnce("warning: " + text) }

// tellOnce prints a line on standard error, unless it did so before.
func (a *app) tellOnce(text string) {
	if !slices.Contains(a.told, text) {
		a.told = append(a.told, text)
		a.tell("%s", text)
	}
}

// warnings is a slog.Handler that prints what the library logs, from warnings upward. It ignores
// attributes and groups of a logger, which nothing uses.
type warnings struct{ app *app }

func (w warnings) WithAttrs([]slog.Attr) slog.Handler { return w }

func (w warnings) WithGroup(string) slog.Handler { return w }

func (warnings) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

func (w warnings) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		text += fmt.Sprintf("; %s: %s", a.Key, a.Value)
		return true
	})
	w.app.warn(text)
	return nil
}

// checkOutput refuses a folder to write to that is named by a relative path and lies outside of
// the working folder: a link that came with it may lead there.
func checkOutput(dir string) error {
	here, err := os.Getwd()
	if err == nil {
		err = newfile.CheckFolder(here, dir)
	}
	return failed("", err)
}

// writeOutput writes a file that a flag names.
func writeOutput(path string, write func(io.Writer) error) error {
	if err := checkOutput(filepath.Dir(path)); err != nil {
		return err
	}
	return newfile.Write(path, write)
}

// styleOf returns the style for a stream.
func (a *app) styleOf(w io.Writer) screen.Style {
	return screen.Style{On: a.terminal(w) && a.env["NO_COLOR"] == ""}
}

// terminal reports whether a stream is a terminal that can do more than print lines.
func (a *app) terminal(w io.Writer) bool {
	return a.env["TERM"] != "dumb" && a.isTerm(w)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// size returns the columns and rows of the terminal behind a stream; ok is false if there is none.
func (a *app) size(w io.Writer) (columns, rows int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile || !a.terminal(w) {
		return 0, 0, false
	}
	columns, rows, err := term.GetSize(int(f.Fd()))
	return columns, rows, err == nil && columns > 0
}

// byteSize is a number of bytes with a unit.
func byteSize(n int64) string {
	const step = 1000
	if n < step {
		return fmt.Sprintf("%d B", n)
	}
	size, unit := float64(n)/step, 0
	for size >= step && unit < 3 {
		size /= step
		unit++
	}
	return fmt.Sprintf("%.1f %cB", size, "kMGT"[unit])
}

// Short names for what is printed often.
func count(n int, noun string) string { return screen.Count(n, noun) }
func line(text string) string         { return screen.Line(text) }
func quoted(name string) string       { return settings.Quoted(name) }

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}
