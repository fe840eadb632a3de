package index

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/search/text"
)

// SimilarTerm is a term of the index that is spelled almost like a word.
type SimilarTerm struct {
	Term   string
	Edits  int // letters inserted, left out, replaced or swapped with the next; 0: only diacritics differ
	Chunks int // that hold it
}

// Respelled is a word of a query that no chunk holds, with the terms
// that are searched for besides.
type Respelled struct {
	Word  string
	Terms []SimilarTerm
}

// What is searched for besides a word that is spelled like none.
const (
	minRespelled   = 5 // letters; shorter words are near too many others
	twoEdits       = 8 // letters of a word, from which on two edits are looked for,
	twoEditsTerm   = 6 // and of its term
	maxSimilar     = 3 // terms for a word
	maxRespelled   = 4 // words of a query
	maxSpelled     = 32
	editWeight     = 0.3 // of a term at one edit, and again for the second
	diacriticShare = 0.8 // of a term that differs by diacritics alone
)

// weight is what a similar term counts of the word.
func (t SimilarTerm) weight() float64 {
	switch t.Edits {
	case 0:
		return diacriticShare
	case 1:
		return editWeight
	}
	return editWeight * editWeight
}

// Respelled returns what a search for query is made for besides its words: for
// words that no chunk holds, the terms spelled almost like them. It
// takes time only where there are such words.
func (s *Searcher) Respelled(query string) []Respelled {
	return s.respelled(query, text.QueryTerms(s.db.analyzer, query, s.held), s.DocFreq)
}

// respelled is Respelled for a query whose terms are known; docFreq is that of the
// searcher.
func (s *Searcher) respelled(query string, terms []text.QueryTerm, docFreq func(string) int) []Respelled {
	var out []Respelled
	for _, span := range spelledWords(query, terms, docFreq) {
		df, forms := 0, []string(nil)
		for _, t := range terms {
			if t.Start <= span.Start && span.End <= t.End { // the word, or a name that it is part of
				df = max(df, docFreq(t.Term))
			}
			if t.Start == span.Start && t.End == span.End && !text.IsFolded(t.Term) && !slices.Contains(forms, t.Term) {
				forms = append(forms, t.Term)
			}
		}
		if df > 0 {
			continue
		}
		r := Respelled{Word: query[span.Start:span.End]}
		key := spelled{strings.ToLower(r.Word), strings.Join(forms, " ")}
		if s.spellings != nil {
			r.Terms = slices.Clone(s.spellings.Get(key, func() []SimilarTerm { return s.nearest(key.word, forms) }))
		} else {
			r.Terms = s.nearest(key.word, forms)
		}
		if len(r.Terms) > 0 {
			out = append(out, r)
		}
		if len(out) == maxRespelled {
			break
		}
	}
	return out
}

// spelled is a word in lower case, with the terms that languages make of it.
type spelled struct{ word, forms string }

// nearest returns the terms that are spelled most like a word, or like the terms
// that languages make of it.
func (s *Searcher) nearest(word string, forms []string) (out []SimilarTerm) {
	for _, form := range forms {
		edits := 1
		if utf8.RuneCountInString(word) >= twoEdits && utf8.RuneCountInString(form) >= twoEditsTerm {
			edits = 2
		}
		for _, t := range s.Similar(form, edits) {
			if !slices.ContainsFunc(out, func(o SimilarTerm) bool { return o.Term == t.Term }) {
				out = append(out, t)
			}
		}
	}
	slices.SortFunc(out, compareSimilar)
	for i, t := range out {
		if t.Edits > out[0].Edits || i == maxSimilar { // the nearest alone
			return out[:i]
		}
	}
	return out
}

// spelledWords returns where the words of a query are that may be misspelled:
// of letters alone, in a script that has spelling mistakes, and as such in no chunk.
func spelledWords(query string, terms []text.QueryTerm, docFreq func(string) int) []text.Span {
	var out []text.Span
	for _, t := range terms {
		if docFreq(t.Term) > 0 {
			continue
		}
		span := text.Span{Start: t.Start, End: t.End}
		word := query[t.Start:t.End]
		if n := utf8.RuneCountInString(word); n < minRespelled || n > maxSpelled || slices.Contains(out, span) || acronym(word) ||
			strings.IndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) || r >= firstSpaceless }) >= 0 {
			continue
		}
		if !slices.ContainsFunc(terms, func(o text.QueryTerm) bool { // a name in one run, such as dependsOn, has its parts
			return t.Start <= o.Start && o.End <= t.End && o.End-o.Start < t.End-t.Start
		}) {
			out = append(out, span)
		}
	}
	return out
}

// acronym reports whether a word has a capital letter behind its first.
func acronym(word string) bool {
	_, n := utf8.DecodeRuneInString(word)
	return strings.IndexFunc(word[n:], unicode.IsUpper) >= 0
}

// firstSpaceless is the first letter of scripts that are searched for by pairs
// of letters; Latin letters with marks beyond it are Vietnamese, which has terms without.
const firstSpaceless = 0xE00

// compareSimilar orders by edits, then by frequency.
func compareSimilar(a, b SimilarTerm) int {
	return cmp.Or(cmp.Compare(a.Edits, b.Edits), cmp.Compare(b.Chunks, a.Chunks), strings.Compare(a.Term, b.Term))
}

// Similar returns terms of the index that differ from term by at most so many
// edits, 1 or 2 (Damerau–Levenshtein distance with neighbours swapped once), diacritics
// aside, and begin with the same letter; nearest first, then the most frequent, a
// few of them. It goes through all terms that begin with the letter.
func (s *Searcher) Similar(term string, edits int) []SimilarTerm {
	m := newSpelling(term, edits)
	if m == nil {
		return nil
	}
	var found []SimilarTerm
	for _, p := range s.parts {
		found = p.similar(m, found)
	}
	out := found[:0]
	for _, t := range found {
		if t.Chunks = s.DocFreq(t.Term); t.Chunks > 0 && t.Term != term {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, compareSimilar)
	return out[:min(len(out), 2*maxSimilar)]
}

// similar adds the terms of the segment that m accepts, each once.
func (s *segment) similar(m *spelling, found []SimilarTerm) []SimilarTerm {
	s.eachTerm(m.letter, func(term []byte) {
		if n := utf8.RuneCount(term); n < len(m.word)-m.edits || n > len(m.word)+m.edits {
			return
		}
		if edits := m.edited(term); edits <= m.edits && !slices.ContainsFunc(found, func(o SimilarTerm) bool { return o.Term == string(term) }) {
			found = append(found, SimilarTerm{Term: string(term), Edits: edits})
		}
	})
	return found
}

// spelling compares terms with a word, by the automaton of Wu & Manber (1992), with
// neighbours swapped as by Navarro (2001): a number tells by its bits which beginnings
// of the word the letters of a term so far may stand for with a number of edits.
type spelling struct {
	letter []byte     // the first
	word   []rune     // without diacritics
	edits  int        // at most mostEdits
	places [32]uint64 // of letters in the word, by their low bits
}

// mostEdits is how many a spelling may have.
const mostEdits = 2

func newSpelling(word string, edits int) *spelling {
	_, n := utf8.DecodeRuneInString(word)
	m := &spelling{letter: []byte(word[:n]), edits: min(edits, mostEdits)}
	for _, r := range word {
		m.word = append(m.word, plainLetter(r))
	}
	if len(m.word) < minRespelled-1 || len(m.word) > maxSpelled {
		return nil
	}
	for i, r := range m.word {
		m.places[r%32] |= 1 << i
	}
	return m
}

// plainLetter is a letter without its diacritics.
func plainLetter(r rune) rune {
	if r < utf8.RuneSelf {
		return r
	}
	if r == 'ł' {
		return 'l'
	}
	plain, _ := utf8.DecodeRuneInString(text.Fold(string(r)))
	return plain
}

// edited returns the number of edits between the word and a term; more than m.edits
// where they are too many.
func (m *spelling) edited(term []byte) (edits int) {
	var reached, before [mostEdits + 1]uint64 // by edits, bit n for the first n letters of the word; a letter ago
	for n := range reached {
		reached[n] = 1<<(n+1) - 1 // letters of the word left out
	}
	last := uint64(0) // places of the letter before
	for at := 0; at < len(term); {
		r, size := rune(term[at]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(term[at:])
			r = plainLetter(r)
		}
		at += size
		here := m.placesOf(r)
		was := reached
		reached[0] = was[0] & here << 1
		for n := 1; n <= m.edits; n++ {
			reached[n] = was[n]&here<<1 | was[n-1] | was[n-1]<<1 | // the same letter, one put in, replaced,
				reached[n-1]<<1 | before[n-1]&here&(last>>1)<<2 // left out, and swapped with the one before
		}
		if reached[m.edits] == 0 {
			return m.edits + 1
		}
		before, last = was, here
	}
	for edits <= m.edits && reached[edits]>>len(m.word)&1 == 0 {
		edits++
	}
	return edits
}

// placesOf tells by bits where in the word a letter is.
func (m *spelling) placesOf(r rune) uint64 {
	places := m.places[r%32]
	for rest := places; rest != 0; rest &= rest - 1 {
		if i := bits.TrailingZeros64(rest); m.word[i] != r {
			places &^= 1 << i // another letter of the same low bits
		}
	}
	return places
}
