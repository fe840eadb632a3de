package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow"
)

func (a *app) indexCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "index [PATH]...",
		Short: "Bring the index of folders and files up to date",
		Long: `Index folders and files, so that later questions need not wait. Only what is new
or has changed since the last time is read; what is gone leaves the index. It
may be interrupted at any time, and goes on from there.

Without a path, the documents of "ragflow init" are indexed. Files that hold no
text are skipped, and named. "ask" and "search" do the same by themselves.`,
		Example: `  ragflow index ./docs
  ragflow index ./docs ./notes README.md
  ragflow index --json ./docs`,
		Args: argsBetween(0, -1),
		RunE: func(c *cobra.Command, args []string) error {
			a.flags.docs = args
			return a.index(c.Context(), asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write one JSON object instead of text")
	return c
}

func (a *app) index(ctx context.Context, asJSON bool) (err error) {
	progress := a.newProgress()
	var docs []string
	assistant, err := a.open(ctx, func(c *ragflow.Config) {
		docs = c.Docs
		c.Progress = progress.report
	})
	if err != nil {
		return err
	}
	defer closeInto(&err, assistant)
	if len(docs) == 0 {
		f := usagef("no documents named or configured")
		f.hint = `name them: ragflow index ./docs, or once for all: ragflow init --docs ./docs`
		return f
	}
	report, err := assistant.Index(ctx)
	progress.end()
	if err != nil {
		return failed("index "+strings.Join(docs, ", "), err)
	}
	a.denseTrouble(report.Dense)
	if asJSON {
		if err := a.writeJSON(report); err != nil {
			return err
		}
	} else {
		a.problems(report)
		if s := embedded(report.Dense); s != "" {
			fmt.Fprintln(a.out, s)
		}
		fmt.Fprintf(a.out, "%s\nthe index holds %s in %s\n", indexed(report), count(report.Chunks, "passage"), count(report.Files, "file"))
	}
	if len(report.Failed) > 0 && report.Files == 0 {
		return &failure{code: exitFailure, what: "index", err: errors.New("no file could be read"), hint: "check who may read there"}
	}
	return nil
}
