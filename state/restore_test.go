package state_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/ragflow/state"
)

// through applies updates as a reload does: after a round trip through JSON.
func through(t *testing.T, s state.State, updates ...state.Update) state.State {
	t.Helper()
	for _, u := range updates {
		body, err := json.Marshal(u)
		if err != nil {
			t.Fatal(err)
		}
		var back state.Update
		if err := json.Unmarshal(body, &back); err != nil {
			t.Fatal(err)
		}
		if s, err = state.Apply(s, back); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func said(ids ...string) (ms []state.Message) {
	for _, id := range ids {
		ms = append(ms, state.Message{ID: id, Role: state.Human, Content: "text of " + id})
	}
	return ms
}

func recent(questions ...string) (out []state.Exchange) {
	for _, q := range questions {
		out = append(out, state.Exchange{Question: q})
	}
	return out
}

func TestRestore(t *testing.T) {
	tests := []struct {
		name     string
		now, old state.State
		updates  int
		removed  []string // from the history
	}{
		{
			name: "one more turn",
			now:  state.State{Messages: said("1", "2", "3", "4"), Recent: recent("1", "3"), Turn: state.Turn{Query: "3"}},
			old:  state.State{Messages: said("1", "2"), Recent: recent("1"), Turn: state.Turn{Query: "1"}}, updates: 1, removed: []string{"3", "4"},
		},
		{name: "the first turn", now: state.State{Messages: said("1", "2"), Recent: recent("1")}, updates: 1, removed: []string{"1", "2"}},
		{
			name: "a dropped exchange comes back",
			now:  state.State{Recent: recent("2", "3", "4", "5", "6")}, old: state.State{Recent: recent("1", "2", "3", "4", "5")}, updates: 1,
		},
		{
			name: "the documents asked before come back",
			now:  state.State{Messages: said("1", "2"), Scope: state.Scope{Docs: []string{"/b"}}},
			old:  state.State{Messages: said("1"), Scope: state.Scope{Docs: []string{"/a"}}}, updates: 1, removed: []string{"2"},
		},
		{
			name: "a summary made in between is reverted",
			now:  state.State{Messages: said("3", "4", "5", "6"), Summary: "1 and 2"},
			old:  state.State{Messages: said("1", "2", "3", "4")}, updates: 2, removed: []string{"5", "6"},
		},
		{
			name: "an older summary comes back",
			now:  state.State{Messages: said("5"), Summary: "new"}, old: state.State{Messages: said("4"), Summary: "old"}, updates: 2, removed: []string{"5"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			updates := state.Restore(tt.now, tt.old)
			if diff := cmp.Diff(tt.old, through(t, tt.now, updates...), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("state (-want +got):\n%s", diff)
			}
			var removed []string
			for _, op := range updates[0].Messages {
				removed = append(removed, op.Remove)
			}
			if diff := cmp.Diff(tt.removed, removed); diff != "" || len(updates) != tt.updates || updates[0].Summary != nil {
				t.Errorf("%d updates, want %d; removed (-want +got):\n%s", len(updates), tt.updates, diff)
			}
		})
	}
}

// TestRestoreFromNothing: one update turns the zero state into any state, which pruning
// needs.
func TestRestoreFromNothing(t *testing.T) {
	for _, want := range []state.State{{}, full(), {Summary: "all of it"}} {
		updates := state.Restore(state.State{}, want)
		got := through(t, state.State{}, updates...)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || len(updates) != 1 {
			t.Errorf("%d updates; state (-want +got):\n%s", len(updates), diff)
		}
	}
}
