package offline

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// lexicon weighs words by their rarity in the index.
type lexicon struct {
	stats    Stats
	analyzer text.Analyzer
	others   thesaurus
	read     *reading
}

func newLexicon(stats Stats) lexicon {
	a := stats.Analyzer()
	return lexicon{stats: stats, analyzer: a, others: newThesaurus(a), read: newReading()}
}

// A few chunks tell little about how rare a word is: where there is one, all its
// words are in every chunk. An index smaller than this is filled up with chunks
// of which each term is in one of a hundred.
const (
	enoughDocs = 200
	usualShare = 0.01
)

// idf is the inverse document frequency of BM25, of a small index as if it were
// part of a larger one. A term that no chunk holds weighs most.
func (l lexicon) idf(term string) float64 {
	n, df := float64(l.stats.Docs()), float64(l.docFreq(term))
	df = min(df, n)
	if missing := enoughDocs - n; missing > 0 {
		n, df = n+missing, df+missing*usualShare
	}
	return math.Log(1 + (n-df+0.5)/(df+0.5))
}

// set is a set of terms.
type set map[string]struct{}

func (s set) has(term string) bool { _, ok := s[term]; return ok }

// size is the number of words in s.
func (s set) size() int { return distinctWords(s) }

// distinctWords counts terms; a word and its twin without diacritics are one.
func distinctWords[V any](terms map[string]V) int {
	n := 0
	for t := range terms {
		if !text.IsFolded(t) {
			n++
		}
	}
	return n
}

func (l lexicon) set(texts ...string) set {
	out := set{}
	for _, s := range texts {
		for _, t := range l.tokens(s) {
			out[t.Term] = struct{}{}
		}
	}
	return out
}

// tokens are the words of s, each followed by its twin without diacritics where
// it has one. Pairs of syllables are left out: a passage that holds a pair holds
// its syllables.
func (l lexicon) tokens(s string) []text.Token {
	return slices.DeleteFunc(l.analyze(s), func(t text.Token) bool { return text.IsPhrase(t.Term) })
}

// words are the words of s alone.
func (l lexicon) words(s string) []text.Token {
	return slices.DeleteFunc(l.tokens(s), func(t text.Token) bool { return text.IsFolded(t.Term) })
}

// asWritten are the words of s as they are searched for: with diacritics where
// they have them or the index knows the word without, else, for who types
// without, the twins that the index knows.
func (l lexicon) asWritten(s string) []text.Token {
	tokens := l.tokens(s)
	known := map[int]bool{} // starts of words that the index knows as they are
	twin := map[int]bool{}  // and of those that it knows only with diacritics
	for _, t := range tokens {
		if seen := l.docFreq(t.Term) > 0; seen && text.IsFolded(t.Term) {
			twin[t.Start] = true
		} else if seen || !ascii(s[t.Start:t.End]) {
			known[t.Start] = true
		}
	}
	return slices.DeleteFunc(tokens, func(t text.Token) bool {
		return text.IsFolded(t.Term) != (twin[t.Start] && !known[t.Start])
	})
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// weighed is a term of a question with what it counts.
type weighed struct {
	term   string
	weight float64
	others []synonym // that may stand for it
	path   bool      // a part of a path in the question: its place in a path is no accident
}

// Weights of words that say little about the topic of a question.
const (
	synonymShare = 0.8 // of a word, where another stands for it
	askingWeight = 0.3 // "want", "please": how one asks, not what
	longMessage  = 6   // terms of a question beyond which the paths in it are beside the point
	unseenName   = 1.6 // a name that no passage holds: the documents do not know the thing
)

// question returns the weighed terms of a query: its own and those that the
// conversation lends, heaviest first.
func (l lexicon) question(q state.Query) []weighed {
	weights := map[string]float64{}
	own := l.said(q.Text)
	own.weigh(weights, 1)
	for _, b := range q.Boosts {
		l.said(b.Text).weigh(weights, b.Weight)
	}
	out := make([]weighed, 0, len(weights))
	for term, w := range weights {
		out = append(out, weighed{term, w, l.others[term], own.paths.has(term)})
	}
	slices.SortFunc(out, func(a, b weighed) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), strings.Compare(a.term, b.term))
	})
	return out
}

// wordsSaid are the words of content of a question, or of what is lent to one. It is
// shared and not to be written to.
type wordsSaid struct {
	words []wordSaid
	paths set // terms that are parts of paths
}

// wordSaid is a word by its rarity, and how much of that it counts.
type wordSaid struct {
	term       string
	idf, share float64
}

// weigh adds the terms to weights; each keeps the greatest it ever had.
func (w *wordsSaid) weigh(weights map[string]float64, factor float64) {
	for _, t := range w.words {
		weights[t.term] = max(weights[t.term], factor*t.idf*t.share)
	}
}

// said takes a question apart, once for all who ask in a turn.
func (l lexicon) said(s string) *wordsSaid {
	return l.read.words.Get(s, func() *wordsSaid {
		out := &wordsSaid{words: l.contentOf(s), paths: set{}}
		for _, t := range l.tokens(s) {
			if partOfPath(s, t) {
				out.paths[t.Term] = struct{}{}
			}
		}
		return out
	})
}

// contentOf are the words of s that say something.
func (l lexicon) contentOf(s string) []wordSaid {
	lang := l.language(s)
	tokens := l.asWritten(s)
	var out []wordSaid
	for i, t := range tokens {
		word := s[t.Start:t.End]
		if functionWord(lang, word) {
			continue
		}
		seen := l.docFreq(t.Term) > 0
		if !seen && l.hasParts(tokens, i) {
			continue // a compound nobody writes; its parts stand for it
		}
		share := 1.0
		switch {
		case askingWord(strings.ToLower(word)):
			share = askingWeight
		case partOfPath(s, t) && len(tokens) > longMessage:
			share = pathShare
		case !seen && looksLikeName(word, t.Start == 0):
			share = unseenName
		}
		out = append(out, wordSaid{t.Term, l.idf(t.Term), share})
	}
	return out
}

// lent are the keywords of s without those of not.
func (l lexicon) lent(s string, not set) string {
	lang := l.language(s)
	var out []string
	end := 0
	for _, t := range l.words(s) {
		word := s[t.Start:t.End]
		if t.Start < end || functionWord(lang, word) || askingWord(strings.ToLower(word)) {
			continue // part of a name that is there as a whole, or no content
		}
		end = t.End
		if !not.has(t.Term) {
			out = append(out, word)
		}
	}
	return strings.Join(out, " ")
}

// known are the names in s that the index knows, without those of not.
func (l lexicon) known(s string, not set) []string {
	var out []string
	for _, t := range l.analyze(s) {
		word := s[t.Start:t.End]
		if looksLikeName(word, t.Start == 0) && strings.IndexFunc(word, unicode.IsLetter) >= 0 && !functionWord("en", word) &&
			!not.has(t.Term) && l.docFreq(t.Term) > 0 {
			out = append(out, word)
		}
	}
	return out
}

// hasParts reports whether token i is a whole name whose parts follow as
// tokens of their own that the index knows.
func (l lexicon) hasParts(tokens []text.Token, i int) bool {
	whole := tokens[i]
	for _, p := range tokens[i+1:] {
		if p.Start >= whole.End {
			break
		}
		if l.docFreq(p.Term) > 0 {
			return true
		}
	}
	return false
}

// coverage is the share of the terms' weight that has reports, from 0 to 1.
func coverage(terms []weighed, has func(term string) float64) float64 {
	var all, covered float64
	for _, t := range terms {
		all += t.weight
		share := has(t.term)
		if t.path && share > 0 {
			share = 1
		}
		for _, o := range t.others {
			share = max(share, synonymShare*has(o.term))
		}
		covered += t.weight * share
	}
	if all == 0 {
		return 0
	}
	return covered / all
}

// in makes a set a measure for coverage.
func (s set) in(term string) float64 {
	if s.has(term) {
		return 1
	}
	return 0
}

// functionWord reports whether a word says how, not what, in English (which is
// mixed into everything) or in the language of the text it stands in.
func functionWord(lang, word string) bool {
	word = strings.ToLower(word)
	return text.StopWord("en", word) || lang != "en" && (text.StopWord(lang, word) || asksIn(lang, word))
}

// askingWord reports whether a word belongs to how one asks.
func askingWord(word string) bool {
	switch word {
	case "want", "wants", "need", "needs", "like", "please", "tell", "show", "explain", "give", "know",
		"happen", "happens", "mean", "means", "meant", "difference", "different", "between", "vs", "versus", "compare", "compared", "see", "work", "works", "possible", "way", "ways", "thing", "things", "wrong", "right",
		"exactly", "still", "really", "actually", "able", "try", "trying", "suppose", "say", "instead",
		"good", "idea", "make", "sure", "get", "use", "using", "used", "put", "come", "comes", "go", "take",
		"one", "two", "also", "already", "many", "much", "altogether", "today", "look", "must", "may", "might", "several", "lot", "lots",
		"something", "anything", "everything", "whole", "certain", "without":
		return true
	}
	return false
}

// looksLikeName reports whether a word is written like the name of something:
// with a capital letter (not only because it begins the text), a digit, or a
// sign inside.
func looksLikeName(word string, first bool) bool {
	for i, r := range word {
		switch {
		case unicode.IsUpper(r):
			if i > 0 || !first {
				return true
			}
		case !unicode.IsLetter(r):
			return true
		}
	}
	return false
}
