package index

import (
	"container/heap"
	"math"
	"slices"
)

// candidate is a chunk with its score.
type candidate struct {
	part, chunk int
	score       float64
}

// top keeps the k best candidates: a heap with the worst at its root.
type top struct {
	k      int
	list   []candidate
	better func(a, b candidate) int // orders candidates, best first
}

// newTop returns a heap for k > 0 candidates.
func newTop(k int, better func(a, b candidate) int) *top {
	return &top{k: k, better: better, list: make([]candidate, 0, min(k, 1024))}
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (t *top) Len() int           { return len(t.list) }
func (t *top) Less(i, j int) bool { return t.better(t.list[i], t.list[j]) > 0 }
func (t *top) Swap(i, j int)      { t.list[i], t.list[j] = t.list[j], t.list[i] }
func (*top) Push(any)             {}
func (*top) Pop() any             { return nil }

// floor returns the score below which no candidate is accepted.
func (t *top) floor() float64 {
	if len(t.list) < t.k {
		return math.Inf(-1)
	}
	return t.list[0].score
}

func (t *top) offer(c candidate) {
	switch {
	case len(t.list) < t.k:
		t.list = append(t.list, c)
		heap.Fix(t, len(t.list)-1)
	case c.score >= t.list[0].score && t.better(c, t.list[0]) < 0:
		t.list[0] = c
		heap.Fix(t, 0)
	}
}

// ranked returns the candidates, best first. The heap must not be used afterwards.
func (t *top) ranked() []candidate {
	slices.SortFunc(t.list, t.better)
	return t.list
}
