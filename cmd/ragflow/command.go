package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/cmd/ragflow/config"
	"example.com/ragflow/internal/transcript"
)

// command makes a command. It takes at least the arguments that its use names outside of
// brackets, and at most so many; a most below zero is no limit.
func command(use string, most int, run func(*cobra.Command, []string) error) *cobra.Command {
	least := len(strings.Fields(use)) - 1 - strings.Count(use, "[")
	return &cobra.Command{Use: use, RunE: run, Args: func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usagef("%s is missing", strings.TrimPrefix(use, c.Name()+" ")).with(c.CommandPath() + " --help shows what it takes")
		case most == 0 && len(args) > 0:
			return usagef("%s takes no argument, but there is %q", c.CommandPath(), args[0])
		case most >= 0 && len(args) > most:
			return usagef("one argument too many: %q", args[most]).with("quote an argument that has spaces in it")
		}
		return nil
	}}
}

// subcommands refuses words that are none of the commands below c.
func subcommands(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	return usagef("unknown command %q", args[0]).with("there are: " + strings.Join(names, ", "))
}

// jsonFlag adds --json to a command.
func (a *app) jsonFlag(c *cobra.Command) {
	c.Flags().BoolVar(&a.asJSON, "json", false, "write one JSON object instead of text")
}

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

// tell says something on standard error, unless --quiet.
func (a *app) tell(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintln(a.err, line(fmt.Sprintf(format, args...)))
	}
}

// warn prints a warning on standard error.
func (a *app) warn(text string) { a.tell("warning: %s", text) }

// warnOnce prints a warning about the settings, which a command may read several times.
func (a *app) warnOnce(text string) {
	if !slices.Contains(a.warned, text) {
		a.warned = append(a.warned, text)
		a.warn(text)
	}
}

// warnings prints what the library logs, from the level of warnings up.
type warnings struct{ app *app }

// WithAttrs implements slog.Handler. Nothing logs with attributes of its own.
func (w warnings) WithAttrs([]slog.Attr) slog.Handler { return w }

// WithGroup implements slog.Handler.
func (w warnings) WithGroup(string) slog.Handler { return w }

// Enabled implements slog.Handler.
func (warnings) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle implements slog.Handler.
func (w warnings) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		text += fmt.Sprintf("; %s: %s", a.Key, a.Value)
		return true
	})
	w.app.warn(text)
	return nil
}

// withAssistant opens the assistant, without reading documents and without models, and
// closes it.
func (a *app) withAssistant(ctx context.Context, change func(*ragflow.Config), do func(*ragflow.Assistant) error) (err error) {
	a.asked = config.NoModels
	assistant, err := a.open(ctx, change)
	if err != nil {
		return err
	}
	defer closeInto(&err, assistant)
	return do(assistant)
}

// withDocuments does the same and brings the index up to date first.
func (a *app) withDocuments(ctx context.Context, change func(*ragflow.Config), do func(*ragflow.Assistant) error) (err error) {
	assistant, _, err := a.openReport(ctx, change)
	if err != nil {
		return err
	}
	defer closeInto(&err, assistant)
	return do(assistant)
}

// closeInto closes c; its error counts where nothing else went wrong.
func closeInto(err *error, c io.Closer) {
	if closeErr := c.Close(); *err == nil {
		*err = failed("close", closeErr)
	}
}

// confirm asks before something cannot be undone. Where nobody can answer, it
// wants --yes. done is what is not done after a no.
func (a *app) confirm(ctx context.Context, yes bool, question, done string) error {
	if yes {
		return nil
	}
	if in, ok := a.in.(*os.File); !ok || !a.isTerm(in) {
		return usagef("this cannot be undone: confirm with --yes")
	}
	fmt.Fprintf(a.err, "%sreally? [y/N] ", question)
	answer, err := wait(ctx, func() (string, error) {
		text, _ := bufio.NewReader(io.LimitReader(a.in, 1<<10)).ReadString('\n') // the end of input is an answer too: no
		return text, nil
	})
	if err != nil {
		return err
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return &failure{code: exitFailure, err: errors.New("nothing was " + done)}
	}
	return nil
}

// wait stops waiting for a read when ctx ends. The read itself cannot be
// called off; it ends with the program.
func wait(ctx context.Context, read func() (string, error)) (string, error) {
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
		return "", ctx.Err()
	case r := <-done:
		return r.text, r.err
	}
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// byteSize is a number of bytes for people.
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

// line makes a text one line that cannot command a terminal.
func line(s string) string { return strings.Join(strings.Fields(transcript.Visible(s)), " ") }

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}
