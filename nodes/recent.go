package nodes

import (
	"slices"
	"strings"
	"unicode"

	"example.com/ragflow/state"
)

// newExchange returns the record of a turn that later turns use to understand a
// follow-up. If the answer abstained, its terms are left out, because they would
// mislead later searches. Its passages stay: the person saw them, so a follow-up may
// refer to them.
func newExchange(question string, a state.Answer) *state.Exchange {
	e := &state.Exchange{Question: question}
	for _, c := range a.Citations {
		i := slices.Index(e.Chunks, c.Chunk)
		if i < 0 {
			i = len(e.Chunks)
			e.Chunks, e.QuoteEnds = append(e.Chunks, c.Chunk), append(e.QuoteEnds, state.QuoteEnd{Chunk: c.Chunk})
		}
		e.QuoteEnds[i].End = max(e.QuoteEnds[i].End, c.End)
	}
	if !a.Abstained {
		e.Terms = a.Terms
	}
	return e
}

// unquotedRest returns the part of a chunk after its quoted text, with the ID and
// the hash of the chunk. ok is false if no text is left.
func unquotedRest(c state.Chunk, queries []state.Query) (rest state.Chunk, ok bool) {
	end := c.Start
	for _, q := range queries {
		for _, t := range q.QuoteEnds {
			if t.Chunk == c.ID {
				end = max(end, t.End)
			}
		}
	}
	cut := min(end-c.Start, len(c.Text))
	if cut == 0 {
		return c, true
	}
	left := strings.TrimLeftFunc(c.Text[cut:], unicode.IsSpace)
	if strings.IndexFunc(left, unicode.IsLetter) < 0 {
		return c, false
	}
	cut = len(c.Text) - len(left)
	return c.Part(cut, len(c.Text)), true
}
