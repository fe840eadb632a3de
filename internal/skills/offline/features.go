package offline

import (
	"math"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// The features of a sentence. A share is a share of the total idf of the question's content words.
const (
	ownWords     = iota // share that the sentence contains
	stems               // further share that it contains as words with the same prefix
	before              // further share in the sentence before, or in the introduction of its list, table or code
	around              // further share in the rest of its block and in the blocks beside it
	headings            // further share in the headings and the title
	wholePassage        // further share in the rest of the passage
	heaviest            // 1 if it or its heading contains the heaviest word
	wording             // share of all words as written, weighed by their rarity among the sentences
	wordPairs           // the same for pairs of neighbouring words
	nearNew             // share near a word that may be the answer
	density             // question words per word of the sentence
	length              // log(words/20)
	position            // 1/n for the n-th sentence of its section
	score               // search score of its passage, divided by the best one
	isCode
	isListed // list item or table row
	numFeatures
)

// FeatureNames returns the names of [Ranked.Features], in their order.
func FeatureNames() []string {
	return []string{
		"own words", "stems", "sentence before", "block around", "headings", "whole passage", "heaviest word", "wording", "wording in pairs",
		"near a new word", "density", "length", "position", "search score", "code", "list or table",
	}
}

// features are the features of one sentence.
type features [numFeatures]float64

// historyWeight scales words taken from earlier turns when sentences are ranked, so that the answer is about
// the current question.
const historyWeight = 0.3

// halfDistance is the distance in words at which a question word's weight halves.
const halfDistance = 6

// inquiry is a question prepared for measuring features.
type inquiry struct {
	terms []weighed // at most 64
	all   float64   // sum of the weights of terms
	asked set       // the question's words as written
	shape shape

	// The question's words as written, and their pairs, weighed by rarity among the sentences.
	words, pairs []weighed
}

// rarity weighs words by the number of sentences that contain them. A word in no sentence cannot choose one
// and weighs half.
func rarity(words []string, passages []*passage) []weighed {
	counts, all := map[string]float64{}, 1.0
	for _, w := range words[:min(len(words), maxAsked)] {
		counts[w] = 0
	}
	for _, p := range passages {
		all += float64(len(p.written))
		for _, s := range p.written {
			for w := range counts {
				counts[w] += s.in(w)
			}
		}
	}
	for w, n := range counts {
		counts[w] = math.Log(all / (n + 0.5))
		if n == 0 {
			counts[w] /= 2
		}
	}
	return heaviestFirst(counts)
}

// pairsOf returns the pairs of neighbouring words.
func pairsOf(words []string) []string {
	var out []string
	for i := range len(words) - 1 {
		out = append(out, words[i]+" "+words[i+1])
	}
	return out
}

// inquire prepares a question, with the boosts of q, for ranking the sentences of passages.
func (l lexicon) inquire(question string, q state.Query, passages []*passage) inquiry {
	terms, plain := l.question(state.Query{Text: question, Boosts: q.Boosts}, historyWeight), plainWords(question)
	in := inquiry{
		terms: terms[:min(len(terms), 64)], asked: setOf(plain), shape: shapeOf(plain),
		words: rarity(plain, passages), pairs: rarity(pairsOf(plain[:min(len(plain), maxAsked)]), passages),
	}
	for _, t := range in.terms {
		in.all += t.weight
	}
	return in
}

// mask is a set of terms of an inquiry, one bit per index.
type mask uint64

// share returns the share of the question's weight in m.
func (in *inquiry) share(m mask) float64 {
	if in.all == 0 {
		return 0
	}
	sum := 0.0
	for ; m != 0; m &= m - 1 {
		sum += in.terms[bits.TrailingZeros64(uint64(m))].weight
	}
	return sum / in.all
}

func (in *inquiry) maskOf(s set) mask {
	var m mask
	for i, t := range in.terms {
		if s.has(t.term) {
			m |= 1 << i
		}
	}
	return m
}

// measure returns the features of each sentence of a passage. share is the passage's search score divided by
// the best one.
func (in *inquiry) measure(p *passage, share float64) []features {
	out := make([]features, len(p.units))
	masks := make([]mask, len(p.units))
	blocks := make([]mask, len(p.blocks))
	first := make([]int, len(p.blocks)+1) // first unit of each block
	for j, u := range p.units {
		masks[j] = in.maskOf(p.terms[j])
		blocks[u.block] |= masks[j]
	}
	for i := range first {
		first[i], _ = slices.BinarySearchFunc(p.units, i, func(u unit, b int) int { return u.block - b })
	}
	sections := make([]mask, len(p.sections))
	for i, s := range p.sections {
		sections[i] = in.maskOf(s)
	}
	names, whole, prefixMatches := in.maskOf(p.names), in.maskOf(p.all), in.prefixMatches(p)
	inSection, section := 0, -1
	for j, u := range p.units {
		b := p.blocks[u.block]
		if inSection++; b.section != section {
			section, inSection = b.section, 1
		}
		e := &out[j]
		m := masks[j]
		add := func(f int, more mask) {
			e[f] = in.share(m|more) - in.share(m)
			m |= more
		}
		add(ownWords, 0)
		e[ownWords] = in.share(m)
		e[stems] = alikeShare * (in.share(m|in.stemsIn(p.terms[j], prefixMatches)) - e[ownWords])
		var intro mask
		if k := p.intro(u.block); k >= 0 {
			intro = blocks[k]
		}
		if j > 0 && p.units[j-1].block == u.block {
			intro |= masks[j-1]
		}
		add(before, intro)
		beside := blocks[u.block]
		for _, i := range []int{u.block - 1, u.block + 1} {
			if i >= 0 && i < len(p.blocks) && p.blocks[i].section == b.section {
				beside |= blocks[i]
			}
		}
		add(around, beside)
		add(headings, sections[min(b.section, len(sections)-1)]|names)
		if len(in.terms) > 0 && m&1 != 0 {
			e[heaviest] = 1
		}
		add(wholePassage, whole)
		e[nearNew] = in.near(p.text[u.start:u.end], p.tokens[j], j == first[u.block])
		n := len(p.terms[j])
		e[density] = float64(bits.OnesCount64(uint64(masks[j]))) / float64(max(n, 12))
		e[wording], e[wordPairs] = coverage(in.words, p.written[j].in), coverage(in.pairs, p.written[j].in)
		e[length] = math.Log(float64(max(1, len(p.tokens[j]))) / 20)
		e[position] = 1 / float64(inSection)
		e[score] = share
		switch b.kind {
		case code:
			e[isCode] = 1
		case item, row:
			e[isListed] = 1
		case paragraph, heading:
		}
	}
	return out
}

// prefixMatches returns, for each term of the question, the words of the passage with the same prefix.
func (in *inquiry) prefixMatches(p *passage) [][]string {
	out := make([][]string, len(in.terms))
	for i, t := range in.terms {
		for w := range p.all {
			if w != t.term && similar(t.term, w) {
				out[i] = append(out[i], w)
			}
		}
	}
	return out
}

// stemsIn returns the terms that have a prefix match in s.
func (*inquiry) stemsIn(s set, prefixMatches [][]string) mask {
	var m mask
	for i, words := range prefixMatches {
		if slices.ContainsFunc(words, s.has) {
			m |= 1 << i
		}
	}
	return m
}

// near looks for a possible answer: a word that is not in the question. It returns the largest share of the
// question's weight near such a word, times the fit of its shape. opens says that the text begins a block,
// whose first word is capitalized anyway.
func (in *inquiry) near(raw string, tokens []text.Token, opens bool) (held float64) {
	at := map[string][]int{}
	for _, t := range tokens {
		at[t.Term] = append(at[t.Term], t.Pos)
	}
	var terms []weighed
	for _, t := range in.terms {
		if len(at[t.term]) > 0 {
			terms = append(terms, t)
		}
	}
	for i, x := range tokens {
		word := raw[x.Start:x.End]
		if text.IsFolded(x.Term) || in.asked.has(strings.ToLower(word)) {
			continue
		}
		fit := in.shape.fit(word, i == 0 && (opens || x.Start == 0))
		sum := 0.0
		for _, t := range terms {
			nearest := math.MaxInt32
			for _, pos := range at[t.term] {
				nearest = min(nearest, max(pos-x.Pos, x.Pos-pos))
			}
			if nearest > 0 {
				sum += t.weight / (1 + float64(nearest)/halfDistance)
			}
		}
		if in.all > 0 {
			held = max(held, fit*sum/in.all)
		}
	}
	return held
}

// shape holds the relative likelihood of each shape of answer; the likeliest has 1.
type shape struct{ number, name, other float64 }

// shapeOf guesses the shape of the answer from the words of the question.
func shapeOf(plain []string) shape {
	number, name := shapeIntercepts[0], shapeIntercepts[1]
	for i, w := range plain {
		for _, gram := range []string{w, strings.Join(plain[i:min(i+2, len(plain))], " ")} {
			if c, ok := shapeWords[gram]; ok && (i+1 < len(plain) || gram == w) {
				number, name = number+c[0], name+c[1]
			}
		}
	}
	n, m := math.Exp(number), math.Exp(name)
	top := max(1, n, m)
	return shape{n / top, m / top, 1 / top}
}

// askingWords returns the words of those pairs of the question that indicate the shape of the answer.
func askingWords(plain []string) map[string]bool {
	out := map[string]bool{}
	for i := range len(plain) - 1 {
		if _, ok := shapeWords[plain[i]+" "+plain[i+1]]; ok {
			out[plain[i]], out[plain[i+1]] = true, true
		}
	}
	return out
}

// fit returns how well a word fits the shape. The capital letter of a first word is ignored.
func (s shape) fit(word string, first bool) float64 {
	r, _ := utf8.DecodeRuneInString(word)
	switch {
	case strings.ContainsFunc(word, unicode.IsDigit):
		return s.number
	case unicode.IsUpper(r) && !first:
		return s.name
	}
	return s.other
}
