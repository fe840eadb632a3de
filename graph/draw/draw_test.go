package draw_test

import (
	"context"
	"testing"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/draw"
	"example.com/ragflow/internal/golden"
)

// shape makes a plan that is only drawn, never run.
func shape(t *testing.T, order []string, edges []graph.Edge, branches ...graph.Branch[int]) *graph.Plan[int, int] {
	t.Helper()
	nodes := map[string]graph.Task[int, int]{}
	for _, name := range order {
		nodes[name] = graph.Task[int, int]{Run: func(context.Context, int) (int, error) { return 0, nil }}
	}
	for i := range branches {
		branches[i].Route = func(int) string { return graph.End }
	}
	p, err := graph.Compile(graph.Graph[int, int]{
		Name: t.Name(), Apply: func(s, u int) (int, error) { return s + u, nil }, Nodes: nodes, Order: order, Edges: edges, Branches: branches,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func chain(names ...string) []graph.Edge {
	edges := []graph.Edge{}
	for i := 1; i < len(names); i++ {
		edges = append(edges, graph.Edge{From: names[i-1], To: names[i]})
	}
	return edges
}

func TestDrawings(t *testing.T) {
	const s, e = graph.Start, graph.End
	for name, p := range map[string]*graph.Plan[int, int]{
		"flow": shape(
			t,
			[]string{"ingest", "pre_retrieval", "retrieval", "check_and_refine", "post_retrieval", "summarize_conversation", "generate"},
			append(chain(s, "ingest", "pre_retrieval", "retrieval", "check_and_refine"),
				chain("post_retrieval", "summarize_conversation", "generate", e)...),
			graph.Branch[int]{
				From: "check_and_refine", To: []string{"post_retrieval", "retrieval"},
				Label: map[string]string{"post_retrieval": "otherwise", "retrieval": "score < 0.50, once"},
			},
		),
		"parallel": shape(
			t,
			[]string{"plan", "lexical", "dense", "fuse"},
			append(chain(s, "plan", "lexical", "fuse", e), chain("plan", "dense", "fuse")...),
		),
		"loops": shape(
			t,
			[]string{"入口", "draft", "review", "publish"},
			append(chain(s, "入口", "draft", "review"), chain("publish", e)...),
			graph.Branch[int]{
				From: "review", To: []string{"publish", "review", "draft", "入口", e},
				Label: map[string]string{"publish": `"good" & <done>`, "review": "unsure", "draft": "too\nweak", "入口": "誤り", e: "hopeless"},
			},
		),
		"smallest": shape(t, []string{"a"}, chain(s, "a", e)),
	} {
		t.Run(name, func(t *testing.T) {
			golden.Assert(t, "testdata/"+name+".mmd", []byte(draw.Mermaid(p.Shape())))
		})
	}
}
