package state_test

import (
	"encoding/json"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/state"
)

func full() state.State {
	return state.State{
		Messages: []state.Message{{ID: "1", Role: state.Human, Content: "q", Time: time.Unix(1700000000, 0).UTC()}},
		Summary:  "so far",
		Scope:    state.Scope{Docs: []string{"/docs"}, Collection: "c", Filter: state.Filter{Must: []state.Condition{{Key: "k", Op: state.OpExists}}}},
		Recent:   []state.Exchange{{Question: "q", Terms: []string{"t"}, Chunks: []string{"c"}}},
		Turn: state.Turn{
			Query: "q", Language: "en", Route: state.RouteSearch, Attempts: 2, Answer: "a", Abstained: true, Model: "offline",
			Queries:   []state.Query{{Text: "q", Weight: 1, Why: "raw", Attempt: 1, Boosts: []state.Boost{{Text: "b", Weight: .5}}}},
			Hits:      []state.Hit{{Chunk: "c", Score: .1, Legs: []state.Leg{{Name: "lexical", Rank: 1, Score: 3}}}},
			Grade:     state.Grade{Score: .7, By: "offline", Refined: &state.Query{Text: "r", Weight: 1}},
			Sources:   []state.Source{{Chunk: state.Chunk{ID: "c", Source: "a.md", Text: "t"}, Score: 1}},
			Citations: []state.Citation{{N: 1, Source: "a.md", Quote: "t"}},
		},
	}
}

func TestZeroUpdateChangesNothing(t *testing.T) {
	want := full()
	got, err := state.Apply(full(), state.Update{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the zero update changed the state (-want +got):\n%s", diff)
	}
	body, err := json.Marshal(state.Update{})
	if err != nil {
		t.Fatal(err)
	}
	if string(body) != "{}" {
		t.Errorf("the zero update is %s, want {}", body)
	}
}

// TestEveryFieldCanBeEmptied: Update can set every field of Turn, also to its zero
// value.
func TestEveryFieldCanBeEmptied(t *testing.T) {
	update := reflect.TypeFor[state.Update]()
	for field := range reflect.TypeFor[state.Turn]().Fields() {
		if field.Name == "Query" || field.Name == "Cached" {
			continue // set by NewTurn only
		}
		t.Run(field.Name, func(t *testing.T) {
			of, ok := update.FieldByName(field.Name)
			if !ok {
				t.Fatalf("Update has no field %s", field.Name)
			}
			var u state.Update
			reflect.ValueOf(&u).Elem().FieldByName(field.Name).Set(reflect.New(of.Type.Elem()))
			body, err := json.Marshal(u)
			if err != nil {
				t.Fatal(err)
			}
			var reloaded state.Update
			if err := json.Unmarshal(body, &reloaded); err != nil {
				t.Fatal(err)
			}
			for _, u := range []state.Update{u, reloaded} {
				got, err := state.Apply(full(), u)
				if err != nil {
					t.Fatal(err)
				}
				v := reflect.ValueOf(got.Turn).FieldByName(field.Name)
				if !v.IsZero() && (v.Kind() != reflect.Slice || v.Len() > 0) {
					t.Errorf("Turn.%s = %v, want it empty", field.Name, v)
				}
			}
		})
	}
}

func TestRecentKeepsTheLastFive(t *testing.T) {
	var s state.State
	for i := range 7 {
		before := s.Recent
		next, err := state.Apply(s, state.Update{Recent: &state.Exchange{Question: strconv.Itoa(i)}})
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 && len(before) > 0 && before[len(before)-1].Question != strconv.Itoa(i-1) {
			t.Errorf("turn %d changed the state before it", i)
		}
		s = next
	}
	if got := s.Recent[0].Question + s.Recent[len(s.Recent)-1].Question; len(s.Recent) != state.MaxRecent || got != "26" {
		t.Errorf("kept %d, first and last %q; want 5 and %q", len(s.Recent), got, "26")
	}
}

func TestNewTurnClearsTheScratch(t *testing.T) {
	got, err := state.Apply(full(), state.Update{NewTurn: &state.Turn{Query: "next"}})
	if err != nil {
		t.Fatal(err)
	}
	want := full()
	want.Turn = state.Turn{Query: "next"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
}

func TestStateSurvivesJSON(t *testing.T) {
	body, err := json.Marshal(full())
	if err != nil {
		t.Fatal(err)
	}
	var got state.State
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(full(), got); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
}
