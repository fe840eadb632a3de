package topology

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// randomGraph is a graph of up to a dozen nodes: forks, branches, picks, waits, handlers and cycles.
func randomGraph(r *rand.Rand) Graph {
	g := Graph{Nodes: map[string]Node{}}
	n := 4 + r.IntN(9)
	name := func(i int) string {
		if i >= n {
			return End
		}
		return fmt.Sprintf("n%d", i)
	}
	for i := range n {
		g.Order = append(g.Order, name(i))
	}
	r.Shuffle(n, func(i, j int) { g.Order[i], g.Order[j] = g.Order[j], g.Order[i] })
	// Mostly later nodes, and the same ones often, so that ways run side by side and meet.
	next := func(i int) string {
		switch r.IntN(8) {
		case 0:
			return name(r.IntN(n + 1))
		case 1, 2:
			return name(i + 1)
		case 3, 4:
			return name(n - 1)
		default:
			return name(min(n, i+1+r.IntN(3)))
		}
	}
	wide := 1 + r.IntN(n)
	for i := range wide {
		g.Edges = append(g.Edges, Edge{Start, name(i)})
	}
	for i := range n {
		var node Node
		if r.IntN(3) == 0 || i == n-1 && r.IntN(2) == 0 {
			node.Wait = Join
		}
		several := map[string]bool{}
		for range 1 + r.IntN(2)*r.IntN(3) {
			several[next(max(i, wide-1))] = true
		}
		var to []string
		for i := range n + 1 {
			if several[name(i)] {
				to = append(to, name(i))
			}
		}
		switch r.IntN(6) {
		case 0:
			g.Branches = append(g.Branches, Branch{From: name(i), To: to})
		case 1:
			node.Picks, node.To = true, to
		default:
			for _, t := range to {
				g.Edges = append(g.Edges, Edge{name(i), t})
			}
		}
		if r.IntN(12) == 0 {
			node.Handler = next(i)
		}
		g.Nodes[name(i)] = node
	}
	return g
}

// TestKindsHideNothing compares Check with a check that follows every pair of ways.
func TestKindsHideNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	whole, meet := 0, 0
	for range 5_000 {
		g := randomGraph(r)
		got, want := fmt.Sprint(check(g, 0)), fmt.Sprint(check(g, math.MaxInt))
		if got != want {
			t.Fatalf("%+v:\ngot  %s\nwant %s", g, got, want)
		}
		if want == "<nil>" {
			whole++
		} else if strings.Contains(want, "set Wait: Join") {
			meet++
		}
	}
	if whole < 250 || meet < 500 {
		t.Errorf("%d graphs without faults, %d whose ways meet: too few to compare", whole, meet)
	}
	t.Logf("%d graphs without faults, %d whose ways meet", whole, meet)
}
