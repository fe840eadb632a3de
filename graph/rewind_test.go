package graph_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/graph"
)

// twoTurns makes a thread of two turns; each stopped once for an answer.
func twoTurns(t *testing.T, restore func(now, then list) ([]item, error)) (*runner, *memStore) {
	t.Helper()
	ran, m := 0, newMemStore()
	r := must(graph.Graph[list, item]{
		Apply: func(s list, u item) (list, error) {
			if u.Add == "-" { // takes one back
				return list{slices.Clip(s.Items[:len(s.Items)-1])}, nil
			}
			return appendItem(s, u)
		},
		Restore: restore,
		Nodes:   tasks{"a": {Run: says("a")}, "b": {Run: asks(&ran, "k")}, "c": {Run: says("c")}},
		Edges:   graph.Chain(graph.Start, "a", "b", "c", graph.End),
	}).Runner(graph.Options{Store: m})
	for _, in := range []string{"1", "2"} {
		if _, err := r.Invoke(t.Context(), ask{Thread: "t", Input: item{in}}); !slices.Equal(ids(err), []string{"b/k"}) {
			t.Fatal(err)
		}
		if _, err := r.Invoke(t.Context(), answered("k")); err != nil {
			t.Fatal(err)
		}
	}
	return r, m
}

// byTheEnd takes words back and adds others.
func byTheEnd(now, then list) (us []item, err error) {
	same := 0
	for same < min(len(now.Items), len(then.Items)) && now.Items[same] == then.Items[same] {
		same++
	}
	us = slices.Repeat([]item{{"-"}}, len(now.Items)-same)
	for _, w := range then.Items[same:] {
		us = append(us, item{w})
	}
	return us, nil
}

func turnsOf(h []graph.Commit) (n int) {
	for _, c := range h {
		n += c.Source.Turns()
	}
	return n
}

// A thread that continues from an earlier commit does what a fork of that commit does, and its log
// keeps everything that was there.
func TestFrom(t *testing.T) {
	_, m := twoTurns(t, byTheEnd)
	for i, at := range history(m) {
		for name, q := range map[string]ask{"resume": {Resume: true}, "input": {Input: item{"3"}}} {
			r, m := twoTurns(t, byTheEnd)
			old := history(m)
			if err := r.Fork(t.Context(), graph.Point{Thread: "t", Commit: at.ID}, "fork"); err != nil {
				t.Fatal(err)
			}
			q.Thread = "fork"
			want, wantErr := r.Invoke(t.Context(), q)
			q.Thread, q.From = "t", at.ID
			got, err := r.Invoke(t.Context(), q)
			if diff := cmp.Diff(want, got); diff != "" && !errors.Is(err, graph.ErrNothingToDo) || !slices.Equal(ids(wantErr)[:1], ids(err)[:1]) && !errors.Is(err, graph.ErrNothingToDo) {
				t.Errorf("%s at commit %d: %v, %v; want %v, %v", name, at.ID, got, err, want, wantErr)
			}
			now := history(m)
			if !cmp.Equal(now[:len(old)], old) {
				t.Errorf("%s at commit %d: the log before it has changed", name, at.ID)
			}
			if errors.Is(err, graph.ErrNothingToDo) {
				if !errors.Is(wantErr, graph.ErrNothingToDo) || i+1 < len(old) && len(now) != len(old) {
					t.Errorf("%s at commit %d: %v and %d commits more; want %v", name, at.ID, err, len(now)-len(old), wantErr)
				}
				continue
			}
			fork, _, err := r.State(t.Context(), "fork")
			here, _, err2 := r.State(t.Context(), "t")
			forked, err3 := r.History(t.Context(), "fork", 0, 100)
			if err = errors.Join(err, err2, err3); err != nil || !cmp.Equal(fork, here) {
				t.Errorf("%s at commit %d: reloaded %v, %v; want %v", name, at.ID, here, err, fork)
			}
			var log []graph.Commit
			for _, f := range forked {
				log = append(log, f.Commit)
			}
			if got, want := turnsOf(now), turnsOf(log); got != want {
				t.Errorf("%s at commit %d: %d turns, want %d", name, at.ID, got, want)
			}
		}
	}
}

// The question that was open at a commit is open again, and takes another answer.
func TestFromQuestion(t *testing.T) {
	r, m := twoTurns(t, byTheEnd)
	asked := history(m)[2].ID
	q := answered("k")
	q.From, q.Answers = asked, map[string]any{"k": approval{Verdict: "no"}}
	got, err := r.Invoke(t.Context(), q)
	if err != nil || whole(got) != "1ak:noc" {
		t.Errorf("%v, %v", got, err)
	}
}

// An edit of an earlier commit continues from there.
func TestEditFrom(t *testing.T) {
	r, m := twoTurns(t, byTheEnd)
	begun := history(m)[1].ID // a of the first turn is done
	if _, _, err := r.Update(t.Context(), edit{Thread: "t", From: begun, Change: func(context.Context, list, graph.Commit) ([]item, error) {
		return nil, errRefused
	}}); !errors.Is(err, errRefused) || len(history(m)) != 10 {
		t.Errorf("%v with %d commits; a change that fails must change nothing", err, len(history(m)))
	}
	s, _, err := r.Update(t.Context(), edit{Thread: "t", From: begun, Change: adds("x")})
	if err != nil || whole(s) != "1ax" {
		t.Errorf("%v, %v", s, err)
	}
	if _, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true}); !slices.Equal(ids(err), []string{"b/k"}) {
		t.Error(err)
	}
	if s, err := r.Invoke(t.Context(), answered("k")); err != nil || whole(s) != "1axk:yesc" {
		t.Errorf("%v, %v", s, err)
	}
}

func TestFromFaults(t *testing.T) {
	for _, tt := range []struct {
		name    string
		restore func(now, then list) ([]item, error)
		at      graph.CommitID
		want    string
	}{
		{"another thread's commit", byTheEnd, 99, "commit 99: not found"},
		{"no Restore", nil, 2, "the graph has no Restore"},
		{"a Restore that forgets", func(list, list) ([]item, error) { return nil, nil }, 2, "do not give the state of commit 2"},
	} {
		r, m := twoTurns(t, tt.restore)
		before := len(history(m))
		_, err := r.Invoke(t.Context(), ask{Thread: "t", Resume: true, From: tt.at})
		if err == nil || !strings.Contains(err.Error(), tt.want) || len(history(m)) != before {
			t.Errorf("%s: %v, %d commits more", tt.name, err, len(history(m))-before)
		}
	}
}

// answered answers questions of thread t.
func answered(keys ...string) ask {
	q := yes(keys...)
	q.Thread = "t"
	return q
}
