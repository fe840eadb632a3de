package offline

import (
	"math"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// The features. Shares are shares of the question's weight: its words of
// content, each weighed by its idf.
const (
	ownWords     = iota // share that the sentence holds
	stems               // further share that it holds in words that begin alike
	before              // further share of the sentence before, or of what introduces its list, table or code
	around              // further share of the rest of its block and of the blocks beside it
	headings            // further share of the headings and the title
	wholePassage        // further share of the rest of the passage
	heaviest            // whether it or its heading holds the word that weighs most
	wording             // share of all its words as they are written, weighed by how few sentences hold them
	wordPairs           // the same of neighbouring words
	nearNew             // share that stands near a word that may be the answer
	density             // words of the question by words of the sentence
	length              // logarithm of its words by 20
	position            // 1/n, for the n-th sentence of its section
	score               // of its passage in the search, of the best one's
	isCode
	isListed // item or row
	numFeatures
)

// FeatureNames are the names of the features of [Ranked.Features].
func FeatureNames() []string {
	return []string{
		"own words", "stems", "sentence before", "block around", "headings", "whole passage", "heaviest word", "wording", "wording in pairs",
		"near a new word", "density", "length", "position", "search score", "code", "list or table",
	}
}

// features are those of one sentence.
type features [numFeatures]float64

// What the conversation lends counts little where sentences are chosen, so that
// an answer is about what was asked now.
const answerLent = 0.3

// nearHalf is at how many positions from a new word a word of the question
// counts half.
const nearHalf = 6

// inquiry is a question as features are measured for it.
type inquiry struct {
	terms []weighed // at most 64
	all   float64   // weight of terms
	asked set       // its words as they are written
	shape shape

	// What the words of the question, as they are written, and their pairs weigh
	// among the sentences to choose from.
	words, pairs []weighed
}

// rarity weighs words by how few sentences of some passages hold each. A word that no
// sentence holds, which chooses none, weighs half.
func rarity(words []string, passages []*passage) []weighed {
	counts, all := map[string]float64{}, 1.0
	for _, w := range words[:min(len(words), mostAsked)] {
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

// pairsOf are neighbouring words.
func pairsOf(words []string) []string {
	var out []string
	for i := range len(words) - 1 {
		out = append(out, words[i]+" "+words[i+1])
	}
	return out
}

// inquire reads the question of a query, with what the conversation lends it, for the
// sentences of some passages.
func (l lexicon) inquire(question string, q state.Query, passages []*passage) inquiry {
	terms, plain := l.question(state.Query{Text: question, Boosts: q.Boosts}, answerLent), plainWords(question)
	in := inquiry{
		terms: terms[:min(len(terms), 64)], asked: setOf(plain), shape: shapeOf(plain),
		words: rarity(plain, passages), pairs: rarity(pairsOf(plain[:min(len(plain), mostAsked)]), passages),
	}
	for _, t := range in.terms {
		in.all += t.weight
	}
	return in
}

// mask is a set of terms of an inquiry, by index.
type mask uint64

// share is the share of the question's weight that a mask has.
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

// measure returns the features of the sentences of a passage. share is the score
// of the passage in the search, of the best one's.
func (in *inquiry) measure(p *passage, share float64) []features {
	out := make([]features, len(p.units))
	masks := make([]mask, len(p.units))
	blocks := make([]mask, len(p.blocks))
	first := make([]int, len(p.blocks)+1) // unit of each block
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
	names, whole, alike := in.maskOf(p.names), in.maskOf(p.all), in.alike(p)
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
		e[stems] = alikeShare * (in.share(m|in.stemsIn(p.terms[j], alike)) - e[ownWords])
		var lead mask
		if k := p.lead(u.block); k >= 0 {
			lead = blocks[k]
		}
		if j > 0 && p.units[j-1].block == u.block {
			lead |= masks[j-1]
		}
		add(before, lead)
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

// alike are, for each term of the question, the words of a passage that begin
// alike.
func (in *inquiry) alike(p *passage) [][]string {
	out := make([][]string, len(in.terms))
	for i, t := range in.terms {
		for w := range p.all {
			if w != t.term && beginAlike(t.term, w) {
				out[i] = append(out[i], w)
			}
		}
	}
	return out
}

// stemsIn are the terms for which a text has a word that begins alike.
func (*inquiry) stemsIn(s set, alike [][]string) mask {
	var m mask
	for i, words := range alike {
		if slices.ContainsFunc(words, s.has) {
			m |= 1 << i
		}
	}
	return m
}

// near looks for a word that may be the answer: one that the question has not.
// The result is the share of the question's weight that stands near the best such
// word, by how well its shape fits what is asked for. opens says that the text
// begins a block, whose first word has a capital letter anyway.
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
				sum += t.weight / (1 + float64(nearest)/nearHalf)
			}
		}
		if in.all > 0 {
			held = max(held, fit*sum/in.all)
		}
	}
	return held
}

// shape is how likely an answer is of each shape, the likeliest one 1.
type shape struct{ number, name, other float64 }

// shapeOf guesses the shape of the answer from the words of a question.
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

// askingWords are the words of a question in pairs that tell the shape of the
// answer.
func askingWords(plain []string) map[string]bool {
	out := map[string]bool{}
	for i := range len(plain) - 1 {
		if _, ok := shapeWords[plain[i]+" "+plain[i+1]]; ok {
			out[plain[i]], out[plain[i+1]] = true, true
		}
	}
	return out
}

// fit is how well a word of an answer fits. A capital letter tells nothing of
// the first word of a sentence.
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
