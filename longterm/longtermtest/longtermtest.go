// Package longtermtest checks that a kind of [longterm.Table] keeps the contract of its store.
package longtermtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/ragflow/llm"
	"example.com/ragflow/longterm"
)

// Test runs all checks. open returns a new and empty store with the given options; the
// checks close it.
func Test(t *testing.T, open func(*testing.T, longterm.Options) *longterm.Store) {
	for _, check := range []struct {
		name string
		run  func(*testing.T, func(longterm.Options) *longterm.Store)
	}{
		{"facts", facts},
		{"search", search},
		{"letters without marks", folding},
		{"words of now", replaced},
		{"many facts", many},
		{"meaning", meaning},
		{"time to live", timeToLive},
		{"side by side", sideBySide},
		{"bad input", badInput},
	} {
		t.Run(check.name, func(t *testing.T) {
			check.run(t, func(o longterm.Options) *longterm.Store {
				s := open(t, o)
				t.Cleanup(func() {
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				})
				return s
			})
		})
	}
}

func ann() longterm.Namespace { return longterm.Namespace{"users", "ann"} }

func put(t *testing.T, s *longterm.Store, n longterm.Namespace, key string, value any, o ...longterm.PutOption) {
	t.Helper()
	if err := s.Put(t.Context(), n, key, value, o...); err != nil {
		t.Fatal(err)
	}
}

func keys(t *testing.T, s *longterm.Store, n longterm.Namespace, q longterm.Query) []string {
	t.Helper()
	found, err := s.Search(t.Context(), n, q)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, f := range found {
		out = append(out, f.Key)
	}
	return out
}

func facts(t *testing.T, open func(longterm.Options) *longterm.Store) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	s := open(longterm.Options{Clock: func() time.Time { return now }})
	put(t, s, ann(), "diet", map[string]string{"food": "vegetarian", "why": "„zdrowie” 健康"})
	first := now
	now = now.Add(time.Hour)
	put(t, s, ann(), "diet", map[string]string{"food": "vegan"})
	f, err := s.Get(t.Context(), ann(), "diet")
	want := longterm.Fact{Namespace: ann(), Key: "diet", Value: []byte(`{"food":"vegan"}`), Created: first, Updated: now}
	if diff := cmp.Diff(want, f); err != nil || diff != "" {
		t.Error(err, diff)
	}
	put(t, s, longterm.Namespace{"users", "anna"}, "diet", 1)
	put(t, s, longterm.Namespace{"users", "ann", "work"}, "city", "Oslo")
	now = now.Add(time.Hour)
	put(t, s, longterm.Namespace{"users", "ann", "work"}, "desk", 2)
	if diff := cmp.Diff([]string{"desk", "diet", "city"}, keys(t, s, ann(), longterm.Query{})); diff != "" {
		t.Error(diff)
	}
	for range 2 {
		if err := s.Delete(t.Context(), ann(), "diet"); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Get(t.Context(), ann(), "diet"); !errors.Is(err, longterm.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Get(t.Context(), longterm.Namespace{"users", "anna"}, "diet"); err != nil {
		t.Error(err)
	}
}

func search(t *testing.T, open func(longterm.Options) *longterm.Store) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := open(longterm.Options{Clock: func() time.Time { now = now.Add(time.Second); return now }})
	put(t, s, ann(), "diet", map[string]any{"note": "Ann eats no meat and loves mushrooms", "kind": "food"})
	put(t, s, ann(), "home", map[string]any{"note": "Ann lives in Oslo", "kind": "place"})
	put(t, s, ann(), "snack", map[string]any{"note": "Apples", "kind": "food"})
	put(t, s, longterm.Namespace{"users", "bob"}, "diet", map[string]any{"note": "Bob eats mushrooms every day, mushrooms!", "kind": "food"})
	for _, tt := range []struct {
		below longterm.Namespace
		q     longterm.Query
		want  []string
	}{
		{ann(), longterm.Query{Text: "mushroom"}, []string{"diet"}},
		{ann(), longterm.Query{Text: "where does she live"}, []string{"home"}},
		{ann(), longterm.Query{Text: "zebra"}, []string{}},
		{ann(), longterm.Query{}, []string{"snack", "home", "diet"}},
		{ann(), longterm.Query{Where: map[string]any{"kind": "food"}}, []string{"snack", "diet"}},
		{ann(), longterm.Query{Limit: 1, Offset: 1}, []string{"home"}},
		{ann(), longterm.Query{Offset: 9}, []string{}},
		{longterm.Namespace{"users"}, longterm.Query{Text: "mushrooms"}, []string{"diet", "diet"}},
		{nil, longterm.Query{Text: "Oslo"}, []string{"home"}},
		{longterm.Namespace{"user"}, longterm.Query{}, []string{}},
	} {
		if diff := cmp.Diff(tt.want, keys(t, s, tt.below, tt.q)); diff != "" {
			t.Errorf("%v below %v: %s", tt.q, tt.below, diff)
		}
	}
}

// folding: a term without the marks of its letters finds one with them, and the other way round, after one that is
// written alike.
func folding(t *testing.T, open func(longterm.Options) *longterm.Store) {
	s := open(longterm.Options{})
	for key, value := range map[string]string{
		"1": "Ann was born in Gdańsk", "2": "Łódź is far", "3": "Żółty rower", "4": "die Straße in Köln", "5": "Điện thoại ở Đà Nẵng", "6": "smørrebrød",
		"7": "Köln, Dom", "8": "koln, dom", "9": "nothing of this",
	} {
		put(t, s, ann(), key, value)
	}
	for query, want := range map[string][]string{
		"gdansk": {"1"}, "Gdańsk": {"1"}, "GDANSK?": {"1"}, "lodz": {"2"}, "zolty rower": {"3"}, "strasse": {"4"}, "Straße": {"4"}, "da nang": {"5"}, "smorrebrod": {"6"},
		"dom Köln": {"7", "8", "4"}, "dom koln": {"8", "7", "4"}, "gda": {},
	} {
		if diff := cmp.Diff(want, keys(t, s, ann(), longterm.Query{Text: query})); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
}

// replaced: a fact is found by the words that it has now.
func replaced(t *testing.T, open func(longterm.Options) *longterm.Store) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := open(longterm.Options{Clock: func() time.Time { return now }})
	put(t, s, ann(), "city", "Oslo", longterm.TTL(time.Hour))
	put(t, s, ann(), "city", "Bergen", longterm.TTL(time.Hour))
	put(t, s, ann(), "pet", "a cat in Bergen")
	put(t, s, longterm.Namespace{"users", "bob"}, "city", "Bergen")
	check := func(query string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, keys(t, s, ann(), longterm.Query{Text: query}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
	check("Oslo")
	check("Bergen", "city", "pet")
	now = now.Add(time.Hour)
	check("Bergen", "pet")
	if n, err := s.Sweep(t.Context()); err != nil || n != 1 {
		t.Errorf("swept %d, %v", n, err)
	}
	check("Bergen", "pet")
	if err := s.Delete(t.Context(), ann(), "pet"); err != nil {
		t.Fatal(err)
	}
	check("Bergen")
	put(t, s, ann(), "pet", "none")
	check("Bergen")
	check("none", "pet")
}

// many: what a search by words allocates does not grow with the facts that have none of the words, nor with those of
// other namespaces.
func many(t *testing.T, open func(longterm.Options) *longterm.Store) {
	if testing.Short() {
		t.Skip("stores 10,000 facts")
	}
	s := open(longterm.Options{})
	search := func() {
		if got := keys(t, s, ann(), longterm.Query{Text: "which zebra"}); len(got) != 3 {
			t.Errorf("found %v", got)
		}
	}
	fill := func(from, to int) {
		for i := from; i < to; i++ {
			put(t, s, ann(), fmt.Sprintf("k%d", i), map[string]string{"note": fmt.Sprintf("word%d and plain text of fact %d", i, i)})
		}
	}
	for i := range 3 {
		put(t, s, ann(), fmt.Sprintf("z%d", i), "a zebra")
	}
	fill(0, 100)
	few := testing.AllocsPerRun(5, search)
	fill(100, 10_000)
	if all := testing.AllocsPerRun(5, search); all > 2*few+100 {
		t.Errorf("%.0f allocations among 10,000 facts, %.0f among 100", all, few)
	}
	if got := keys(t, s, ann(), longterm.Query{Text: "zebra text", Limit: 4}); !cmp.Equal(got[:3], []string{"z0", "z1", "z2"}) {
		t.Errorf("a rare word beside one that all others have: %v", got)
	}
	if got := keys(t, s, ann(), longterm.Query{Text: "plain text", Limit: 20_000}); len(got) != 10_000 {
		t.Errorf("%d facts share a word, want 10,000", len(got))
	}
}

// letters embeds a text as the counts of a few letters.
type letters struct{ fail error }

func (letters) Model() string { return "letters" }

func (e letters) Embed(_ context.Context, texts []string, _ llm.Purpose) (llm.Embeddings, error) {
	var out llm.Embeddings
	for _, s := range texts {
		out.Vectors = append(out.Vectors, []float32{float32(strings.Count(s, "x")), float32(strings.Count(s, "y"))})
	}
	return out, e.fail
}

func meaning(t *testing.T, open func(longterm.Options) *longterm.Store) {
	s := open(longterm.Options{Embedder: letters{}})
	put(t, s, ann(), "1", "yyy")
	put(t, s, ann(), "2", "xxx")
	if got := keys(t, s, ann(), longterm.Query{Text: "xx"}); len(got) != 1 || got[0] != "2" {
		t.Errorf("found %v", got)
	}
	failing := longterm.Options{Embedder: letters{errors.New("no model")}}
	s = open(failing)
	if err := s.Put(t.Context(), ann(), "1", "x"); err == nil {
		t.Error("a fact without its vector is stored")
	}
	if got := keys(t, s, ann(), longterm.Query{}); len(got) != 0 {
		t.Errorf("found %v", got)
	}
}

func timeToLive(t *testing.T, open func(longterm.Options) *longterm.Store) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := open(longterm.Options{Clock: func() time.Time { return now }})
	put(t, s, ann(), "mood", "happy", longterm.TTL(time.Hour))
	put(t, s, longterm.Namespace{"users", "bob"}, "mood", "calm", longterm.TTL(time.Hour))
	put(t, s, ann(), "diet", "vegan")
	if got := keys(t, s, ann(), longterm.Query{Text: "happy"}); len(got) != 1 {
		t.Errorf("found %v", got)
	}
	now = now.Add(time.Hour)
	if _, err := s.Get(t.Context(), ann(), "mood"); !errors.Is(err, longterm.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if got := keys(t, s, nil, longterm.Query{}); len(got) != 1 || got[0] != "diet" {
		t.Errorf("found %v", got)
	}
	for _, want := range []int{2, 0} {
		if n, err := s.Sweep(t.Context()); err != nil || n != want {
			t.Errorf("swept %d, %v, want %d", n, err, want)
		}
	}
}

func sideBySide(t *testing.T, open func(longterm.Options) *longterm.Store) {
	s := open(longterm.Options{})
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for j := range 5 {
				if err := s.Put(t.Context(), ann(), fmt.Sprintf("%d-%d", i, j), j); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if got := keys(t, s, ann(), longterm.Query{Limit: 100}); len(got) != 40 {
		t.Errorf("%d facts, want 40", len(got))
	}
}

func badInput(t *testing.T, open func(longterm.Options) *longterm.Store) {
	s := open(longterm.Options{})
	long := strings.Repeat("x", longterm.MaxName+1)
	for _, tt := range []struct {
		n     longterm.Namespace
		key   string
		value any
	}{
		{nil, "k", 1},
		{longterm.Namespace{""}, "k", 1},
		{longterm.Namespace{"a\x1fb"}, "k", 1},
		{longterm.Namespace{"a\x00"}, "k", 1},
		{longterm.Namespace{long}, "k", 1},
		{make(longterm.Namespace, longterm.MaxDepth+1), "k", 1},
		{ann(), "", 1},
		{ann(), "\xff", 1},
		{ann(), long, 1},
		{ann(), "k", func() {}},
		{ann(), "k", strings.Repeat("x", longterm.MaxValue)},
	} {
		if err := s.Put(t.Context(), tt.n, tt.key, tt.value); !errors.Is(err, longterm.ErrInvalid) {
			t.Errorf("%.20q %.20q: got %v", tt.n, tt.key, err)
		}
	}
	if err := s.Put(t.Context(), ann(), "k", 1, longterm.TTL(0)); !errors.Is(err, longterm.ErrInvalid) {
		t.Errorf("got %v", err)
	}
	put(t, s, ann(), "'; DROP TABLE facts; --", "x")
	if got := keys(t, s, ann(), longterm.Query{}); len(got) != 1 {
		t.Errorf("found %v", got)
	}
}
