package index

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/bits-and-blooms/bitset"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/search"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// wordsIn are the words of a text, as they are written.
func wordsIn(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !isWordRune(r) })
}

// matching returns a searcher that finds only chunks that hold all phrases of a query and
// nothing of what it is to be without. The postings give the chunks that hold all words of a
// phrase; their texts are searched for the phrase itself, about 20 µs a chunk.
func (s *Searcher) matching(ctx context.Context, q state.Query) (*Searcher, error) {
	if len(q.Phrases)+len(q.Without) == 0 {
		return s, nil
	}
	out := s.narrowed()
	for i := range out.parts {
		p := &out.parts[i]
		only := bitset.New(uint(p.Totals.Chunks)).SetAll()
		if p.only != nil {
			only = p.only.Clone()
		}
		for _, phrase := range q.Phrases {
			held, err := s.holdingPhrase(ctx, p, phrase)
			if err != nil {
				return nil, err
			}
			only.InPlaceIntersection(held)
		}
		for _, words := range q.Without {
			held, _ := s.holding(p, words)
			if len(wordsIn(words)) > 1 {
				var err error
				if held, err = s.holdingPhrase(ctx, p, words); err != nil {
					return nil, err
				}
			}
			only.InPlaceDifference(held)
		}
		p.only = only
	}
	return out, nil
}

// holding returns the chunks of a part that hold a word in text, headings or title, in the
// form that any language of the index gives it. all reports that some language leaves the
// word out, as it does stop words: any chunk may hold it then.
func (s *Searcher) holding(p *part, word string) (held *bitset.BitSet, all bool) {
	analyzers := []text.Analyzer{s.db.analyzer}
	for _, lang := range s.held {
		analyzers = append(analyzers, text.For(lang))
	}
	held = bitset.New(uint(p.Totals.Chunks))
	for _, a := range analyzers {
		var form *bitset.BitSet // chunks that hold all terms of the word
		for _, t := range a.Analyze(word) {
			if text.IsFolded(t.Term) || text.IsPhrase(t.Term) {
				continue // the words that it is made of are there too
			}
			term := bitset.New(uint(p.Totals.Chunks))
			p.eachHolding(p.segment.find(t.Term), func(chunk int) { term.Set(uint(chunk)) })
			if form != nil {
				term.InPlaceIntersection(form)
			}
			form = term
		}
		if form == nil {
			all = true
		} else {
			held.InPlaceUnion(form)
		}
	}
	return held, all
}

// eachHolding calls f for each chunk that holds a term in any field.
func (s *segment) eachHolding(e entry, f func(chunk int)) {
	for c := newCursor(s, e); c.chunk != noChunk; c.next() {
		if c.title == 0 {
			f(int(c.chunk))
			continue
		}
		first, end := s.chunksOf(s.fileOf(int(c.chunk)))
		for chunk := first; chunk < end; chunk++ {
			f(chunk)
		}
	}
}

// readAtOnce is how many chunks holdingPhrase reads at a time.
const readAtOnce = 256

// holdingPhrase returns the chunks of a part that hold a phrase word by word, of those that
// may be found.
func (s *Searcher) holdingPhrase(ctx context.Context, p *part, phrase string) (*bitset.BitSet, error) {
	pattern, err := search.PhrasePattern(phrase)
	if err != nil {
		return nil, fmt.Errorf("phrase %q: %w", phrase, err)
	}
	candidates := bitset.New(uint(p.Totals.Chunks)).SetAll()
	for _, word := range wordsIn(phrase) {
		if held, all := s.holding(p, word); !all {
			candidates.InPlaceIntersection(held)
		}
	}
	numbers := map[string]uint{} // of candidates, by id
	for c := range candidates.EachSet() {
		if p.shows(int(c)) {
			numbers[p.id(int(c))] = c
		}
	}
	out := bitset.New(uint(p.Totals.Chunks))
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(numbers)), readAtOnce) {
		if err := s.db.sql.Read(ctx, func(tx *sqlite.Tx) error {
			found, err := chunksByID(tx, p.Collection, ids, p.maxRev)
			for _, c := range found {
				if slices.ContainsFunc([]string{c.Text, strings.Join(c.Headings, "\n"), c.Title}, func(s string) bool {
					return pattern.MatchString(strings.ToLower(s))
				}) {
					out.Set(numbers[c.ID])
				}
			}
			return err
		}); err != nil {
			return nil, fmt.Errorf("phrase %q: %w", phrase, err)
		}
	}
	return out, nil
}
