package offline

import "math"

// wording is a question word for word, words like "of" and "first" too. What
// those words count is told by the units to choose from: one that few of them
// hold sets a unit apart, however common it is elsewhere.
type wording struct {
	words map[string]int // numbered
	pairs map[[2]int]int // of neighbours, numbered
	// weights of words and pairs by number, and their sums; see weigh
	wordWeights, pairWeights []float64
	allWords, allPairs       float64
}

func newWording(words []string) wording {
	w := wording{words: map[string]int{}, pairs: map[[2]int]int{}}
	for _, word := range words[:min(len(words), mostWords)] {
		if _, ok := w.words[word]; !ok {
			w.words[word] = len(w.words)
		}
	}
	for i := range min(len(words), mostWords) - 1 {
		pair := [2]int{w.words[words[i]], w.words[words[i+1]]}
		if _, ok := w.pairs[pair]; !ok {
			w.pairs[pair] = len(w.pairs)
		}
	}
	return w
}

// marks tells which words and pairs stand in a unit of such words.
func (w *wording) marks(unit []string) (words, pairs []bool) {
	words, pairs = make([]bool, len(w.words)), make([]bool, len(w.pairs))
	last := -1
	for _, word := range unit {
		n, ok := w.words[word]
		if !ok {
			last = -1
			continue
		}
		words[n] = true
		if last >= 0 {
			if pair, ok := w.pairs[[2]int{last, n}]; ok {
				pairs[pair] = true
			}
		}
		last = n
	}
	return words, pairs
}

// nowhere is what a word that no unit holds counts, of what it would count in
// half a unit: it chooses none.
const nowhere = 0.5

// weigh sets the weights by how many units of the passages hold a word or pair.
func (w *wording) weigh(passages []passage) {
	words, pairs := make([]int, len(w.words)), make([]int, len(w.pairs))
	n := 0
	for i := range passages {
		for _, unit := range passages[i].glances() {
			n++
			inWords, inPairs := w.marks(unit.words)
			count(words, inWords)
			count(pairs, inPairs)
		}
	}
	w.wordWeights, w.allWords = rarity(words, n)
	w.pairWeights, w.allPairs = rarity(pairs, n)
}

func count(counts []int, marks []bool) {
	for i, m := range marks {
		if m {
			counts[i]++
		}
	}
}

// rarity are weights of what so many of n units hold, and their sum.
func rarity(counts []int, n int) (weights []float64, sum float64) {
	weights = make([]float64, len(counts))
	for i, c := range counts {
		weights[i] = math.Log((float64(n) + 1) / (float64(c) + 0.5))
		if c == 0 {
			weights[i] *= nowhere
		}
		sum += weights[i]
	}
	return weights, sum
}

// held are the shares of the weight of words and of pairs that a unit holds.
func (w *wording) held(unit []string) (words, pairs float64) {
	inWords, inPairs := w.marks(unit)
	return marked(w.wordWeights, inWords, w.allWords), marked(w.pairWeights, inPairs, w.allPairs)
}

// marked is the share of a sum of weights that is marked.
func marked(weights []float64, marks []bool, all float64) float64 {
	if all == 0 {
		return 0
	}
	sum := 0.0
	for i, m := range marks {
		if m {
			sum += weights[i]
		}
	}
	return sum / all
}
