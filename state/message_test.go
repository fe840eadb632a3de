package state_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/state"
)

func put(id, content string) state.MessageOp {
	return state.MessageOp{Put: &state.Message{ID: id, Role: state.Human, Content: content}}
}

func remove(id string) state.MessageOp { return state.MessageOp{Remove: id} }

func list(ms []state.Message) string {
	out := make([]string, len(ms))
	for i, m := range ms {
		out[i] = m.ID + "=" + m.Content
	}
	return strings.Join(out, " ")
}

func TestFoldMessages(t *testing.T) {
	tests := []struct {
		name    string
		ops     []state.MessageOp
		want    string
		wantErr string
	}{
		{name: "nothing", want: "a=1 b=2"},
		{name: "append", ops: []state.MessageOp{put("c", "3")}, want: "a=1 b=2 c=3"},
		{name: "replace in place", ops: []state.MessageOp{put("a", "9")}, want: "a=9 b=2"},
		{name: "remove", ops: []state.MessageOp{remove("a")}, want: "b=2"},
		{name: "remove and put again goes last", ops: []state.MessageOp{remove("a"), put("a", "9")}, want: "b=2 a=9"},
		{name: "put and remove again", ops: []state.MessageOp{put("c", "3"), remove("c")}, want: "a=1 b=2"},
		{name: "clear", ops: []state.MessageOp{{Clear: true}}, want: ""},
		{name: "clear then put", ops: []state.MessageOp{{Clear: true}, put("b", "5")}, want: "b=5"},
		{name: "remove unknown", ops: []state.MessageOp{remove("x")}, wantErr: `unknown message "x"`},
		{name: "remove after clear", ops: []state.MessageOp{{Clear: true}, remove("a")}, wantErr: `unknown message "a"`},
		{name: "remove twice", ops: []state.MessageOp{remove("a"), remove("a")}, wantErr: `operation 1`},
		{name: "put without id", ops: []state.MessageOp{put("", "3")}, wantErr: "without an id"},
		{name: "empty operation", ops: []state.MessageOp{{}}, wantErr: "exactly one"},
		{name: "two in one", ops: []state.MessageOp{{Remove: "a", Clear: true}}, wantErr: "exactly one"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ms := []state.Message{*put("a", "1").Put, *put("b", "2").Put}
			before := slices.Clone(ms)
			got, err := state.FoldMessages(ms, tt.ops)
			if diff := cmp.Diff(before, ms); diff != "" {
				t.Errorf("the input changed:\n%s", diff)
			}
			if tt.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wantErr) {
					t.Fatalf("error = %v, want one with %q", err, tt.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if list(got) != tt.want {
				t.Errorf("got %q, want %q", list(got), tt.want)
			}
		})
	}
}

// twin is a slow and simple implementation of FoldMessages.
func twin(ms []state.Message, ops []state.MessageOp) ([]state.Message, bool) {
	for _, op := range ops {
		var next []state.Message
		found := false
		for _, m := range ms {
			switch {
			case op.Clear:
			case op.Put != nil && m.ID == op.Put.ID:
				next, found = append(next, *op.Put), true
			case op.Remove != "" && m.ID == op.Remove:
				found = true
			default:
				next = append(next, m)
			}
		}
		if op.Put != nil && !found {
			next = append(next, *op.Put)
		}
		if op.Remove != "" && !found {
			return nil, false
		}
		ms = next
	}
	return ms, true
}

// FuzzFoldMessages compares FoldMessages with its twin. Folding in two parts must give
// the same result, also after a round trip through JSON.
func FuzzFoldMessages(f *testing.F) {
	f.Add([]byte{0, 1, 2, 16, 17, 32, 0, 1}, 3)
	f.Add([]byte{0, 16, 0, 16, 0}, 1)
	f.Fuzz(func(t *testing.T, script []byte, cut int) {
		var ops []state.MessageOp
		for i, b := range script {
			id := string(rune('a' + b%8))
			switch b / 16 % 3 {
			case 0:
				ops = append(ops, put(id, strconv.Itoa(i)))
			case 1:
				ops = append(ops, remove(id))
			case 2:
				ops = append(ops, state.MessageOp{Clear: true})
			}
		}
		checkFold(t, ops, cut)
	})
}

// checkFold compares a fold with its twin, as a whole and in two parts.
func checkFold(t *testing.T, ops []state.MessageOp, cut int) {
	t.Helper()
	want, ok := twin(nil, ops)
	got, err := state.FoldMessages(nil, ops)
	if ok != (err == nil) {
		t.Fatalf("error = %v, twin ok = %v", err, ok)
	}
	if err != nil {
		return
	}
	if list(got) != list(want) {
		t.Fatalf("got %q, want %q", list(got), list(want))
	}
	n := min(max(cut, 0), len(ops))
	first, err := state.FoldMessages(nil, ops[:n])
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(ops[n:])
	if err != nil {
		t.Fatal(err)
	}
	var rest []state.MessageOp
	if err := json.Unmarshal(body, &rest); err != nil {
		t.Fatal(err)
	}
	both, err := state.FoldMessages(first, rest)
	if err != nil {
		t.Fatal(err)
	}
	if list(both) != list(want) {
		t.Fatalf("in two parts: got %q, want %q", list(both), list(want))
	}
}

// TestFoldMessagesAtLength folds 200,000 random valid operations, or ten million if
// RAGFLOW_FULL is set, and compares each fold with its twin.
func TestFoldMessagesAtLength(t *testing.T) {
	total := 200_000
	if os.Getenv("RAGFLOW_FULL") != "" {
		total = 10_000_000
	}
	random := rand.New(rand.NewPCG(1, 2))
	folds, done := 0, 0
	for done < total {
		ops := fitting(random, 1+random.IntN(64))
		checkFold(t, ops, random.IntN(len(ops)+1))
		folds, done = folds+1, done+len(ops)
	}
	t.Logf("%d operations in %d folds", done, folds)
}

// fitting returns n operations that remove only existing messages.
func fitting(random *rand.Rand, n int) []state.MessageOp {
	ops := make([]state.MessageOp, n)
	var there []string
	for i := range ops {
		switch k := random.IntN(20); {
		case k == 0:
			ops[i], there = state.MessageOp{Clear: true}, nil
		case k < 7 && len(there) > 0:
			at := random.IntN(len(there))
			ops[i], there = remove(there[at]), slices.Delete(there, at, at+1)
		default:
			id := string(rune('a' + random.IntN(16)))
			if !slices.Contains(there, id) {
				there = append(there, id)
			}
			ops[i] = put(id, strconv.Itoa(i))
		}
	}
	return ops
}

func TestLastHuman(t *testing.T) {
	if _, ok := state.LastHuman(nil); ok {
		t.Error("found a message in none")
	}
	ms := []state.Message{
		{ID: "1", Role: state.Human, Content: "first"},
		{ID: "2", Role: state.AI, Content: "answer"},
		{ID: "3", Role: state.Human, Content: "second"},
		{ID: "4", Role: state.AI, Content: "answer"},
	}
	if got, _ := state.LastHuman(ms); got.Content != "second" {
		t.Errorf("got %q, want %q", got.Content, "second")
	}
}

func ExampleFoldMessages() {
	ms, err := state.FoldMessages(nil, []state.MessageOp{
		{Put: &state.Message{ID: "1", Role: state.Human, Content: "helo"}},
		{Put: &state.Message{ID: "2", Role: state.AI, Content: "hi"}},
		{Put: &state.Message{ID: "1", Role: state.Human, Content: "hello"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range ms {
		fmt.Println(m.Role, m.Content)
	}
	// Output:
	// human hello
	// ai hi
}

// The stored form of messages without tools is that of threads from before there were tools.
func TestStoredFormOfMessages(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for want, m := range map[string]state.Message{
		`{"id":"1","role":"human","content":"Hi"}`:                                               {ID: "1", Role: state.Human, Content: "Hi"},
		`{"id":"2","role":"ai","content":"Ho","time":"2026-01-02T03:04:05Z"}`:                    {ID: "2", Role: state.AI, Content: "Ho", Time: at},
		`{"id":"3","role":"ai","content":"","calls":[{"id":"c","name":"add","arguments":"{}"}]}`: {ID: "3", Role: state.AI, Calls: []state.ToolCall{{ID: "c", Name: "add", Arguments: "{}"}}},
		`{"id":"4","role":"tool","content":"7","result":{"call":"c","tool":"add"}}`:              {ID: "4", Role: state.Tool, Content: "7", Result: &state.Result{Call: "c", Tool: "add"}},
	} {
		got, err := json.Marshal(m)
		if err != nil || string(got) != want {
			t.Errorf("got  %s (%v)\nwant %s", got, err, want)
		}
		var back state.Message
		if err := json.Unmarshal([]byte(want), &back); err != nil || !reflect.DeepEqual(back, m) {
			t.Errorf("read back as %+v (%v)", back, err)
		}
	}
}
