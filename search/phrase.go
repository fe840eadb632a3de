package search

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// mostMatched is how many hits of a leg are read at most to find those that match.
const mostMatched = 10_000

// finder asks a leg for hits.
type finder func(ctx context.Context, k int) ([]state.Hit, []string, error)

// matching returns an engine that finds only chunks that hold the phrases of a query and
// nothing that it excludes.
func (e *Engine) matching(q state.Query) (*Engine, error) {
	if len(q.Phrases)+len(q.Without) == 0 {
		return e, nil
	}
	var musts, nots []func(*state.Chunk) bool
	for _, phrase := range q.Phrases {
		test, err := holdsPhrase(phrase)
		if err != nil {
			return nil, err
		}
		musts = append(musts, test)
	}
	for _, words := range q.Without {
		test, err := holdsPhrase(words)
		if err != nil {
			return nil, err
		}
		if len(wordsIn(words)) == 1 {
			test = e.holdsWord(words)
		}
		nots = append(nots, test)
	}
	out := *e
	out.match = func(c *state.Chunk) bool {
		holds := func(test func(*state.Chunk) bool) bool { return test(c) }
		return !slices.ContainsFunc(nots, holds) && !slices.ContainsFunc(musts, func(t func(*state.Chunk) bool) bool { return !t(c) })
	}
	return &out, nil
}

// holdsPhrase returns a test whether text, headings or title hold a phrase word by word.
func holdsPhrase(phrase string) (func(*state.Chunk) bool, error) {
	pattern, err := phrasePattern(phrase)
	if err != nil {
		return nil, fmt.Errorf("phrase %q: %w", phrase, err)
	}
	return func(c *state.Chunk) bool {
		return slices.ContainsFunc([]string{c.Text, strings.Join(c.Headings, "\n"), c.Title}, func(s string) bool { return pattern.MatchString(strings.ToLower(s)) })
	}, nil
}

// holdsWord returns a test whether text, headings or title hold a word in any of its forms. No
// chunk holds a stop word.
func (e *Engine) holdsWord(word string) func(*state.Chunk) bool {
	terms := func(s string) []string {
		var out []string
		for _, t := range e.Analyzer().Analyze(s) {
			if !text.IsFolded(t.Term) && !text.IsPhrase(t.Term) {
				out = append(out, t.Term)
			}
		}
		return out
	}
	wanted := terms(word)
	return func(c *state.Chunk) bool {
		held := terms(strings.Join(append([]string{c.Text, c.Title}, c.Headings...), "\n"))
		return len(wanted) > 0 && !slices.ContainsFunc(wanted, func(t string) bool { return !slices.Contains(held, t) })
	}
}

// onlyMatching asks a leg for more and more hits, until k of them match or there are no more.
func (e *Engine) onlyMatching(find finder) finder {
	if e.match == nil {
		return find
	}
	return func(ctx context.Context, k int) ([]state.Hit, []string, error) {
		for n := 4 * k; ; n *= 4 {
			n = min(n, mostMatched)
			hits, warnings, err := find(ctx, n)
			if err != nil {
				return nil, warnings, err
			}
			last := len(hits) < n || n == mostMatched
			if hits, err = e.thatMatch(ctx, hits); err != nil || last || len(hits) >= k {
				hits = hits[:min(k, len(hits))]
				for i := range hits {
					hits[i].Legs[0].Rank = i + 1
				}
				return hits, warnings, err
			}
		}
	}
}

// thatMatch returns the hits whose chunks match.
func (e *Engine) thatMatch(ctx context.Context, hits []state.Hit) ([]state.Hit, error) {
	if e.match == nil {
		return hits, nil
	}
	chunks, err := e.chunksOf(ctx, hits)
	return slices.DeleteFunc(hits, func(h state.Hit) bool { c := chunks[h.Chunk]; return c == nil || !e.match(c) }), err
}
