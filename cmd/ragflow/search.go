package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/cmd/ragflow/internal/screen"
	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/settings"
	"example.com/ragflow/internal/transcript"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

func (a *app) searchCommand(g *given) *cobra.Command {
	var (
		topK     int
		minScore float64
		leg      string
		legs     = []string{search.LegLexical, search.LegDense, search.LegHybrid, search.LegGraph}
	)
	c := command("search QUERY", -1, func(c *cobra.Command, args []string) (err error) {
		if c.Flags().Changed("top-k") && topK < 1 || topK > settings.MaxHits {
			return usagef("--top-k is %d, but must be from 1 to %d", topK, settings.MaxHits)
		}
		if !slices.Contains(legs, leg) && leg != "" {
			return usagef("--leg is %q, but must be one of %s", leg, strings.Join(legs, ", "))
		}
		query, err := a.question(c.Context(), args)
		if err != nil {
			return err
		}
		filter, err := g.filter()
		if err != nil {
			return err
		}
		options := ragflow.SearchOptions{Request: search.Request{K: topK, Leg: leg, Filter: filter, MinScore: minScore}}
		return a.with(c.Context(), g, opening{models: settings.SearchModels, sync: true}, func(opened *session) error {
			reply, err := opened.Search(c.Context(), query, options)
			if err != nil {
				return failed("search", err)
			}
			return a.print(reply, func() {
				a.searchTrouble(reply)
				a.printHits(reply)
			})
		})
	})
	g.addSearch(c.Flags())
	c.Flags().IntVar(&topK, "top-k", 0, "list `N` passages, 1 to 1000 (default: 10, or as the preset says)")
	c.Flags().Float64Var(&minScore, "min-score", 0, "leave out passages that score less than `N`; 0 leaves out none")
	c.Flags().StringVar(&leg, "leg", "", "search by one `LEG`: lexical (words), dense (meaning), hybrid (both) or graph (names of documents); dense needs vectors, which ragflow index makes")
	g.addFilter(c.Flags())
	g.addNoQueryLog(c.Flags())
	g.addNoCache(c.Flags())
	a.jsonFlag(c)
	return c
}

// searchTrouble warns of a search by meaning that failed, and lists the words that were added
// to the query.
func (a *app) searchTrouble(r *ragflow.SearchReply) {
	for _, w := range r.Warnings {
		a.warn(w)
	}
	if r.Duplicates > 0 {
		a.tell("note: %s left out", count(r.Duplicates, "near-duplicate"))
	}
	if r.Note != "" {
		a.tell("note: %s", r.Note)
	}
	if r.Cached != nil {
		a.tell("note: from the cache, found %s (--no-cache searches anew)", r.Cached.Local().Format(time.DateTime))
	}
	for _, x := range r.Expanded {
		a.tell("the dictionary has %q; searched also for %s", x.Word, strings.Join(x.Others, ", "))
	}
	for _, r := range r.Respelled {
		a.tell("no document has %q; searched also for words with the stem %s", r.Word, strings.Join(r.Terms, ", "))
	}
}

func (a *app) printHits(r *ragflow.SearchReply) {
	if len(r.Hits) == 0 {
		a.tell("no passage matches")
		return
	}
	s := a.styleOf(a.stdout)
	for _, h := range r.Hits {
		headings := h.Headings
		if len(headings) == 0 && h.Title != "" {
			headings = []string{h.Title}
		}
		at := s.Bold(line(transcript.Place(state.Citation{Source: h.Source, StartLine: h.StartLine, EndLine: h.EndLine, Page: h.Page, EndPage: h.EndPage, PageLabel: h.PageLabel(h.Start, h.End)}, prompts.English)))
		fmt.Fprintf(a.out, "%2d. %s  %s\n", h.Rank, at, s.Dim(line(strings.Join(headings, " › "))))
		fmt.Fprintf(a.out, "    %s\n", marked(h, s))
	}
}

// marked is the snippet of a hit on one line, its words of the query marked.
func marked(h ragflow.SearchHit, s screen.Style) string {
	var b strings.Builder
	at := h.Snippet.Start
	text := func(from, to int) string {
		return transcript.Visible(h.Snippet.Text[from-h.Snippet.Start : to-h.Snippet.Start])
	}
	if at > h.Start {
		b.WriteString("…")
	}
	for _, m := range h.Snippet.Marks {
		b.WriteString(text(at, m.Start) + s.SGR("1;33", text(m.Start, m.End)))
		at = m.End
	}
	b.WriteString(text(at, h.Snippet.Start+len(h.Snippet.Text)))
	if h.Snippet.End < h.End {
		b.WriteString("…")
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
