package index

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// wordsIn are the words of a text, as they are written.
func wordsIn(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !isWordRune(r) })
}

// matching returns a searcher that finds only chunks that hold all phrases of a query and
// nothing of what it is to be without. The index tells the chunks that hold all words of a
// phrase; the text is searched for the phrase itself, about 20 µs a chunk.
func (s *Searcher) matching(ctx context.Context, q state.Query) (*Searcher, error) {
	if len(q.Phrases)+len(q.Without) == 0 {
		return s, nil
	}
	out := s.narrowed()
	for i := range out.parts {
		p := &out.parts[i]
		only := newBitmap(p.Totals.Chunks)
		only.fill(p.Totals.Chunks)
		if p.only != nil {
			only.intersect(p.only)
		}
		for _, phrase := range q.Phrases {
			only.intersect(s.holding(p, phrase, true))
		}
		for _, phrase := range q.Phrases {
			if err := s.keepPhrase(ctx, p, phrase, only); err != nil {
				return nil, err
			}
		}
		for _, words := range q.Without {
			several := len(wordsIn(words)) > 1
			gone := s.holding(p, words, several)
			if several {
				if err := s.keepPhrase(ctx, p, words, gone); err != nil {
					return nil, err
				}
			}
			only.subtract(gone)
		}
		p.only = only
	}
	return out, nil
}

// holding returns the chunks of a part that hold all of some words, in text, headings or
// title, in the form that any language of the index gives the word. Words that some language
// leaves out, as it does stop words, hold all chunks where every is set, else none.
func (s *Searcher) holding(p *part, words string, every bool) bitmap {
	out := newBitmap(p.Totals.Chunks)
	out.fill(p.Totals.Chunks)
	analyzers := []text.Analyzer{s.db.analyzer}
	for _, lang := range s.held {
		analyzers = append(analyzers, text.For(lang))
	}
	for _, word := range wordsIn(words) {
		held := newBitmap(p.Totals.Chunks)
		for _, a := range analyzers {
			form := p.holdingForm(a, word)
			switch {
			case form != nil:
				held.unite(form)
			case every:
				held.fill(p.Totals.Chunks)
			}
		}
		out.intersect(held)
	}
	return out
}

// holdingForm returns the chunks that hold all terms that an analyzer makes of a word; nil
// where it makes none.
func (s *segment) holdingForm(a text.Analyzer, word string) (out bitmap) {
	for _, t := range a.Analyze(word) {
		if text.IsFolded(t.Term) || text.IsPhrase(t.Term) {
			continue // the words that it is made of are there too
		}
		held := newBitmap(s.Totals.Chunks)
		s.eachHolding(s.find(t.Term), held.set)
		if out == nil {
			out = held
		} else {
			out.intersect(held)
		}
	}
	return out
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

// readAtOnce is how many chunks keepPhrase reads at a time.
const readAtOnce = 256

// keepPhrase takes out of chunks those that may be found but do not hold a phrase word by
// word.
func (s *Searcher) keepPhrase(ctx context.Context, p *part, phrase string, chunks bitmap) error {
	pattern, err := phrasePattern(wordsIn(strings.ToLower(phrase)))
	if err != nil {
		return fmt.Errorf("phrase %q: %w", phrase, err)
	}
	numbers := map[string]int{} // of chunks to look at, by id
	for c := chunks.next(0); c < p.Totals.Chunks; c = chunks.next(c + 1) {
		if p.shows(c) {
			numbers[p.id(c)] = c
		}
	}
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(numbers)), readAtOnce) {
		if err := s.db.sql.Read(ctx, func(tx *sqlite.Tx) error {
			found, err := chunksByID(tx, p.Collection, ids, p.maxRev)
			for _, c := range found {
				if slices.ContainsFunc([]string{c.Text, strings.Join(c.Headings, "\n"), c.Title}, func(s string) bool {
					return pattern.MatchString(strings.ToLower(s))
				}) {
					delete(numbers, c.ID)
				}
			}
			return err
		}); err != nil {
			return fmt.Errorf("phrase %q: %w", phrase, err)
		}
	}
	for _, c := range numbers {
		chunks.unset(c)
	}
	return nil
}

// Character classes of phrasePattern: what is in no word, and letters of scripts that do not
// separate words by spaces.
const (
	noWord   = `[^\pL\p{Nd}\pM]`
	unspaced = `[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]`
)

// phrasePattern matches a text that has words one after the other, with no other word between
// them. Text and words are in lower case.
func phrasePattern(words []string) (*regexp.Regexp, error) {
	beginsUnspaced := regexp.MustCompile(`^` + unspaced)
	pattern := `(?:^|` + noWord + `|` + unspaced + `)`
	for i, w := range words {
		switch {
		case i > 0 && beginsUnspaced.MatchString(w):
			pattern += noWord + `*`
		case i > 0:
			pattern += noWord + `+`
		}
		pattern += regexp.QuoteMeta(w)
	}
	return regexp.Compile(pattern + `(?:$|` + noWord + `|` + unspaced + `)`)
}
