package offline

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/internal/lru"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// lexicon weighs words by their rarity in the index.
type lexicon struct {
	stats    Stats
	analyzer text.Analyzer
	parsed   *lru.Cache[passageKey, *passage]
	copies   copies // that do not count
}

// copies are chunks that are in the index once more: how many there are, and how many hold a term.
type copies struct {
	chunks int
	terms  map[string]int
}

// once returns a lexicon for which each of some passages is in the index once.
func (l lexicon) once(best []state.Source) lexicon {
	l.copies = copies{terms: map[string]int{}}
	for _, s := range best {
		if s.Copies == 0 {
			continue
		}
		l.copies.chunks += s.Copies
		p := l.passage(s.Chunk)
		held := maps.Clone(p.all)
		maps.Copy(held, p.names)
		for t := range held {
			l.copies.terms[t] += s.Copies
		}
	}
	return l
}

// maxParsed is the number of cached passages, about 60 KB each.
const maxParsed = 256

func newLexicon(stats Stats) lexicon {
	return lexicon{stats: stats, analyzer: stats.Analyzer(), parsed: &lru.Cache[passageKey, *passage]{}}
}

// In a small index document frequencies say little. An index with fewer than minDocs chunks is padded:
// a share usualShare of the added chunks contains each term.
const (
	minDocs    = 200
	usualShare = 0.01
)

// idf is the inverse document frequency of BM25.
func (l lexicon) idf(term string) float64 {
	n := float64(l.stats.Docs() - l.copies.chunks)
	df := max(0, min(n, float64(l.stats.DocFreq(term)-l.copies.terms[term])))
	if missing := minDocs - n; missing > 0 {
		n, df = n+missing, df+missing*usualShare
	}
	return math.Log(1 + (n-df+0.5)/(df+0.5))
}

// tokens returns the words of s, each followed by its form without diacritics, if any. Pairs of syllables are
// left out, because a passage with a pair contains its syllables.
func (l lexicon) tokens(s string) []text.Token {
	return slices.DeleteFunc(l.analyzer.Analyze(s), func(t text.Token) bool { return text.IsPhrase(t.Term) })
}

// words returns the words of s without the forms that lack diacritics.
func (l lexicon) words(s string) []text.Token {
	return slices.DeleteFunc(l.tokens(s), func(t text.Token) bool { return text.IsFolded(t.Term) })
}

// surfaceForms returns the words of s as the index knows them: as written, or without diacritics if only that
// form is known.
func (l lexicon) surfaceForms(s string) []text.Token {
	tokens := l.tokens(s)
	known, twin := map[int]bool{}, map[int]bool{} // by start of the word
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

// question returns the weighed terms of a query and of its boosts, heaviest first. Boosts are scaled by
// boost.
func (l lexicon) question(q state.Query, boost float64) []weighed {
	weights := map[string]float64{}
	add := func(s string, factor float64) {
		for _, t := range l.content(s) {
			weights[t.Term] = max(weights[t.Term], factor*l.idf(t.Term))
		}
	}
	add(q.Text, 1)
	for _, b := range q.Boosts {
		if boost > 0 {
			add(b.Text, boost*b.Weight)
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

// content returns the content words of s, without function words and question phrases such as "how many".
func (l lexicon) content(s string) []text.Token {
	lang, asking := text.Language(s), askingWords(plainWords(s))
	tokens := l.surfaceForms(s)
	known := func(t text.Token) bool { return l.stats.DocFreq(t.Term) > 0 }
	var out []text.Token
	for i, t := range tokens {
		if functionWord(lang, s[t.Start:t.End]) || asking[strings.ToLower(s[t.Start:t.End])] {
			continue
		}
		part := func(p text.Token) bool { return p.Start < t.End && known(p) }
		if !known(t) && slices.ContainsFunc(tokens[i+1:], part) {
			continue // a compound that is in no document: use its parts
		}
		out = append(out, t)
	}
	return out
}

// functionWord reports whether a word is a stop word of the language or of English, which is mixed into all
// others.
func functionWord(lang, word string) bool {
	word = strings.ToLower(word)
	return text.StopWord("en", word) || lang != "en" && text.StopWord(lang, word)
}

// coverage returns the share of the terms' weight that has confirms, from 0 to 1.
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

// in is has as a measure for coverage.
func (s set) in(term string) float64 {
	if s.has(term) {
		return 1
	}
	return 0
}

// Words are alike if their common prefix has at least minStem letters and covers two thirds of the longer
// word, or the whole shorter word and half of the longer.
const (
	minStem    = 4
	alikeShare = 0.6 // of an equal word
)

// soft is in, with similar words at alikeShare.
func (s set) soft(term string) float64 {
	if s.has(term) {
		return 1
	}
	for w := range s {
		if similar(term, w) {
			return alikeShare
		}
	}
	return 0
}

func similar(a, b string) bool {
	if len(a) < minStem || !ascii(a) {
		return false
	}
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	longer, shorter := max(len(a), len(b)), min(len(a), len(b))
	return n >= minStem && (3*n >= 2*longer || n == shorter && 2*n >= longer)
}

// plainWords returns the words of s in lower case, as written; a number and its unit are two.
func plainWords(s string) []string {
	words, _ := plainWordsAt(s)
	return words
}

// plainWordsAt is plainWords, with the positions at which the words begin.
func plainWordsAt(s string) (words []string, starts []int) {
	add := func(start, end int) {
		words, starts = append(words, strings.ToLower(s[start:end])), append(starts, start)
	}
	for rest := 0; rest < len(s); {
		start := strings.IndexFunc(s[rest:], isWordRune)
		if start < 0 {
			break
		}
		start += rest
		rest = len(s)
		if n := strings.IndexFunc(s[start:], notWordRune); n >= 0 {
			rest = start + n
		}
		if n := text.NumberLength(s[start:rest]); n > 0 {
			add(start, start+n)
			start += n
		}
		add(start, rest)
	}
	return words, starts
}

func notWordRune(r rune) bool { return !isWordRune(r) }

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || r == '\'' || r == '’'
}

// A run of at least minRun words copied from the question adds runGain for each word, up to runWords.
const (
	minRun   = 4
	runGain  = 0.04
	runWords = 8

	maxAsked = 80 // words of a question that are compared
)

// repeats scores the longest run of words that a text copies from the question.
func repeats(question, words []string) float64 {
	longest := 0
	for i := range words {
		for j := range question[:min(len(question), maxAsked)] {
			n := 0
			for i+n < len(words) && j+n < len(question) && words[i+n] == question[j+n] {
				n++
			}
			longest = max(longest, n)
		}
	}
	return runGain * float64(min(max(0, longest-minRun+1), runWords))
}

// keyTerms returns the most informative words of a text, best first: rare in the index, frequent in the text.
// They help to understand a follow-up.
func (l lexicon) keyTerms(s string) []string {
	lang := text.Language(s)
	count, word := map[string]float64{}, map[string]string{}
	end := 0
	for _, t := range l.words(s) {
		w := s[t.Start:t.End]
		if t.Start < end || functionWord(lang, w) || strings.IndexFunc(w, unicode.IsLetter) < 0 {
			continue // skip parts of a name
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

// Terms returns the most informative words of a text, best first, as an answer keeps them for the next turn.
// The evaluation uses it for answers written elsewhere.
func Terms(stats Stats, s string) []string { return newLexicon(stats).keyTerms(s) }

// chances converts logits into probabilities (softmax).
func chances(scores []float64) []float64 {
	top := math.Inf(-1) // prevents overflow
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
