package index

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/text"
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
	if len(out) == 0 {
		out = s.slips(word)
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
// edits (Damerau–Levenshtein distance with neighbours swapped once), diacritics
// aside, and begin with the same letter; nearest first, then the most frequent, a
// few of them. It looks at all terms that begin with the letter.
func (s *Searcher) Similar(term string, edits int) []SimilarTerm {
	m := newSpelling(term, edits)
	if m == nil {
		return nil
	}
	found := map[string]int{} // edits
	for _, p := range s.parts {
		p.similar(m, found)
	}
	out := make([]SimilarTerm, 0, len(found))
	for t, edits := range found {
		if df := s.DocFreq(t); df > 0 && t != term {
			out = append(out, SimilarTerm{t, edits, df})
		}
	}
	slices.SortFunc(out, compareSimilar)
	return out[:min(len(out), 2*maxSimilar)]
}

// similar adds the terms of the segment that m accepts.
func (s *segment) similar(m *spelling, found map[string]int) {
	s.eachTerm(m.letter, func(t []byte) {
		if !m.near(t) {
			return
		}
		if n, ok := m.accepts(t); ok {
			found[string(t)] = n
		}
	})
}

// spelling compares terms with a word, one after the other in ascending order: the
// rows of the table of distances that belong to letters the term shares with
// the one before are kept, and all terms that begin like one that went too far
// are passed over.
type spelling struct {
	letter []byte // the first
	word   []rune // without diacritics
	edits  int
	set    uint32  // of letters of the word, see letterSet
	term   []byte  // the last
	ends   []int   // of its letters that have rows, in bytes
	runes  []rune  // these letters
	rows   [][]int // one more than letters
	least  []int   // of each row
	dead   bool    // no term that begins with these letters is near enough
}

func newSpelling(word string, edits int) *spelling {
	_, n := utf8.DecodeRuneInString(word)
	m := &spelling{letter: []byte(word[:n]), edits: edits}
	for _, r := range word {
		m.word = append(m.word, plainLetter(r))
	}
	if len(m.word) < minRespelled-1 || len(m.word) > maxSpelled {
		return nil
	}
	for _, r := range m.word {
		m.set |= letterBit(r)
	}
	row := make([]int, len(m.word)+1)
	for i := range row {
		row[i] = i
	}
	m.rows, m.least = [][]int{row}, []int{0}
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

// letterBit is one of 32 bits, that of a letter.
func letterBit(r rune) uint32 { return 1 << (uint32(r) & 31) } //nolint:gosec // the low bits alone count

// near reports whether a term may be near enough, by its length and by which
// letters it has: an edit changes the length by one, and takes away and adds a
// letter at most. It spares most terms the comparison.
func (m *spelling) near(term []byte) bool {
	if len(term) < len(m.word)-m.edits { // in bytes, so letters are no more
		return false
	}
	var set uint32
	for _, c := range term {
		if c >= utf8.RuneSelf {
			return true
		}
		set |= letterBit(rune(c))
	}
	return len(term) <= len(m.word)+m.edits && bits.OnesCount32(set^m.set) <= 2*m.edits
}

// accepts returns the number of edits between the word and a term.
func (m *spelling) accepts(term []byte) (edits int, ok bool) {
	shared := 0
	for shared < len(m.term) && shared < len(term) && m.term[shared] == term[shared] {
		shared++
	}
	m.term = append(m.term[:0], term...)
	kept := len(m.ends)
	for kept > 0 && m.ends[kept-1] > shared {
		kept--
	}
	if m.dead && kept == len(m.ends) {
		return 0, false
	}
	m.dead = false
	m.ends, m.runes, m.rows, m.least = m.ends[:kept], m.runes[:kept], m.rows[:kept+1], m.least[:kept+1]
	at := 0
	if kept > 0 {
		at = m.ends[kept-1]
	}
	for at < len(term) {
		r, n := utf8.DecodeRune(term[at:])
		at += n
		m.add(plainLetter(r), at)
		last := len(m.least) - 1
		if m.least[last] > m.edits && m.least[last-1] >= m.edits { // a swap reaches back two rows
			m.dead = true
			return 0, false
		}
	}
	edits = m.rows[len(m.rows)-1][len(m.word)]
	return edits, edits <= m.edits
}

// add adds the row of the next letter of a term, which ends at a byte.
func (m *spelling) add(r rune, end int) {
	i := len(m.runes) + 1
	above := m.rows[i-1]
	if i < cap(m.rows) {
		m.rows = m.rows[:i+1]
	} else {
		m.rows = append(m.rows, nil)
	}
	row := m.rows[i]
	if row == nil {
		row = make([]int, len(m.word)+1)
		m.rows[i] = row
	}
	row[0] = i
	least := i
	for j, w := range m.word {
		cost := 1
		if w == r {
			cost = 0
		}
		d := min(row[j]+1, above[j+1]+1, above[j]+cost)
		if i > 1 && j > 0 && r == m.word[j-1] && m.runes[i-2] == w {
			d = min(d, m.rows[i-2][j-1]+1)
		}
		row[j+1] = d
		least = min(least, d)
	}
	m.ends, m.runes, m.least = append(m.ends, end), append(m.runes, r), append(m.least, least)
}
