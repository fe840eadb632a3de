package graph_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/golden"
)

// legal is the lifecycle told a second time, state by state.
var legal = map[graph.Status]map[graph.Move]graph.Status{
	graph.Pending: {graph.MoveStart: graph.Running, graph.MoveCancel: graph.Cancelled},
	graph.Running: {
		graph.MoveInterrupt: graph.Interrupted, graph.MoveComplete: graph.Completed, graph.MoveFail: graph.Failed,
		graph.MoveCancel: graph.Cancelled, graph.MoveLimit: graph.Limited, graph.MoveResume: graph.Running,
		graph.MoveSupersede: graph.Superseded,
	},
	graph.Interrupted: {graph.MoveResume: graph.Running, graph.MoveCancel: graph.Cancelled, graph.MoveSupersede: graph.Superseded},
	graph.Failed:      {graph.MoveResume: graph.Running, graph.MoveSupersede: graph.Superseded},
	graph.Cancelled:   {graph.MoveResume: graph.Running, graph.MoveSupersede: graph.Superseded},
	graph.Limited:     {graph.MoveResume: graph.Running, graph.MoveSupersede: graph.Superseded},
	graph.Completed:   {},
	graph.Superseded:  {},
}

func TestLifecycleProperty(t *testing.T) {
	moves := []graph.Move{
		graph.MoveStart, graph.MoveResume, graph.MoveInterrupt, graph.MoveComplete,
		graph.MoveFail, graph.MoveCancel, graph.MoveLimit, graph.MoveSupersede,
	}
	rng := rand.New(rand.NewPCG(3, 4))
	seen := map[graph.Status]bool{}
	for range 500 {
		l := graph.NewLifecycle(graph.Pending)
		for range 20 {
			from, move := l.Status(), moves[rng.IntN(len(moves))]
			seen[from] = true
			want, ok := legal[from][move]
			err := l.Move(t.Context(), move)
			if !ok {
				want = from
				if me, is := errors.AsType[*graph.MoveError](err); !is || me.From != from || me.Move != move {
					t.Fatalf("%s when %s: error %v, want a MoveError", move, from, err)
				}
			} else if err != nil {
				t.Fatalf("%s when %s: %v", move, from, err)
			}
			if l.Status() != want {
				t.Fatalf("%s when %s leads to %s, want %s", move, from, l.Status(), want)
			}
		}
	}
	if len(seen) != len(legal) {
		t.Errorf("reached %d states, want all %d", len(seen), len(legal))
	}
}

func TestLifecycleDiagram(t *testing.T) {
	golden.Assert(t, "testdata/lifecycle.mmd", []byte(graph.LifecycleDiagram()))
}
