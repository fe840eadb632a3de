package search

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"example.com/ragflow/state"
)

// quoted matches words in quotes.
var quoted = regexp.MustCompile(`["“„”]([^"“„”]+)["“”]|«([^»]+)»|「([^」]+)」`)

// ParseQuery reads a query as people type it: "words in quotes" must stand together. All words
// are searched for.
func ParseQuery(query string) state.Query {
	q := state.Query{Text: query, Weight: 1, Attempt: 1}
	for _, m := range quoted.FindAllStringSubmatch(query, -1) {
		if phrase := strings.Join(m[1:], ""); wordsIn(phrase) != "" { // one group matched
			q.Phrases = append(q.Phrases, strings.TrimSpace(phrase))
		}
	}
	return q
}

// wordsIn returns the words of a text in lower case, separated by one space.
func wordsIn(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
	return strings.Join(words, " ")
}

// maxMatched is the number of hits of a leg that are searched for phrases.
const maxMatched = 2000

// finder asks a leg for hits.
type finder func(ctx context.Context, k int) ([]state.Hit, []string, error)

// holding returns a finder of chunks that hold the phrases of a query.
func (e *Engine) holding(q state.Query, find finder) finder {
	if len(q.Phrases) == 0 {
		return find
	}
	return func(ctx context.Context, k int) ([]state.Hit, []string, error) {
		hits, warnings, err := find(ctx, max(k, maxMatched))
		if err == nil {
			hits, err = e.thatHold(ctx, q, hits)
		}
		hits = hits[:min(k, len(hits))]
		for i := range hits {
			hits[i].Legs[0].Rank = i + 1
		}
		return hits, warnings, err
	}
}

// thatHold returns the hits whose text, headings or title hold the phrases of a query.
func (e *Engine) thatHold(ctx context.Context, q state.Query, hits []state.Hit) ([]state.Hit, error) {
	if len(q.Phrases) == 0 {
		return hits, nil
	}
	chunks, err := e.chunksOf(ctx, hits)
	return slices.DeleteFunc(hits, func(h state.Hit) bool {
		c := chunks[h.Chunk]
		return c == nil || slices.ContainsFunc(q.Phrases, func(phrase string) bool {
			return !strings.Contains(wordsIn(c.Text)+"\n"+wordsIn(strings.Join(c.Headings, " "))+"\n"+wordsIn(c.Title), wordsIn(phrase))
		})
	}), err
}
