package graph_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
)

// A new input closes a run that waits. What OnSupersede makes of saved results, answers and parts is in the state,
// and the input applies whatever it does.
func TestOnSupersede(t *testing.T) {
	did := 0
	work := func(ctx context.Context, _ list, part string) (item, error) {
		if part == "a" {
			return item{"a"}, nil // saved as a part
		}
		verdict, err := asksOnce(ctx, part)
		if err != nil {
			if errors.Is(err, graph.ErrSuperseded) {
				return item{"-"}, nil
			}
			return item{}, err
		}
		done, err := graph.Once(ctx, "do", func(context.Context, string) (string, error) {
			did++
			return "", errRefused
		})
		if errors.Is(err, graph.ErrSuperseded) {
			return item{verdict.Add}, nil
		}
		return item{done}, err
	}
	fan := graph.FanOut(0, func(list) []string { return []string{"a", "b", "c"} }, work, joined)
	for name, test := range map[string]struct {
		close node
		want  string
		fault string // in the log
	}{
		"saved":   {fan, "?ayes-!", ""},
		"error":   {fails(errRefused), "?!", "refused"},
		"panic":   {func(context.Context, list) (item, error) { panic("no") }, "?!", "panic: no"},
		"refused": {says("bad"), "?!", "apply update: refused"},
		"none":    {nil, "?!", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := memstore.New()
			p, err := plan(t, tasks{"n": {Run: fan, OnSupersede: test.close}}, "^ n, n $")
			if err != nil {
				t.Fatal(err)
			}
			r := p.Runner(graph.Options{Store: m, CheckCodec: true})
			if _, err := r.Invoke(t.Context(), ask{Thread: "t", Input: item{"?"}}); strings.Join(ids(err), " ") != "n[1]/b n[2]/c" {
				t.Fatal(err)
			}
			if _, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true, Answers: map[string]any{"b": approval{Verdict: "yes"}}}); !errors.Is(err, errRefused) {
				t.Fatal(err)
			}
			before := did
			_, err = p.Runner(graph.Options{Store: m}).Invoke(t.Context(), ask{Thread: "t", Input: item{"!"}})
			if strings.Join(ids(err), " ") != "n[1]/b n[2]/c" || did != before { // the new run has its own questions
				t.Fatal(err, did)
			}
			s, _, err := p.Runner(graph.Options{Store: m}).State(t.Context(), "t")
			if err != nil || whole(s) != test.want {
				t.Errorf("state %q, %v; want %q", whole(s), err, test.want)
			}
			for c, err := range m.Walk(t.Context(), "t", 0) {
				if err != nil {
					t.Fatal(err)
				}
				if c.Status != graph.Superseded {
					continue
				}
				if said := len(c.Deltas) > 0; said != (test.close != nil) || said && !strings.Contains(c.Deltas[0].Error, test.fault) {
					t.Errorf("closed with %+v, want the fault %q", c.Deltas, test.fault)
				}
			}
		})
	}
}
