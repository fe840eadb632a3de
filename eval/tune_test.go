package eval_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow"
	"example.com/ragflow/eval"
)

// dial finds the relevant document at a rank that its settings decide.
type dial struct {
	rank func(query string) int
	open *int
}

func (d dial) SearchWith(_ context.Context, query string, o ragflow.SearchOptions) (*ragflow.SearchReply, error) {
	reply := &ragflow.SearchReply{}
	for rank := 1; rank <= min(o.TopK, 20); rank++ {
		source := fmt.Sprint("other ", rank)
		if rank == d.rank(query) {
			source = "right"
		}
		reply.Hits = append(reply.Hits, ragflow.SearchHit{Source: source})
	}
	return reply, nil
}

func (d dial) Close() error { *d.open--; return nil }

// tuningSet is a set of n queries with one relevant document each.
func tuningSet(n int) eval.Judged {
	j := eval.Judged{Name: "set"}
	for i := range n {
		j.Queries = append(j.Queries, eval.Query{ID: strconv.Itoa(i), Text: strconv.Itoa(i), Gains: map[string]int{"right": 1}})
	}
	return j
}

// TestTune finds the one value that helps all queries, and says what it is worth
// on queries held out; values that help one query each are within noise.
func TestTune(t *testing.T) {
	open := 0
	tuning := eval.Tuning{
		Parameters: []eval.Parameter{{Name: "b", Values: []string{"0", "1"}}, {Name: "k", Values: []string{"1", "2", "3"}}},
		Now:        eval.Values{"b": "0.5", "k": "1"},
		Open: func(_ context.Context, v eval.Values) (eval.Retriever, error) {
			open++
			return dial{func(string) int {
				if v["k"] == "3" {
					return 1
				}
				return 4
			}, &open}, nil
		},
	}
	got, err := eval.Tune(t.Context(), tuningSet(20), tuning)
	if err != nil {
		t.Fatal(err)
	}
	want := eval.Values{"b": "0.5", "k": "3"}
	if diff := cmp.Diff(want, got.Best); diff != "" || !got.Recommended || open != 0 {
		t.Errorf("recommended %v, %d left open, -want +got:\n%s", got.Recommended, open, diff)
	}
	if h := got.HeldOut; h.A >= 0.5 || h.B != 1 || h.Wins != 20 || h.P > 0.001 {
		t.Errorf("held out %+v, want all 20 queries won", h)
	}
	if got.Tried != 7 { // 0.5/1, the other two of b, two of k; with k 3 both of b again
		t.Errorf("%d settings tried, want each of 7 once", got.Tried)
	}

	tuning.Parameters[1].Values = []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}
	tuning.Open = func(_ context.Context, v eval.Values) (eval.Retriever, error) {
		open++
		return dial{func(query string) int {
			if strings.HasSuffix(query, v["k"]) && v["k"] != "1" {
				return 3
			}
			return 4
		}, &open}, nil
	}
	noise, err := eval.Tune(t.Context(), tuningSet(20), tuning)
	if err != nil {
		t.Fatal(err)
	}
	if noise.Recommended {
		t.Errorf("recommended what helps each query another value: %+v", noise.HeldOut)
	}
	var table strings.Builder
	if err := noise.WriteTable(&table); err != nil || !strings.Contains(table.String(), "within noise") {
		t.Errorf("%v, table:\n%s", err, table.String())
	}
}

// TestTuneGoesOn measures nothing again that was measured before an interruption.
func TestTuneGoesOn(t *testing.T) {
	known := map[string][]float64{}
	open, opened := 0, 0
	tuning := eval.Tuning{
		Parameters: []eval.Parameter{{Name: "k", Values: []string{"1", "2", "3"}}},
		Now:        eval.Values{"k": "1"}, Workers: 1, Known: map[string][]float64{},
		Record: func(values string, figures []float64) error {
			known[values] = slices.Clone(figures)
			if len(known) == 2 {
				return errors.New("enough")
			}
			return nil
		},
	}
	tuning.Open = func(_ context.Context, v eval.Values) (eval.Retriever, error) {
		open++
		opened++
		return dial{func(string) int { return 4 - len(v["k"]) }, &open}, nil
	}
	if _, err := eval.Tune(t.Context(), tuningSet(4), tuning); err == nil {
		t.Fatal("the error of Record is not told")
	}
	tuning.Known = known
	if _, err := eval.Tune(t.Context(), tuningSet(4), tuning); err != nil {
		t.Fatal(err)
	}
	if opened != 3 || open != 0 {
		t.Errorf("%d searchers opened, %d left open; want one for each value", opened, open)
	}
	if _, err := eval.Tune(t.Context(), tuningSet(1), tuning); err == nil {
		t.Error("one query cannot be cross-validated, but was")
	}
}
