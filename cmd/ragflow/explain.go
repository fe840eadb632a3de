package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/transcript"
)

func (a *app) explainCommand() *cobra.Command {
	var thread string
	c := &cobra.Command{
		Use:  "explain QUERY",
		Args: argsBetween(1, -1),
		RunE: func(c *cobra.Command, args []string) error {
			query, err := a.question(c.Context(), false, args, askOptions{})
			if err != nil {
				return err
			}
			return a.withDocuments(c.Context(), nil, func(assistant *ragflow.Assistant) error {
				return a.explain(c.Context(), assistant, query, thread)
			})
		},
	}
	a.searchFlags(c.Flags())
	c.Flags().StringVar(&thread, "thread", "", "conversation `ID` it would continue: id, beginning of an id, or last")
	a.jsonFlag(c)
	return c
}

func (a *app) explain(ctx context.Context, assistant *ragflow.Assistant, query, thread string) (err error) {
	if thread != "" {
		if thread, err = findThread(ctx, assistant.Threads(), thread); err != nil {
			return err
		}
	}
	e, err := assistant.Explain(ctx, query, thread)
	if err != nil {
		return failed("explain", err)
	}
	return a.print(e, func() { a.printExplanation(e) })
}

func (a *app) printExplanation(e *ragflow.Explanation) {
	s := a.styleOf(a.stdout)
	rows := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, r := range [][2]string{
		{"original", line(e.Original)},
		{"cleaned", line(e.Cleaned)},
		{"language", e.Language},
		{"domain", e.Domain},
		{"intent", e.Intent},
		{"route", e.Route},
		{"complexity", fmt.Sprintf("%.2f", e.Complexity)},
		{"standalone", strconv.FormatBool(e.Standalone)},
	} {
		fmt.Fprintf(rows, "%s\t%s\n", r[0], orNone(r[1]))
	}
	_ = rows.Flush() // a.out keeps the first error for the end
	if b := e.Best; b != nil {
		fmt.Fprintf(a.out, "\n%s\n%s  %s\n", s.bold("Best passage"), place(b.Source, b.StartLine, b.EndLine, b.Page, b.Page), s.dim("cut by "+orNone(b.Cut.Chunker)+", "+count(b.Tokens, "token")))
	}
	if len(e.Tokens) > 0 {
		fmt.Fprintf(a.out, "\n%s\n", s.bold("Terms"))
		fmt.Fprintln(rows, "WORD\tTERM\tDOCUMENTS\tIDF")
		for _, t := range e.Tokens {
			fmt.Fprintf(rows, "%s\t%s\t%d\t%.2f\n", line(t.Text), line(t.Term), t.Documents, t.IDF)
		}
		_ = rows.Flush() // as above
	}
	if len(e.Expanded) > 0 {
		fmt.Fprintf(a.out, "\n%s\n", s.bold("Other words"))
		for _, x := range e.Expanded {
			fmt.Fprintf(rows, "%s\t%s\t%s\n", line(x.Word), x.Kind, line(strings.Join(x.Others, ", ")))
		}
		_ = rows.Flush() // as above
	}
	for _, r := range e.Respelled {
		fmt.Fprintf(a.out, "No document has %q; searched also for %s\n", r.Word, line(strings.Join(r.Terms, ", ")))
	}
	if len(e.Queries) > 0 {
		fmt.Fprintf(a.out, "\n%s\n", s.bold("Queries"))
	}
	for i, q := range e.Queries {
		fmt.Fprintf(a.out, "%d. %s  %s\n", i+1, line(q.Text), s.dim(fmt.Sprintf("weight %.2f, %s", q.Weight, line(q.Why))))
		if len(q.Boosts) > 0 {
			boosts := make([]string, len(q.Boosts))
			for j, b := range q.Boosts {
				boosts[j] = fmt.Sprintf("%s (%.2f)", line(transcript.Visible(b.Text)), b.Weight)
			}
			fmt.Fprintf(a.out, "   with %s\n", strings.Join(boosts, ", "))
		}
	}
	for _, w := range e.Warnings {
		a.warn(w)
	}
}
