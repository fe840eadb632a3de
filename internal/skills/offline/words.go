package offline

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/internal/lru"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// lexicon weighs words by their rarity in the index.
type lexicon struct {
	stats    Stats
	analyzer text.Analyzer
	parsed   *lru.Cache[passageKey, *passage]
}

// mostParsed is how many parsed passages are remembered, some 60 KB each.
const mostParsed = 256

func newLexicon(stats Stats) lexicon {
	return lexicon{stats, stats.Analyzer(), &lru.Cache[passageKey, *passage]{}}
}

// A few chunks tell little about how rare a word is. An index smaller than
// enoughDocs is filled up with chunks of which usualShare hold each term.
const (
	enoughDocs = 200
	usualShare = 0.01
)

// idf is the inverse document frequency of BM25.
func (l lexicon) idf(term string) float64 {
	n := float64(l.stats.Docs())
	df := min(n, float64(l.stats.DocFreq(term)))
	if missing := enoughDocs - n; missing > 0 {
		n, df = n+missing, df+missing*usualShare
	}
	return math.Log(1 + (n-df+0.5)/(df+0.5))
}

// tokens are the words of s, each followed by its twin without diacritics where
// it has one. Pairs of syllables are left out: a passage that holds a pair holds
// its syllables.
func (l lexicon) tokens(s string) []text.Token {
	return slices.DeleteFunc(l.analyzer.Analyze(s), func(t text.Token) bool { return text.IsPhrase(t.Term) })
}

// words are the words of s without their twins.
func (l lexicon) words(s string) []text.Token {
	return slices.DeleteFunc(l.tokens(s), func(t text.Token) bool { return text.IsFolded(t.Term) })
}

// asTyped are the words of s as they are searched for: as they are written where
// the index knows them or they have diacritics, else the twins that it knows.
func (l lexicon) asTyped(s string) []text.Token {
	tokens := l.tokens(s)
	known, twin := map[int]bool{}, map[int]bool{} // by where the word starts
	for _, t := range tokens {
		if seen := l.stats.DocFreq(t.Term) > 0; seen && text.IsFolded(t.Term) {
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

// set is a set of terms.
type set map[string]struct{}

func (s set) has(term string) bool { _, ok := s[term]; return ok }

func setOf(terms []string) set {
	out := set{}
	for _, t := range terms {
		out[t] = struct{}{}
	}
	return out
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

// weighed is a term of a question with its weight.
type weighed struct {
	term   string
	weight float64
}

// question returns the weighed terms of a query, its own and those of its
// boosts, each boost times lent; heaviest first.
func (l lexicon) question(q state.Query, lent float64) []weighed {
	weights := map[string]float64{}
	add := func(s string, factor float64) {
		for _, t := range l.content(s) {
			weights[t.Term] = max(weights[t.Term], factor*l.idf(t.Term))
		}
	}
	add(q.Text, 1)
	for _, b := range q.Boosts {
		if lent > 0 {
			add(b.Text, lent*b.Weight)
		}
	}
	return heaviestFirst(weights)
}

func heaviestFirst(weights map[string]float64) []weighed {
	out := make([]weighed, 0, len(weights))
	for term, w := range weights {
		out = append(out, weighed{term, w})
	}
	slices.SortFunc(out, func(a, b weighed) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), strings.Compare(a.term, b.term))
	})
	return out
}

// content are the words of s that are neither function words nor part of how
// one asks, such as "how many".
func (l lexicon) content(s string) []text.Token {
	lang, asking := text.Language(s), askingWords(plainWords(s))
	tokens := l.asTyped(s)
	known := func(t text.Token) bool { return l.stats.DocFreq(t.Term) > 0 }
	var out []text.Token
	for i, t := range tokens {
		if functionWord(lang, s[t.Start:t.End]) || asking[strings.ToLower(s[t.Start:t.End])] {
			continue
		}
		part := func(p text.Token) bool { return p.Start < t.End && known(p) }
		if !known(t) && slices.ContainsFunc(tokens[i+1:], part) {
			continue // a compound that no document writes; its parts represent it
		}
		out = append(out, t)
	}
	return out
}

// functionWord reports whether a word says how, not what, in a language or in
// English, whose words are mixed into every language.
func functionWord(lang, word string) bool {
	word = strings.ToLower(word)
	return text.StopWord("en", word) || lang != "en" && text.StopWord(lang, word)
}

// coverage is the share of the terms' weight that has reports, from 0 to 1.
func coverage(terms []weighed, has func(term string) float64) float64 {
	var all, covered float64
	for _, t := range terms {
		all += t.weight
		covered += t.weight * has(t.term)
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

// Two words count as alike where they share a beginning of shortestStem letters,
// and of two thirds of the longer one or all of the shorter one.
const (
	shortestStem = 4
	alikeShare   = 0.6 // of an equal word
)

// soft is in, with words that begin alike.
func (s set) soft(term string) float64 {
	if s.has(term) {
		return 1
	}
	for w := range s {
		if beginAlike(term, w) {
			return alikeShare
		}
	}
	return 0
}

func beginAlike(a, b string) bool {
	if len(a) < shortestStem || !ascii(a) {
		return false
	}
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	longer, shorter := max(len(a), len(b)), min(len(a), len(b))
	return n >= shortestStem && (3*n >= 2*longer || n == shorter && 2*n >= longer)
}

// plainWords are the words of s in lower case, as they are written.
func plainWords(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !isWordRune(r) })
}

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || r == '\'' || r == '’'
}

// A run of at least minRun words that a text repeats from the question gains
// runGain for each word, up to runWords.
const (
	minRun   = 4
	runGain  = 0.04
	runWords = 8

	mostAsked = 80 // words of a question that are compared
)

// repeats measures the longest run of words that a text has from the question.
func repeats(question, words []string) float64 {
	longest := 0
	for i := range words {
		for j := range question[:min(len(question), mostAsked)] {
			n := 0
			for i+n < len(words) && j+n < len(question) && words[i+n] == question[j+n] {
				n++
			}
			longest = max(longest, n)
		}
	}
	return runGain * float64(min(max(0, longest-minRun+1), runWords))
}

// telling are the words of a text that carry most information, best first: rare
// in the index and often in the text. They help to understand a follow-up.
func (l lexicon) telling(s string) []string {
	lang := text.Language(s)
	count, word := map[string]float64{}, map[string]string{}
	end := 0
	for _, t := range l.words(s) {
		w := s[t.Start:t.End]
		if t.Start < end || functionWord(lang, w) || strings.IndexFunc(w, unicode.IsLetter) < 0 {
			continue // parts of a name add nothing to the name
		}
		end = t.End
		count[t.Term]++
		word[t.Term] = strings.ToLower(w)
	}
	for t, n := range count {
		count[t] = l.idf(t) * min(n, 3)
	}
	terms := heaviestFirst(count)
	var out []string
	for _, t := range terms[:min(len(terms), answerTerms)] {
		out = append(out, word[t.term])
	}
	return out
}

// Terms returns the words of a text that carry most information, best first, as
// an answer keeps them for the next question of its thread. Measurements give it
// answers that were written elsewhere.
func Terms(stats Stats, s string) []string { return newLexicon(stats).telling(s) }

// chances makes scores chances that sum to 1, as a logit has them.
func chances(scores []float64) []float64 {
	top := math.Inf(-1) // so that nothing overflows
	for _, z := range scores {
		top = max(top, z)
	}
	out, sum := make([]float64, len(scores)), 0.0
	for i, z := range scores {
		out[i] = math.Exp(z - top)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}
