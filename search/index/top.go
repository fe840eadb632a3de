package index

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sync"
)

// candidate is a chunk with its score.
type candidate struct {
	part, chunk int
	score       float64
}

// top keeps the k best candidates, in whatever order they come: a heap with the
// worst at its root.
type top struct {
	k    int
	list []candidate
	// better orders candidates, best first.
	better func(a, b candidate) int

	hoped float64 // a score that k candidates are hoped to reach, see hope
	next  float64 // share of the texts at which to hope again; above 1: never

	from    []candidate // scratch memory of sortClasses
	classes []uint16    // as above
	ends    []uint32    // as above
	scores  []float64   // scratch memory of hope
	terms   []queryTerm // scratch memory of Searcher.ranked
}

// newTop has room for k candidates; k is above 0.
func newTop(k int, better func(a, b candidate) int) *top {
	return &top{k: k, better: better, hoped: math.Inf(-1), list: make([]candidate, 0, min(k, 1024))}
}

//nolint:gochecknoglobals // a pool of scratch memory; what is in it never shows
var tops = sync.Pool{New: func() any { return new(top) }}

// borrowTop is newTop with memory that giveBack makes free for the next, with all
// that ranked returned.
func borrowTop(k int, better func(a, b candidate) int) *top {
	t := tops.Get().(*top) // the pool holds nothing else
	t.k, t.better, t.list = k, better, t.list[:0]
	t.hoped, t.next = math.Inf(-1), 0
	return t
}

func (t *top) giveBack() {
	t.better = nil // holds a searcher, as terms do
	clear(t.terms)
	if cap(t.list) <= mostBorrowed {
		tops.Put(t)
	}
}

// mostBorrowed is how many candidates a top has room for at most that is kept.
const mostBorrowed = 1 << 12

// floor is the score below which no candidate can get in any more, or is hoped not to.
func (t *top) floor() float64 { return max(t.hoped, t.reached()) }

// reached is the score that k candidates reach.
func (t *top) reached() float64 {
	if len(t.list) < t.k {
		return math.Inf(-1)
	}
	return t.list[0].score
}

// hope raises the floor, when a share of all texts was gone through, to what the best
// of these make likely that k of all will reach: were m of the k best expected among
// them, and they are as the rest, so seldom as one time in a hundred more than
// m + 2.5·√m + 1.5 are. Whoever hopes asks held in the end.
func (t *top) hope(share float64) {
	if share < t.next {
		return
	}
	t.next = hopeAgain * share
	m := float64(t.k) * share
	rank := int(math.Ceil(m + 2.5*math.Sqrt(m) + 1.5))
	if rank >= t.k {
		t.next = 2
		return
	}
	if rank > len(t.list) {
		return
	}
	t.scores = t.scores[:0]
	for _, c := range t.list {
		t.scores = append(t.scores, c.score)
	}
	slices.Sort(t.scores)
	t.hoped = max(t.hoped, t.scores[len(t.scores)-rank])
}

// hopeAgain is by how much the share grows from hope to hope.
const hopeAgain = 1.5

// held reports whether no candidate was turned down that is one of the k best. Where
// one may have been, it makes ready to go through all again, now for sure: what
// k candidates reached stays the floor.
func (t *top) held() bool {
	sure := t.reached()
	if sure >= t.hoped {
		return true
	}
	t.list, t.hoped, t.next = t.list[:0], sure, 2
	return false
}

func (t *top) offer(c candidate) {
	if len(t.list) < t.k {
		t.list = append(t.list, c)
		for i := len(t.list) - 1; i > 0; {
			parent := (i - 1) / 2
			if !t.worse(i, parent) {
				return
			}
			t.list[i], t.list[parent] = t.list[parent], t.list[i]
			i = parent
		}
		return
	}
	if c.score < t.list[0].score || c.score == t.list[0].score && t.better(c, t.list[0]) >= 0 {
		return
	}
	t.list[0] = c
	for i := 0; ; {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(t.list); child++ {
			if t.worse(child, worst) {
				worst = child
			}
		}
		if worst == i {
			return
		}
		t.list[i], t.list[worst] = t.list[worst], t.list[i]
		i = worst
	}
}

// worse reports whether the candidate at i is worse than that at j. Most differ in
// their scores, which better would look at first.
func (t *top) worse(i, j int) bool {
	if a, b := t.list[i].score, t.list[j].score; a != b {
		return a < b
	}
	return t.better(t.list[i], t.list[j]) > 0
}

// ranked returns the k best candidates, best first. The top is used up then.
func (t *top) ranked() []candidate {
	if !t.sortClasses() {
		slices.SortFunc(t.list, t.better)
	}
	return t.list[:min(t.k, len(t.list))]
}

// Classes of scores that candidates are sorted by, of which each has few.
const (
	leastClasses = 1 << 8
	mostClasses  = 1 << 12
	// fewInClass are put in order as they come.
	fewInClass = 16
)

// sortClasses sorts candidates by the class of their score, and those of a class by
// themselves, which has fewer branches that would be mispredicted than to compare them all. It
// reports whether their scores have classes.
func (t *top) sortClasses() bool {
	least, greatest := math.Inf(1), math.Inf(-1)
	for i := range t.list {
		least, greatest = min(least, t.list[i].score), max(greatest, t.list[i].score)
	}
	n := min(max(leastClasses, 1<<bits.Len(uint(len(t.list)))), mostClasses)
	scale := float64(n-1) / (greatest - least)
	if !(scale > 0 && scale <= math.MaxFloat64) {
		return false
	}
	t.ends = slices.Grow(t.ends[:0], n)[:n]
	clear(t.ends)
	t.classes, t.from = slices.Grow(t.classes[:0], len(t.list)), append(t.from[:0], t.list...)
	for _, c := range t.from {
		class := uint16((greatest - c.score) * scale)
		t.classes = append(t.classes, class)
		t.ends[class]++
	}
	at := uint32(0)
	for class, n := range t.ends {
		t.ends[class] = at
		at += n
	}
	for i, class := range t.classes {
		t.list[t.ends[class]] = t.from[i]
		t.ends[class]++
	}
	start := uint32(0)
	for _, end := range t.ends {
		if end > start+1 {
			t.sortClass(t.list[start:end])
		}
		start = end
	}
	return true
}

// sortClass sorts the candidates of a class.
func (t *top) sortClass(list []candidate) {
	if len(list) > fewInClass {
		slices.SortFunc(list, t.better)
		return
	}
	for i, c := range list {
		for i > 0 && (c.score > list[i-1].score || c.score == list[i-1].score && t.better(c, list[i-1]) < 0) {
			list[i] = list[i-1]
			i--
		}
		list[i] = c
	}
}

// heap has its least value first.
type heap[T cmp.Ordered] []T

// order makes a heap of values in any order.
func (h heap[T]) order() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
}

// keep adds a value, unless k greater ones are there; at most k stay.
func (h *heap[T]) keep(k int, v T) {
	if list := *h; len(list) >= k {
		if list[0] < v {
			list[0] = v
			list.sink(0)
		}
		return
	}
	*h = append(*h, v)
	list := *h
	for i := len(list) - 1; i > 0 && list[i] < list[(i-1)/2]; i = (i - 1) / 2 {
		list[i], list[(i-1)/2] = list[(i-1)/2], list[i]
	}
}

// pop takes the least value out.
func (h *heap[T]) pop() T {
	list := *h
	least, last := list[0], len(list)-1
	list[0] = list[last]
	*h = list[:last]
	h.sink(0)
	return least
}

func (h heap[T]) sink(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if h[child] < h[least] {
				least = child
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
