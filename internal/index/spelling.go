package index

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/internal/text"
	"example.com/ragflow/search"
)

// Limits and weights of terms with a similar spelling.
const (
	minRespelled   = 5 // letters; shorter words are similar to too many others
	maxSpelled     = 32
	twoEdits       = 8 // letters of a word from which two edits are allowed
	twoEditsTerm   = 6 // letters of its term from which two edits are allowed
	maxSimilar     = 3 // terms for a word
	maxRespelled   = 4 // words of a query
	editWeight     = 0.3
	diacriticShare = 0.8 // weight of a term that differs only by diacritics
)

// similarWeight returns the weight of a similar term relative to the word.
func similarWeight(t search.SimilarTerm) float64 {
	switch t.Edits {
	case 0:
		return diacriticShare
	case 1:
		return editWeight
	}
	return editWeight * editWeight
}

// Respelled returns, for words that no chunk holds, the terms with a similar spelling. It takes
// time only if there are such words.
func (s *Searcher) Respelled(query string) []search.Respelled {
	return s.respelled(query, s.QueryTerms(query), s.DocFreq)
}

// respelled is Respelled for a query with known terms; docFreq is that of the searcher.
func (s *Searcher) respelled(query string, terms []text.QueryTerm, docFreq func(string) int) (out []search.Respelled) {
	var seen []text.Span
	for _, t := range terms {
		span, word := text.Span{Start: t.Start, End: t.End}, query[t.Start:t.End]
		if docFreq(t.Term) > 0 || slices.Contains(seen, span) || !mayBeMisspelled(word) {
			continue
		}
		seen = append(seen, span)
		var forms []string // terms of the word in each language
		known := false     // the word, a name that contains it, or a part of it is held
		for _, o := range terms {
			switch {
			case o.Start <= t.Start && t.End <= o.End:
				known = known || docFreq(o.Term) > 0
				if o.Start == t.Start && o.End == t.End && !text.IsFolded(o.Term) && !slices.Contains(forms, o.Term) {
					forms = append(forms, o.Term)
				}
			case t.Start <= o.Start && o.End <= t.End:
				known = true // a name without joints, such as dependsOn, has its parts
			}
		}
		if known {
			continue
		}
		if similar := s.nearest(strings.ToLower(word), forms); len(similar) > 0 {
			out = append(out, search.Respelled{Word: word, Terms: similar})
		}
		if len(out) == maxRespelled {
			break
		}
	}
	return out
}

// mayBeMisspelled reports whether a word has only letters of a script with spelling mistakes,
// and is no acronym.
func mayBeMisspelled(word string) bool {
	if n := utf8.RuneCountInString(word); n < minRespelled || n > maxSpelled {
		return false
	}
	for i, r := range word {
		if !unicode.IsLetter(r) || r >= firstSpaceless || i > 0 && unicode.IsUpper(r) {
			return false
		}
	}
	return true
}

// firstSpaceless is the first letter of scripts that are searched by pairs of letters. Latin
// letters beyond it are Vietnamese, which has terms without diacritics.
const firstSpaceless = 0xE00

// nearest returns the terms with the spelling most similar to a word, or to its forms in each
// language.
func (s *Searcher) nearest(word string, forms []string) (out []search.SimilarTerm) {
	for _, form := range forms {
		edits := 1
		if utf8.RuneCountInString(word) >= twoEdits && utf8.RuneCountInString(form) >= twoEditsTerm {
			edits = 2
		}
		for _, t := range s.similar(form, edits) {
			if !slices.ContainsFunc(out, func(o search.SimilarTerm) bool { return o.Term == t.Term }) {
				out = append(out, t)
			}
		}
	}
	slices.SortFunc(out, compareSimilar)
	for i, t := range out {
		if t.Edits > out[0].Edits || i == maxSimilar { // only the nearest
			return out[:i]
		}
	}
	return out
}

// compareSimilar orders by edits, then by frequency.
func compareSimilar(a, b search.SimilarTerm) int {
	return cmp.Or(cmp.Compare(a.Edits, b.Edits), cmp.Compare(b.Chunks, a.Chunks), strings.Compare(a.Term, b.Term))
}

// similar returns a few terms of the index that begin with the same letter as term and differ
// from it by at most so many edits, ignoring diacritics: the nearest first, then the most
// frequent. It visits all terms that begin with the letter.
func (s *Searcher) similar(term string, edits int) (out []search.SimilarTerm) {
	word := plainLetters(nil, []byte(term))
	if len(word) < minRespelled-1 || len(word) > maxSpelled {
		return nil
	}
	_, size := utf8.DecodeRuneInString(term)
	letter := []byte(term[:size])
	found := map[string]int{} // edits by term
	var letters []rune
	for _, p := range s.parts {
		for t := p.firstTerm(string(letter)); t < len(p.NameEnd) && bytes.HasPrefix(p.name(t), letter); t++ {
			name := p.name(t)
			if n := utf8.RuneCount(name); n < len(word)-edits || n > len(word)+edits {
				continue
			}
			letters = plainLetters(letters[:0], name)
			if n := distance(word, letters, edits); n <= edits && string(name) != term {
				found[string(name)] = n
			}
		}
	}
	for name, n := range found {
		if chunks := s.DocFreq(name); chunks > 0 {
			out = append(out, search.SimilarTerm{Term: name, Edits: n, Chunks: chunks})
		}
	}
	slices.SortFunc(out, compareSimilar)
	return out[:min(len(out), 2*maxSimilar)]
}

// plainLetters appends the letters of a word without diacritics.
func plainLetters(out []rune, word []byte) []rune {
	for len(word) > 0 {
		r, size := utf8.DecodeRune(word)
		word = word[size:]
		if r == 'ł' {
			r = 'l'
		} else if r >= utf8.RuneSelf {
			r, _ = utf8.DecodeRuneInString(text.Fold(string(r)))
		}
		out = append(out, r)
	}
	return out
}

// distance returns the Damerau–Levenshtein distance of two words, with neighbours swapped once,
// or a value above limit. a has at most maxSpelled letters, and b at most two more.
func distance(a, b []rune, limit int) int {
	var rows [3][maxSpelled + 3]int // for the last two letters of a and this one
	before, last, now := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := range a {
		now[0] = i + 1
		lowest := now[0]
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			now[j+1] = min(last[j]+cost, last[j+1]+1, now[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				now[j+1] = min(now[j+1], before[j-1]+1)
			}
			lowest = min(lowest, now[j+1])
		}
		if lowest > limit {
			return lowest
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}
