package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// mostHits is the greatest --top-k.
const mostHits = 1000

func (a *app) searchCommand() *cobra.Command {
	var (
		topK   int
		least  float64
		leg    string
		facets []string
	)
	c := &cobra.Command{
		Use:   "search QUERY",
		Short: "List the passages that match a query, best first",
		Long: `List the passages that match a query, best first, with the file and the lines
they stand in. Nothing is answered and no thread is made.

Documents named with --docs are indexed first, as far as they are new or have
changed. The query may be given on standard input with "-".

Words of the query in quotes must stand together: '"named volume" backup'. A word
behind a minus, or words in quotes behind one, must not be there: 'volume -swarm'.
--filter, --any and --path choose the documents by what they say of themselves, in
front matter for example; --facets counts what the documents that match say.`,
		Example: `  ragflow search --docs ./docs "backup volume"
  ragflow search --top-k 3 "backup volume"
  ragflow search --filter category=guide --filter 'version>=2' "backup volume"
  ragflow search --path 'docs/**/*.md' '"named volume" -swarm'
  ragflow search --facets category,tags "volume"
  ragflow search --json "backup volume" | jq -r '.hits[].source'`,
		Args: argsBetween(1, -1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if c.Flags().Changed("top-k") && topK < 1 || topK > mostHits {
				return usagef("--top-k is %d, but must be from 1 to %d", topK, mostHits)
			}
			if leg, err = legCalled(leg); err != nil {
				return err
			}
			query, err := a.question(c.Context(), false, args, askOptions{})
			if err != nil {
				return err
			}
			filter, err := a.filter()
			if err != nil {
				return err
			}
			options := ragflow.SearchOptions{Request: search.Request{K: topK, Leg: leg, Filter: filter, Facets: facets, MinScore: least}}
			return a.withDocuments(c.Context(), nil, func(assistant *ragflow.Assistant) error {
				reply, err := assistant.Search(c.Context(), query, options)
				if err != nil {
					return failed("search", err)
				}
				return a.print(reply, func() {
					a.searchTrouble(reply)
					a.printHits(reply)
					a.printFacets(reply.Facets)
				})
			})
		},
	}
	a.searchFlags(c.Flags())
	c.Flags().IntVar(&topK, "top-k", 0, "list `N` passages, 1 to 1000 (default: 10, or as the preset says)")
	c.Flags().Float64Var(&least, "min-score", 0, "leave out passages that score less than `N`; 0 leaves out none")
	c.Flags().StringVar(&leg, "leg", "", "search by `LEG`: words (lexical), meaning (dense), both (hybrid) or names (graph) of documents; meaning needs an embedding model")
	c.Flags().StringSliceVar(&facets, "facets", nil, "count the documents that match by their values of `KEYS`, such as category,tags")
	a.filterFlags(c.Flags())
	a.jsonFlag(c)
	return c
}

// legCalled returns the leg that a person calls by its name, or by what it searches by.
func legCalled(name string) (string, error) {
	switch name {
	case "", search.LegHybrid, search.LegLexical, search.LegDense, search.LegGraph:
		return name, nil
	case "words":
		return search.LegLexical, nil
	case "meaning":
		return search.LegDense, nil
	case "both":
		return search.LegHybrid, nil
	case "names":
		return search.LegGraph, nil
	}
	return "", usagef("--leg is %q, but must be words (lexical), meaning (dense), both (hybrid) or names (graph)", name)
}

// searchTrouble warns where the search by meaning did not take part, and tells
// what was searched for besides words that no document has.
func (a *app) searchTrouble(r *ragflow.SearchReply) {
	if a.quiet {
		return
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(a.err, "warning: %s\n", line(w))
	}
	if r.Duplicates > 0 {
		fmt.Fprintf(a.err, "note: %s left out\n", count(r.Duplicates, "near-duplicate"))
	}
	if r.Note != "" {
		fmt.Fprintf(a.err, "note: %s\n", line(r.Note))
	}
	for _, x := range r.Expanded {
		fmt.Fprintf(a.err, "the dictionary has %q; searched also for %s\n", x.Word, line(strings.Join(x.Others, ", ")))
	}
	for _, r := range r.Respelled {
		fmt.Fprintf(a.err, "no document has %q; searched also for %s\n", r.Word, line(strings.Join(r.Terms, ", ")))
	}
}

func (a *app) printHits(r *ragflow.SearchReply) {
	if len(r.Hits) == 0 {
		if !a.quiet {
			fmt.Fprintln(a.err, "no passage matches")
		}
		return
	}
	s := a.styleOf(a.stdout)
	for _, h := range r.Hits {
		headings := h.Headings
		if len(headings) == 0 && h.Title != "" {
			headings = []string{h.Title}
		}
		at := s.bold(place(h.Source, h.StartLine, h.EndLine, h.Pages))
		fmt.Fprintf(a.out, "%2d. %s  %s\n", h.Rank, at, s.dim(line(strings.Join(headings, " › "))))
		fmt.Fprintf(a.out, "    %s\n", marked(h, s))
		for _, l := range h.Legs {
			if l.Linked() {
				fmt.Fprintf(a.out, "    %s\n", s.dim(line(way(l))))
			}
		}
	}
}

// way says which link led to a hit.
func way(l state.Leg) string {
	said := fmt.Sprintf("%s %s this", l.Via, strings.ToLower(l.Relation))
	if l.Reverse {
		said = fmt.Sprintf("%s %s", strings.ToLower(l.Relation), l.Via)
	}
	if l.Hops > 1 {
		said += fmt.Sprintf(", %d hops from %s", l.Hops, l.From)
	}
	return said
}

// mostValues is how many values of a facet are shown; "--json" has all.
const mostValues = 10

func (a *app) printFacets(facets []search.Facet) {
	s := a.styleOf(a.stdout)
	for _, f := range facets {
		fmt.Fprintf(a.out, "\n%s  %s\n", s.bold(line(f.Key)), s.dim(count(f.Documents, "document")+" match"))
		for _, v := range f.Values[:min(mostValues, len(f.Values))] {
			fmt.Fprintf(a.out, "%6d  %s\n", v.Documents, line(shorten(v.Value, 80)))
		}
		if more := len(f.Values) - mostValues; more > 0 {
			fmt.Fprintf(a.out, "        %s\n", s.dim(fmt.Sprintf("and %s more; --json has all", count(more, "value"))))
		}
		if f.Without > 0 {
			fmt.Fprintf(a.out, "%6d  %s\n", f.Without, s.dim("say nothing"))
		}
	}
}
