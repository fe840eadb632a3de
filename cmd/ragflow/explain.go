package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/search/index"
	"example.com/ragflow/transcript"
)

func (a *app) explainCommand() *cobra.Command {
	var (
		thread string
		hit    string
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "explain QUERY",
		Short: "Show how a question is understood before anything is searched",
		Long: `Show what becomes of a question: the cleaned text, the terms the analyzer makes
of its words and how rare each is in your documents, the language, the kind of
question, the route, the queries that would be searched for, and the passage they
find first with how it was cut.

With --thread the question is understood as the next one of that conversation.
Nothing is saved.

With --hit it shows instead how a passage comes into the list of a search: which
legs found it, by which name, and which links led to it from which page, hop by
hop; and where its score by words comes from: of each term how often it stands
there, how rare it is, how long the texts are, and what it adds. The passage is
named by its rank or its id; the flags of search hold here, too.`,
		Example: `  ragflow explain "How do I back up volumes?"
  ragflow explain --hit 1 "back up volumes"
  ragflow explain --hit 3 --graph 1 "back up volumes"
  ragflow explain --thread last "and how do I back it up?"
  ragflow explain --json "How do I back up volumes?"`,
		Args: argsBetween(1, -1),
		RunE: func(c *cobra.Command, args []string) error {
			query, err := a.question(c.Context(), false, args, askOptions{})
			if err != nil {
				return err
			}
			if hit != "" && thread != "" {
				return usagef("--hit explains a search, which knows no --thread")
			}
			if hit != "" {
				return a.explainHit(c.Context(), query, hit, asJSON)
			}
			return a.explain(c.Context(), query, thread, asJSON)
		},
	}
	a.docsFlag(c.Flags())
	a.dictionaryFlag(c.Flags())
	a.collectionFlag(c.Flags())
	a.retrievalFlags(c.Flags())
	c.Flags().StringVar(&thread, "thread", "", "conversation `ID` it would continue: id, beginning of an id, or last")
	c.Flags().StringVar(&hit, "hit", "", "show how passage `HIT` was found and where its score comes from: its rank in the search, or its id")
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

func (a *app) explainHit(ctx context.Context, query, hit string, asJSON bool) (err error) {
	assistant, err := a.openIndexed(ctx, nil)
	if err != nil {
		return err
	}
	defer closeInto(&err, assistant)
	x, err := assistant.ExplainHit(ctx, query, hit)
	if err != nil {
		return failed("", err)
	}
	if asJSON {
		return a.writeJSON(x)
	}
	a.printHit(x)
	return nil
}

// printFound tells what brought a passage into the list of a search.
func (a *app) printFound(f *ragflow.FoundHit) {
	s := a.styleOf(a.stdout)
	fmt.Fprintf(a.out, "%s  rank %d, score %.4g\n", s.bold(line(f.Source)), f.Rank, f.Score)
	for _, l := range f.Legs {
		share := ""
		if l.Share > 0 {
			share = fmt.Sprintf(", share %.3g", l.Share)
		}
		fmt.Fprintf(a.out, "by leg %s: rank %d, score %.4g%s\n", l.Name, l.Rank, l.Score, share)
	}
	if n := f.Name; n != nil {
		fmt.Fprintf(a.out, "by name: %s; title or file is %.3g like the query, of 1; connected with %s\n", line(n.In), n.Likeness, count(n.Links, "document"))
	}
	if l := f.Link; l != nil {
		rank := "not in this list"
		if l.Rank > 0 {
			rank = fmt.Sprintf("rank %d", l.Rank)
		}
		fmt.Fprintf(a.out, "by links from %s, %s, score %.4g, of which each hop leaves %g\n", line(l.From), rank, l.Score, l.Damping)
		for _, step := range l.Steps {
			holder, leads := step.From, step.To
			if step.Reverse {
				holder, leads = leads, holder
			}
			fmt.Fprintf(a.out, "  hop %d: %s %s %s by %q, score %.4g\n", step.Hop, line(holder), line(strings.ToLower(step.Relation)), line(leads), line(step.Target), step.Score)
		}
	}
	fmt.Fprintln(a.out)
}

// printHit shows the score of a passage as a table: a row a term and field, whose
// last column sums to the score.
func (a *app) printHit(x *ragflow.ExplainedHit) {
	s, r := a.styleOf(a.stdout), x.Ranking
	if x.Found != nil {
		a.printFound(x.Found)
	}
	fmt.Fprintf(a.out, "%s  %s\n", s.bold(fmt.Sprintf("%.4f", x.Score)), line(x.ChunkID))
	fmt.Fprintf(a.out, "passage %.4f + %g × document %.4f\n", x.Chunk, x.DocumentShare, x.Document)
	fmt.Fprintf(a.out, "%s\n\n", s.dim(fmt.Sprintf("a term adds weight · idf · tf·(k1+1)/(tf+k1), tf = Σ field · count/norm; k1 %g, b %g; %s, %s",
		r.K1, r.B, count(x.Chunks, "passage"), count(x.Documents, "document"))))
	rows := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(rows, "TERM\tIN\tWEIGHT\tDF\tIDF\tFIELD\tCOUNT\tLENGTH\tNORM\tTF\tADDS\t")
	for _, t := range x.Terms {
		for _, part := range []struct {
			name  string
			share float64
			index.PartExplanation
		}{{"passage", 1, t.Chunk}, {"document", x.DocumentShare, t.Document}} {
			for _, f := range part.Fields {
				fmt.Fprintf(rows, "%s\t%s\t%g\t%d\t%.3f\t%s ×%g\t%d\t%d\t%.3f\t%.3f\t%.4f\t\n", line(t.Term), part.name, t.Weight,
					part.DF, part.IDF, f.Field, f.Weight, f.Occurrences, f.Length, f.Norm, f.TF, part.share*f.Contribution)
			}
		}
	}
	_ = rows.Flush() // a.out keeps the first error for the end
	var absent []string
	for _, t := range x.Terms {
		if len(t.Chunk.Fields)+len(t.Document.Fields) == 0 {
			absent = append(absent, t.Term)
		}
	}
	if absent = append(absent, x.Missing...); len(absent) > 0 {
		fmt.Fprintf(a.out, "\nnot there: %s\n", line(strings.Join(absent, ", ")))
	}
}

// cutOf says how a passage was cut, in words.
func cutOf(b *ragflow.BestPassage) string {
	said := []string{orNone(b.Cut.Chunker)}
	if b.Cut.Language != "" {
		said = append(said, b.Cut.Language)
	}
	if b.Cut.Declaration != "" {
		said = append(said, strings.ReplaceAll(b.Cut.Declaration, "_", " ")+" "+line(b.Cut.Name))
	}
	if b.Cut.Level > 0 {
		said = append(said, "level "+strconv.Itoa(b.Cut.Level))
	}
	if b.Cut.Sentences > 0 {
		said = append(said, count(b.Cut.Sentences, "sentence"))
	}
	return strings.Join(append(said, count(b.Tokens, "token")), ", ")
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
	if b := e.Best; b != nil {
		at := b.Source
		switch {
		case b.Page > 0:
			at = fmt.Sprintf("%s, page %d", at, b.Page)
		case b.StartLine > 0:
			at = fmt.Sprintf("%s:%d-%d", at, b.StartLine, b.EndLine)
		}
		fmt.Fprintf(a.out, "\n%s\n%s  %s\n", s.bold("Best passage"), line(at), s.dim("cut by "+cutOf(b)))
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
