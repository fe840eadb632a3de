package graphtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow/graph"
)

// Texts reads the updates of the clauses: their members title and text.
func Texts(update []byte) (title, text string) {
	var u struct{ Title, Text string }
	if err := json.Unmarshal(update, &u); err != nil {
		return "", "" // other clauses write other updates
	}
	return u.Title, u.Text
}

// deleter is a store that deletes threads; it is no part of [graph.Store].
type deleter interface {
	Delete(ctx context.Context, threads ...string) error
}

// threadClauses are those of a graph.Lister and of a deleter.
func threadClauses() []clause {
	return append(
		[]clause{{"a deleted thread is gone whole, and no other", deleteThread}},
		need[graph.Lister]([]clause{
			{"a thread is listed with what it holds, one without commits is not", listThreads},
			{"every page follows the one before, in each order", pageThreads},
			{"threads are selected by status", selectByStatus},
			{"a thread has the newest metadata of its commits and of Describe", selectByMetadata},
			{"a thread has the title of its first update until it gets another", titleThreads},
			{"a text is found in titles and updates, not beyond the thread", searchThreads},
			{"a copy has the owner, the title and the metadata of the original", copyFacts},
			{"facts that are too large or of no thread are refused whole", refuseFacts},
			{"a query that has no meaning is refused", refuseQuery},
		})...,
	)
}

// list returns the threads of all pages that an owner sees.
func list(t *testing.T, s graph.Store, owner string, q graph.ThreadQuery) (out []graph.ThreadInfo) {
	t.Helper()
	for i, err := range graph.AllThreads(graph.OwnedBy(t.Context(), owner), s.(graph.Lister), q) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, i)
	}
	return out
}

// names returns the names of the threads that a query selects.
func names(t *testing.T, s graph.Store, q graph.ThreadQuery) string {
	t.Helper()
	var out []string
	for _, i := range list(t, s, "", q) {
		out = append(out, i.Thread)
	}
	return strings.Join(out, " ")
}

func describe(t *testing.T, s graph.Store, thread string, f graph.ThreadFacts) {
	t.Helper()
	if err := s.(graph.Lister).Describe(t.Context(), thread, f); err != nil {
		t.Fatal(err)
	}
}

// input is the commit that begins a run, with an update as JSON.
func input(update string, metadata map[string]string) graph.Batch {
	b := batch(graph.Delta{Body: []byte(update), Notes: graph.Notes{Metadata: metadata}})
	b.Source = graph.SourceInput
	return b
}

func listThreads(t *testing.T, s graph.Store) {
	wantEqual(t, "an empty store", len(list(t, s, "", graph.ThreadQuery{})), 0)
	first, b := hold(t, s, "t"), hold(t, s, "b")
	hold(t, s, "held")
	id := first.commit(batch(delta("x", 0)))
	b.commit(batch(delta("x", 0)))
	first.commit(input(`{"title":"One"}`, map[string]string{"k": "v"}))
	got := list(t, s, "", graph.ThreadQuery{})
	if len(got) != 2 || got[1].Thread != "b" {
		t.Fatalf("threads %s", show(got))
	}
	info, err := s.(graph.Lister).Info(t.Context(), "t")
	wantEqual(t, "Info", info, got[0])
	wantError(t, "Info", err, nil)
	head := headOf(t, s)
	got[0].Created = moment() // is the store's
	wantEqual(t, "the newest", got[0], graph.ThreadInfo{
		Thread: "t", ThreadFacts: graph.ThreadFacts{Title: "One", Metadata: map[string]string{"k": "v"}}, Created: moment(), Touched: head.Time, First: id, Head: head.ID, Status: head.Status,
		Inputs: 1, Bytes: int64(len(delta("x", 0).Body) + len(`{"title":"One"}`)),
	})
	for _, thread := range []string{"held", "unknown"} {
		_, err := s.(graph.Lister).Info(t.Context(), thread)
		wantError(t, "Info of thread "+thread, err, graph.ErrNotFound)
	}
}

func pageThreads(t *testing.T, s graph.Store) {
	writers := map[string]*writer{}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		writers[name] = hold(t, s, name)
		writers[name].commit(input(`{}`, nil))
	}
	writers["b"].commit(input(`{}`, nil))
	writers["a"].commit(batch(delta("x", 0))) // a step does not move it
	for _, tt := range []struct {
		q    graph.ThreadQuery
		want string
	}{
		{graph.ThreadQuery{}, "b e d c a"},
		{graph.ThreadQuery{OldestFirst: true}, "a c d e b"},
		{graph.ThreadQuery{Order: graph.ByCreation}, "e d c b a"},
		{graph.ThreadQuery{Order: graph.ByCreation, OldestFirst: true}, "a b c d e"},
	} {
		for tt.q.Limit = range 6 {
			wantEqual(t, fmt.Sprintf("pages of %+v", tt.q), names(t, s, tt.q), tt.want)
		}
	}
	page, err := s.(graph.Lister).Threads(t.Context(), graph.ThreadQuery{Limit: 5})
	if err != nil || len(page.Threads) != 5 || page.Next != 0 {
		t.Errorf("the last page: %s, %v", show(page), err)
	}
}

func selectByStatus(t *testing.T, s graph.Store) {
	for i, status := range []graph.Status{graph.Completed, graph.Failed, graph.Running, graph.Failed} {
		w := hold(t, s, fmt.Sprint("t", i))
		w.commit(input(`{}`, nil))
		b := batch(delta("x", 0))
		b.Status = status
		w.commit(b)
	}
	for status, want := range map[graph.Status]string{
		"": "t3 t2 t1 t0", graph.Completed: "t0", graph.Failed: "t3 t1", graph.Running: "t2", graph.Interrupted: "",
	} {
		wantEqual(t, "threads of status "+string(status), names(t, s, graph.ThreadQuery{Status: status}), want)
	}
}

func selectByMetadata(t *testing.T, s graph.Store) {
	a, b := hold(t, s, "a"), hold(t, s, "b")
	a.commit(input(`{}`, map[string]string{"user": "ann", "try": "1"}))
	b.commit(input(`{}`, map[string]string{"user": "bob"}))
	hold(t, s, "c").commit(input(`{}`, nil))
	a.commit(input(`{}`, map[string]string{"try": "2"}))
	describe(t, s, "b", graph.ThreadFacts{Metadata: map[string]string{"star": "", "try": "2"}})
	info, err := s.(graph.Lister).Info(t.Context(), "b")
	wantError(t, "Info", err, nil)
	wantEqual(t, "metadata", info.Metadata, map[string]string{"user": "bob", "star": "", "try": "2"})
	for _, tt := range []struct {
		metadata map[string]string
		want     string
	}{
		{map[string]string{"user": "ann"}, "a"},
		{map[string]string{"try": "1"}, ""},
		{map[string]string{"try": "2"}, "a b"},
		{map[string]string{"try": "2", "user": "bob"}, "b"},
		{map[string]string{"star": ""}, "b"},
		{map[string]string{"none": ""}, ""},
	} {
		wantEqual(t, "threads with "+show(tt.metadata), names(t, s, graph.ThreadQuery{Metadata: tt.metadata}), tt.want)
	}
}

func titleThreads(t *testing.T, s graph.Store) {
	title := func() string {
		t.Helper()
		info, err := s.(graph.Lister).Info(t.Context(), "t")
		wantError(t, "Info", err, nil)
		return info.Title
	}
	w := hold(t, s, "t")
	w.commit(input(`{}`, nil))
	wantEqual(t, "without one", title(), "")
	w.commit(input(`{"title":"First"}`, nil))
	w.commit(input(`{"title":"Second"}`, nil))
	wantEqual(t, "after two", title(), "First")
	describe(t, s, "t", graph.ThreadFacts{Title: "Third \xff\x00"})
	describe(t, s, "t", graph.ThreadFacts{})
	w.commit(input(`{"title":"Fourth"}`, nil))
	wantEqual(t, "after a change", title(), "Third \uFFFD\uFFFD")
}

func searchThreads(t *testing.T, s graph.Store) {
	for name, updates := range map[string][]string{
		"a": {`{"title":"Über uns","text":"Who are\nwe?"}`, `{"text":"STRASSE 100%"}`},
		"b": {`{"title":"Other","text":"who knows"}`, `{"text":"x_y"}`},
	} {
		w := hold(t, s, name)
		for _, u := range updates {
			w.commit(input(u, nil))
		}
	}
	for text, want := range map[string]string{
		"": "a b", "über": "a", " WHO ": "a b", "who are we": "a", "strasse": "a", "Other": "b", "0%": "a", "1%": "", "x_y": "b", "x.y": "", "title": "", "'": "",
	} {
		var got []string
		for _, i := range list(t, s, "", graph.ThreadQuery{Text: text}) {
			got = append(got, i.Thread)
		}
		slices.Sort(got)
		wantEqual(t, "threads with "+text, strings.Join(got, " "), want)
	}
}

func copyFacts(t *testing.T, s graph.Store) {
	if _, ok := s.(graph.Copier); !ok {
		t.Skip("the store is no graph.Copier")
	}
	ann := graph.OwnedBy(t.Context(), "ann")
	l, err := s.Acquire(ann, "t", graph.AcquireOptions{})
	wantError(t, "Acquire", err, nil)
	b := input(`{"title":"First","text":"words"}`, map[string]string{"k": "v"})
	b.Release = true
	_, err = s.Commit(ann, l, b)
	wantError(t, "Commit", err, nil)
	describe(t, s, "t", graph.ThreadFacts{Title: "Second"})
	mustCopy(t, s, 0, "copy", nil)
	got := list(t, s, "", graph.ThreadQuery{Metadata: map[string]string{"k": "v"}, Text: "words"})
	if len(got) != 2 || got[0].Thread != "copy" || got[0].Title != "Second" || got[0].Owner != "ann" {
		t.Errorf("threads %s", show(got))
	}
}

func refuseFacts(t *testing.T, s graph.Store) {
	w := hold(t, s, "t")
	w.commit(input(`{}`, map[string]string{"k": "v"}))
	large := map[string]string{"large": strings.Repeat("x", 20_000)}
	refused := func(what string, err error) {
		t.Helper()
		if _, ok := errors.AsType[*graph.EntryError](err); !ok {
			t.Errorf("%s: error %v, want an EntryError", what, err)
		}
	}
	b := input(`{}`, large)
	b.Parent = w.head
	_, err := s.Commit(t.Context(), w.lease, b)
	refused("Commit", err)
	wantEqual(t, "head", headOf(t, s).ID, w.head)
	l := s.(graph.Lister)
	refused("Describe", l.Describe(t.Context(), "t", graph.ThreadFacts{Title: "x", Metadata: large}))
	half := map[string]string{"a": large["large"][:10_000]}
	describe(t, s, "t", graph.ThreadFacts{Metadata: half})
	refused("Describe with the other half", l.Describe(t.Context(), "t", graph.ThreadFacts{Metadata: map[string]string{"b": half["a"]}}))
	info, err := l.Info(t.Context(), "t")
	wantError(t, "Info", err, nil)
	if info.Title != "" || len(info.Metadata) != 2 {
		t.Errorf("thread %s", show(info))
	}
	hold(t, s, "held")
	for _, thread := range []string{"held", "unknown"} {
		wantError(t, "Describe "+thread, l.Describe(t.Context(), thread, graph.ThreadFacts{Title: "x"}), graph.ErrNotFound)
	}
}

func refuseQuery(t *testing.T, s graph.Store) {
	for _, q := range []graph.ThreadQuery{{Order: "size"}, {Text: strings.Repeat("x", 2000)}} {
		_, err := s.(graph.Lister).Threads(t.Context(), q)
		if _, ok := errors.AsType[*graph.EntryError](err); !ok {
			t.Errorf("%.60s: error %v, want an EntryError", show(q), err)
		}
	}
}

func deleteThread(t *testing.T, s graph.Store) {
	d, ok := s.(deleter)
	if !ok {
		t.Skip("the store deletes nothing")
	}
	for _, name := range []string{"t", "other"} {
		w := hold(t, s, name)
		child := delta("child", 1)
		child.Path = "sub/a#1"
		w.commit(batch(delta("root", 0), child))
		w.pend(result("n", 0))
		w.release()
	}
	if err := d.Delete(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	_, err := s.Head(t.Context(), "t")
	wantError(t, "Head", err, graph.ErrNotFound)
	wantEqual(t, "pending", pendingOf(t, s, "t"), nil)
	wantEqual(t, "deltas of the other", nodes(walk(t, s, "other", 0)[0].Deltas), []string{"root", "child"})
	wantEqual(t, "pending of the other", len(pendingOf(t, s, "other")), 1)
	wantError(t, "Delete again", d.Delete(t.Context(), "t"), graph.ErrNotFound)
}
