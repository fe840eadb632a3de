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
	var (
		thread string
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "explain QUERY",
		Short: "Show how a question is understood before anything is searched",
		Long: `Show what becomes of a question: the cleaned text, the terms the analyzer makes
of its words and how rare each is in your documents, the language, the kind of
question, the route, and the queries that would be searched for.

With --thread the question is understood as the next one of that conversation.
Nothing is saved.`,
		Example: `  ragflow explain "How do I back up volumes?"
  ragflow explain --thread last "and how do I back it up?"
  ragflow explain --json "How do I back up volumes?"`,
		Args: argsBetween(1, -1),
		RunE: func(c *cobra.Command, args []string) error {
			query, err := a.question(c.Context(), false, args, askOptions{})
			if err != nil {
				return err
			}
			return a.explain(c.Context(), query, thread, asJSON)
		},
	}
	a.docsFlag(c.Flags())
	a.collectionFlag(c.Flags())
	c.Flags().StringVar(&thread, "thread", "", "conversation `ID` it would continue: id, beginning of an id, or last")
	c.Flags().BoolVar(&asJSON, "json", false, "write one JSON object instead of text")
	return c
}

func (a *app) explain(ctx context.Context, query, thread string, asJSON bool) (err error) {
	assistant, err := a.openIndexed(ctx, nil)
	if err != nil {
		return err
	}
	defer closeInto(&err, assistant)
	if thread != "" {
		if thread, err = findThread(ctx, assistant, thread); err != nil {
			return err
		}
	}
	e, err := assistant.Explain(ctx, query, thread)
	if err != nil {
		return failed("explain", err)
	}
	if asJSON {
		return a.writeJSON(e)
	}
	a.printExplanation(e)
	return nil
}

func (a *app) printExplanation(e *ragflow.Explanation) {
	s := a.styleOf(a.stdout)
	rows := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, r := range [][2]string{
		{"original", line(shorten(e.Original, 300))},
		{"cleaned", line(shorten(e.Cleaned, 300))},
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
	if len(e.Tokens) > 0 {
		fmt.Fprintf(a.out, "\n%s\n", s.bold("Terms"))
		fmt.Fprintln(rows, "WORD\tTERM\tDOCUMENTS\tIDF")
		for _, t := range e.Tokens {
			fmt.Fprintf(rows, "%s\t%s\t%d\t%.2f\n", line(t.Text), line(t.Term), t.Documents, t.IDF)
		}
		_ = rows.Flush() // as above
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
