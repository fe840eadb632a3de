package rank

import (
	"cmp"
	"math"
	"slices"
	"unicode"

	"example.com/ragflow/internal/text"
)

// tolerance is the rounding error that comparisons of similarities accept.
const tolerance = 1e-9

// Vector is a text as weighted terms: term frequency times inverse document frequency, at unit
// length. The zero Vector is similar to nothing, not even itself. A Vector is immutable.
type Vector struct {
	terms   []uint64 // their hashes, ascending
	weights []float64
}

// NewVector makes the vector of a text from its terms, in any order, with repetitions. idf
// returns the weight of a term; nil means equal weights. Terms with a weight that is not
// positive are ignored.
func NewVector(terms []string, idf func(term string) float64) Vector {
	hashed := make([]hashedTerm, len(terms))
	for i, t := range terms {
		hashed[i] = hashedTerm{hash(t), i}
	}
	slices.SortFunc(hashed, func(a, b hashedTerm) int { return cmp.Compare(a.hash, b.hash) })
	var v Vector
	for i := 0; i < len(hashed); {
		j := i + 1
		for j < len(hashed) && hashed[j].hash == hashed[i].hash {
			j++
		}
		w := float64(j - i)
		if idf != nil {
			w *= idf(terms[hashed[i].at])
		}
		if w > 0 {
			v.terms = append(v.terms, hashed[i].hash)
			v.weights = append(v.weights, w)
		}
		i = j
	}
	v.scale()
	return v
}

// TextVector makes the vector of a text from its words in lower case, with equal weights. In
// scripts without spaces between words each letter with the one before it is a word.
func TextVector(s string) Vector {
	words := make([]uint64, 0, len(s)/5+1)
	word, before := hashStart, rune(0)
	for _, r := range s + " " {
		spaceless := text.Spaceless(r)
		letter := !spaceless && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r))
		if !letter && word != hashStart {
			words, word = append(words, word), hashStart
		}
		switch {
		case spaceless:
			words = append(words, step(step(hashStart, before), r))
		case letter:
			word = step(word, unicode.ToLower(r))
		}
		before = r
	}
	slices.Sort(words)
	var v Vector
	for _, w := range words {
		if n := len(v.terms); n == 0 || v.terms[n-1] != w {
			v.terms, v.weights = append(v.terms, w), append(v.weights, 0)
		}
		v.weights[len(v.weights)-1]++
	}
	v.scale()
	return v
}

// scale makes the length of a vector 1.
func (v *Vector) scale() {
	var square float64
	for _, w := range v.weights {
		square += w * w
	}
	for i := range v.weights {
		v.weights[i] /= math.Sqrt(square)
	}
}

// hashedTerm is the hash of a term, and its index.
type hashedTerm struct {
	hash uint64
	at   int
}

// hash returns the 64-bit FNV-1a hash of a term. Comparing numbers is much faster than
// comparing words, and collisions within one text are negligible.
func hash(s string) uint64 {
	h := hashStart
	for i := range len(s) {
		h = step(h, rune(s[i]))
	}
	return h
}

// step adds a letter to a hash, which begins as hashStart.
func step(h uint64, letter rune) uint64 { return (h ^ uint64(letter)) * 1099511628211 }

const hashStart uint64 = 14695981039346656037

// Cosine returns the similarity of two texts: 0 if they share no term, 1 if they consist of the
// same terms in the same proportion.
func Cosine(a, b Vector) float64 {
	var dot float64
	for i, j := 0, 0; i < len(a.terms) && j < len(b.terms); {
		switch {
		case a.terms[i] < b.terms[j]:
			i++
		case a.terms[i] > b.terms[j]:
			j++
		default:
			dot += a.weights[i] * b.weights[j]
			i++
			j++
		}
	}
	return min(dot, 1)
}

// NearDuplicate is the similarity of hits of a search from which only the best is kept (see
// AtLeast).
const NearDuplicate = 0.95

// Cut reports whether texts of a similarity are near-duplicates. It is monotonic.
type Cut func(similarity float64) bool

// AtLeast accepts t and above. Searches drop at NearDuplicate and above.
func AtLeast(t float64) Cut { return func(s float64) bool { return s >= t-tolerance } }

// Above accepts more than t. The context drops above 0.85.
func Above(t float64) Cut { return func(s float64) bool { return s > t+tolerance } }

// Distinct returns, in order, the indices of texts that are no near-duplicate of one kept
// before.
func Distinct(texts []Vector, duplicate Cut) []int {
	var kept []int
	for i, v := range texts {
		near := func(k int) bool { return duplicate(Cosine(texts[k], v)) }
		if !slices.ContainsFunc(kept, near) {
			kept = append(kept, i)
		}
	}
	return kept
}

// MMR picks up to k of len(relevance) candidates by maximal marginal relevance and returns
// their indices in the order picked. Each pick has the greatest
//
//	lambda·relevance − (1−lambda)·(greatest similarity to one picked before)
//
// of the rest; equal ones are taken in the given order. lambda is within 0–1: 1 orders by
// relevance alone. relevance and similarity should both be within 0–1, or one dominates the
// other. similarity(i, j) is called for i picked and j not.
func MMR(relevance []float64, similarity func(i, j int) float64, lambda float64, k int) []int {
	k = max(0, min(k, len(relevance)))
	left := make([]int, len(relevance))
	closest := make([]float64, len(relevance)) // to a picked candidate
	for i := range left {
		left[i] = i
	}
	picked := make([]int, 0, k)
	value := func(i int) float64 { return lambda*relevance[i] - (1-lambda)*closest[i] }
	for len(picked) < k {
		best := 0
		for at, i := range left {
			if value(i) > value(left[best]) {
				best = at
			}
		}
		pick := left[best]
		left = slices.Delete(left, best, best+1)
		picked = append(picked, pick)
		for _, i := range left {
			if s := similarity(pick, i); len(picked) == 1 || s > closest[i] {
				closest[i] = s
			}
		}
	}
	return picked
}
