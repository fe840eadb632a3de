package graph_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/graph"
)

// TestDefaults: the policies of a graph hold for every node that has none of its own; one node can turn them off.
func TestDefaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := map[string]int{}
		var took time.Duration
		flaky := func(name string, fails int) node {
			return func(context.Context, list) (item, error) {
				if ran[name]++; ran[name] <= fails {
					return item{}, errFlaky
				}
				return item{name}, nil
			}
		}
		slow := func(ctx context.Context, _ list) (item, error) {
			began := time.Now()
			select {
			case <-ctx.Done():
			case <-time.After(time.Hour):
			}
			took = time.Since(began)
			return item{}, ctx.Err()
		}
		off, own := graph.Retry{Attempts: 1}, graph.Retry{Attempts: 4}
		for _, tt := range []struct {
			name string
			task graph.Task[list, item]
			want error
			ran  int
			took time.Duration
		}{
			{"default", graph.Task[list, item]{Run: flaky("a", 2)}, nil, 3, 0},
			{"own", graph.Task[list, item]{Run: flaky("a", 3), Retry: own}, nil, 4, 0},
			{"off", graph.Task[list, item]{Run: flaky("a", 1), Retry: off}, errFlaky, 1, 0},
			{"default timeout", graph.Task[list, item]{Run: slow, Retry: off}, context.DeadlineExceeded, 0, time.Minute},
			{"own timeout", graph.Task[list, item]{Run: slow, Retry: off, Timeout: time.Second}, context.DeadlineExceeded, 0, time.Second},
			{"timeout off", graph.Task[list, item]{Run: slow, Retry: off, Timeout: -1}, nil, 0, time.Hour},
		} {
			clear(ran)
			took = 0
			g := graph.Graph[list, item]{Apply: appendItem, Nodes: tasks{"a": tt.task}, Edges: graph.Chain(graph.Start, "a", graph.End)}
			g.Defaults = graph.Defaults{Retry: graph.Retry{Attempts: 3}, Timeout: time.Minute}
			_, err := must(g).Runner(graph.Options{}).Invoke(t.Context(), ask{})
			if !errors.Is(err, tt.want) || took != tt.took {
				t.Errorf("%s: %v after %v, want %v after %v", tt.name, err, took, tt.want, tt.took)
			}
			if diff := cmp.Diff(tt.ran, ran["a"]); diff != "" {
				t.Errorf("%s: attempts (-want +got):\n%s", tt.name, diff)
			}
		}
	})
}
