package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/internal/settings"
	"example.com/ragflow/search"
)

// explainReply is the schema of "ragflow explain --json".
type explainReply struct {
	ragflow.Explanation

	Hit *ragflow.SearchHit `json:"hit,omitempty"` // with --hit
}

func (a *app) explainCommand(g *given) *cobra.Command {
	rank := 0
	c := command("explain QUERY", -1, func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("hit") && rank < 1 || rank > settings.MaxHits {
			return usagef("--hit is %d, but must be from 1 to %d", rank, settings.MaxHits)
		}
		query, err := a.question(c.Context(), args)
		if err != nil {
			return err
		}
		return a.with(c.Context(), g, opening{sync: true, change: unlogged}, func(opened *session) error {
			e, err := opened.Explain(c.Context(), ragflow.Question{Text: query})
			if err != nil {
				return failed("explain", err)
			}
			reply := explainReply{Explanation: *e}
			if rank > 0 {
				list, err := opened.Search(c.Context(), query, ragflow.SearchOptions{Request: search.Request{K: rank}})
				if err != nil {
					return failed("search", err)
				}
				if len(list.Hits) < rank {
					return notFoundf("the search, which adds only the words of your own dictionary, lists only %s", count(len(list.Hits), "passage"))
				}
				reply.Hit = &list.Hits[rank-1]
			}
			return a.print(reply, func() { a.printExplanation(reply) })
		})
	})
	c.Flags().IntVar(&rank, "hit", 0, "show which searches found the passage that search lists at place `N`")
	g.addSearch(c.Flags())
	a.jsonFlag(c)
	return c
}

func (a *app) printExplanation(e explainReply) {
	s := a.styleOf(a.stdout)
	section := func(name string, rows ...[]string) {
		if len(rows) > 0 {
			fmt.Fprintf(a.out, "\n%s\n", s.Bold(name))
			a.table(rows...)
		}
	}
	a.table([][]string{
		{"original", orNone(e.Original)},
		{"cleaned", orNone(e.Cleaned)},
		{"language", orNone(e.Language)},
		{"domain", orNone(e.Domain), "the folder of most of the best passages"},
		{"intent", orNone(e.Intent), "what kind of answer is asked for"},
		{"route", orNone(e.Route), "what is done with it"},
		{"complexity", fmt.Sprintf("%.2f", e.Complexity), "from 0, one word, to 1"},
		{"standalone", strconv.FormatBool(e.Standalone), "whether it says all without the conversation"},
	}...)
	var terms, words [][]string
	for _, t := range e.Tokens {
		if len(terms) == 0 {
			terms = [][]string{{"WORD", "TERM", "DOCUMENTS", "IDF"}}
		}
		terms = append(terms, []string{t.Text, t.Term, strconv.Itoa(t.Documents), fmt.Sprintf("%.2f", t.IDF)})
	}
	section("Terms", terms...)
	for _, x := range e.Expanded {
		words = append(words, []string{x.Word, x.Kind, strings.Join(x.Others, ", ")})
	}
	section("Other words", words...)
	for _, r := range e.Respelled {
		fmt.Fprintf(a.out, "No document has %q; searched also for words with the stem %s\n", r.Word, line(strings.Join(r.Terms, ", ")))
	}
	if len(e.Queries) > 0 {
		fmt.Fprintf(a.out, "\n%s\n", s.Bold("Queries"))
	}
	for i, q := range e.Queries {
		fmt.Fprintf(a.out, "%d. %s  %s\n", i+1, line(q.Text), s.Dim(fmt.Sprintf("weight %.2f, %s", q.Weight, line(strings.Replace(q.Why, "raw turn", "as typed", 1)))))
		var boosts []string
		for _, b := range q.Boosts {
			boosts = append(boosts, fmt.Sprintf("%s (%.2f)", line(b.Text), b.Weight))
		}
		if len(boosts) > 0 {
			fmt.Fprintf(a.out, "   with %s\n", strings.Join(boosts, ", "))
		}
	}
	if e.Hit != nil {
		fmt.Fprintf(a.out, "\n%s\n", s.Bold("Passage"))
		a.printHits(&ragflow.SearchReply{Hits: []ragflow.SearchHit{*e.Hit}})
		section("Found by", legRows(e.Hit)...)
	}
	for _, w := range e.Warnings {
		a.warn(w)
	}
}

// legRows lists the searches that found a passage, with its ranks and scores.
func legRows(h *ragflow.SearchHit) [][]string {
	rows := [][]string{{"SEARCH", "RANK", "SCORE", "SHARE"}}
	for _, l := range h.Legs {
		row := []string{l.Name, strconv.Itoa(l.Rank), fmt.Sprintf("%.4g", l.Score), fmt.Sprintf("%.3g", l.Of(1))}
		if l.Linked() {
			row = append(row, fmt.Sprintf("%s %s", l.Relation, l.Via))
		}
		rows = append(rows, row)
	}
	rows = append(rows, []string{"together", "", fmt.Sprintf("%.4g", h.Score), ""})
	if h.RerankScore != nil {
		rows = append(rows, []string{"reranked", strconv.Itoa(h.Rank), fmt.Sprintf("%.4g", *h.RerankScore), ""})
	}
	return rows
}
