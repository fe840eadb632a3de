package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/search"
	"example.com/ragflow/transcript"
)

func (a *app) explainCommand() *cobra.Command {
	var thread, hit string
	c := &cobra.Command{
		Use:  "explain QUERY",
		Args: argsBetween(1, -1),
		RunE: func(c *cobra.Command, args []string) error {
			query, err := a.question(c.Context(), false, args, askOptions{})
			if err != nil {
				return err
			}
			if hit != "" && thread != "" {
				return usagef("--hit explains a search, which knows no --thread")
			}
			return a.withDocuments(c.Context(), nil, func(assistant *ragflow.Assistant) error {
				if hit != "" {
					return a.explainHit(c.Context(), assistant, query, hit)
				}
				return a.explain(c.Context(), assistant, query, thread)
			})
		},
	}
	a.searchFlags(c.Flags())
	c.Flags().StringVar(&thread, "thread", "", "conversation `ID` it would continue: id, beginning of an id, or last")
	c.Flags().StringVar(&hit, "hit", "", "show how passage `HIT` was found and where its score comes from: its rank in the search, or its id")
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

func (a *app) explainHit(ctx context.Context, assistant *ragflow.Assistant, query, hit string) error {
	r, err := assistant.Search(ctx, query, ragflow.SearchOptions{Explain: hit})
	if err != nil {
		err = failed("", err)
		if f, ok := errors.AsType[*failure](err); ok && f.hint == "" {
			f.hint = "ragflow search lists the passages with their ranks"
		}
		return err
	}
	return a.print(r.Explained, func() { a.printHit(r.Explained) })
}

// printFound tells which searches found a passage.
func (a *app) printFound(f *search.FoundHit) {
	fmt.Fprintf(a.out, "%s  rank %d, score %.4g\n", a.styleOf(a.stdout).bold(line(f.Source)), f.Rank, f.Score)
	for _, l := range f.Legs {
		by := map[string]string{search.LegLexical: "words", search.LegDense: "meaning", search.LegGraph: "names and links"}[l.Name]
		fmt.Fprintf(a.out, "found by %s: rank %d, score %.4g", cmp.Or(by, l.Name), l.Rank, l.Score)
		if l.Share > 0 {
			fmt.Fprintf(a.out, ", %.3g of the score", l.Share)
		}
		fmt.Fprintln(a.out)
		if l.Linked() {
			fmt.Fprintf(a.out, "  %s\n", line(way(l)))
		}
	}
	fmt.Fprintln(a.out)
}

// printHit shows the score of a passage as a table: a row for each term and field,
// whose last column sums to the score.
func (a *app) printHit(x *search.ExplainedHit) {
	s, r := a.styleOf(a.stdout), x.Ranking
	if x.Found != nil {
		a.printFound(x.Found)
	}
	fmt.Fprintf(a.out, "%s  %s\n", s.bold(fmt.Sprintf("%.4f", x.Score)), line(x.ChunkID))
	fmt.Fprintf(a.out, "score by words: passage %.4f + %g × document %.4f\n", x.Chunk, x.DocumentShare, x.Document)
	fmt.Fprintf(a.out, "%s\n\n", s.dim(fmt.Sprintf("BM25 with k1 %g and b %g over %s of %s; DF: texts that have the term, ADDS: its part of the score",
		r.K1, r.B, count(x.Chunks, "passage"), count(x.Documents, "document"))))
	rows := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(rows, "TERM\tIN\tWEIGHT\tDF\tIDF\tFIELD\tCOUNT\tLENGTH\tNORM\tTF\tADDS\t")
	absent := x.Missing
	for _, t := range x.Terms {
		if len(t.Chunk.Fields)+len(t.Document.Fields) == 0 {
			absent = append(absent, t.Term)
		}
		for i, part := range []search.PartExplanation{t.Chunk, t.Document} {
			share := []float64{1, x.DocumentShare}[i]
			for _, f := range part.Fields {
				fmt.Fprintf(rows, "%s\t%s\t%g\t%d\t%.3f\t%s ×%g\t%d\t%d\t%.3f\t%.3f\t%.4f\t\n", line(t.Term), []string{"passage", "document"}[i],
					t.Weight, part.DF, part.IDF, f.Field, f.Weight, f.Occurrences, f.Length, f.Norm, f.TF, share*f.Contribution)
			}
		}
	}
	_ = rows.Flush() // a.out keeps the first error for the end
	if len(absent) > 0 {
		fmt.Fprintf(a.out, "\nnot in the passage: %s\n", line(strings.Join(absent, ", ")))
	}
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
		pages := ""
		if b.Page > 0 {
			pages = fmt.Sprintf("page %d", b.Page)
		}
		fmt.Fprintf(a.out, "\n%s\n%s  %s\n", s.bold("Best passage"), place(b.Source, b.StartLine, b.EndLine, pages), s.dim("cut by "+orNone(b.Cut.Chunker)+", "+count(b.Tokens, "token")))
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
