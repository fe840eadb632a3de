package rank

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// tolerance is the rounding error that comparisons of similarities accept.
const tolerance = 1e-9

// Vector is a text as its terms, weighted by how often they occur, at unit length. The zero
// Vector is similar to nothing, not even itself. A Vector is immutable.
type Vector struct {
	terms   []uint64 // their hashes, ascending
	weights []float64
}

// NewVector makes the vector of a text from its terms, in any order, with repetitions.
func NewVector(terms []string) Vector {
	hashes := make([]uint64, len(terms))
	for i, t := range terms {
		hashes[i] = hash(t)
	}
	return vectorOf(hashes)
}

// StemVector makes the vector of a text from its words without endings, by the rules of its language.
func StemVector(s string) Vector {
	var stems []string
	for _, t := range text.For(text.Language(s)).Analyze(s) {
		stems = append(stems, t.Term)
	}
	return NewVector(stems)
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
	return vectorOf(words)
}

// vectorOf makes a vector from the hashes of terms, and sorts these.
func vectorOf(hashes []uint64) Vector {
	slices.Sort(hashes)
	var v Vector
	var square float64
	for i := 0; i < len(hashes); {
		j := i + 1
		for j < len(hashes) && hashes[j] == hashes[i] {
			j++
		}
		n := float64(j - i)
		v.terms, v.weights = append(v.terms, hashes[i]), append(v.weights, n)
		square += n * n
		i = j
	}
	for i := range v.weights {
		v.weights[i] /= math.Sqrt(square)
	}
	return v
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

// CosineOf returns the cosine of two dense vectors; 0 if they cannot be compared.
func CosineOf(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	var dot, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / math.Sqrt(aa*bb)
}

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

// Repeats reports whether a passage repeats another one, by the similarity of their texts. Lines that a mail quotes do not
// count, because a reply changes what it quotes. Passages of two documents that differ in a number are versions of one.
func Repeats(a, b *state.Chunk, similarity float64, duplicate Cut) bool {
	if !duplicate(similarity) {
		return false
	}
	x, y := unquoted(a.Text), unquoted(b.Text)
	if len(x)+len(y) < len(a.Text)+len(b.Text) && !duplicate(Cosine(TextVector(x), TextVector(y))) {
		return false
	}
	return a.Root == b.Root && a.Source == b.Source || !text.Versions(a.Text, b.Text)
}

// unquoted returns a text without the lines that begin with ">", as loaders mark what a mail quotes.
func unquoted(s string) string {
	if !strings.Contains(s, ">") {
		return s
	}
	var own strings.Builder
	for line := range strings.Lines(s) {
		if !strings.HasPrefix(strings.TrimLeft(line, " "), ">") {
			own.WriteString(line)
		}
	}
	return own.String()
}
