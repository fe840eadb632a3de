package index

import (
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
	k    int
	list []candidate
	// better orders candidates, best first.
	better func(a, b candidate) int
}

// newTop has room for k candidates; k is above 0.
func newTop(k int, better func(a, b candidate) int) *top {
	return &top{k: k, better: better, list: make([]candidate, 0, min(k, 1024))}
}

// floor is the score below which no candidate can get in any more.
func (t *top) floor() float64 {
	if len(t.list) < t.k {
		return math.Inf(-1)
	}
	return t.list[0].score
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
	if c.score < t.list[0].score || t.better(c, t.list[0]) >= 0 {
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

// worse reports whether the candidate at i is worse than that at j.
func (t *top) worse(i, j int) bool { return t.better(t.list[i], t.list[j]) > 0 }

// ranked returns the k best candidates, best first. The top must not be used afterwards.
func (t *top) ranked() []candidate {
	slices.SortFunc(t.list, t.better)
	return t.list[:min(t.k, len(t.list))]
}
