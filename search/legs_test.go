package search_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow/internal/rank"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// TestWeightZeroIsNotAsked: a leg of weight 0 is not asked, and the other keeps its order by
// every fusion.
func TestWeightZeroIsNotAsked(t *testing.T) {
	t.Parallel()
	s := snapshotOf(t, garden(t), "/garden")
	for _, method := range rank.Methods() {
		for _, tt := range []struct {
			name    string
			weights search.Weights
			leg     string
			asked   int
		}{
			{"words", search.Weights{Lexical: 0.3}, search.LegLexical, 0},
			{"meaning", search.Weights{Dense: 0.7}, search.LegDense, 1},
		} {
			t.Run(method+" "+tt.name, func(t *testing.T) {
				t.Parallel()
				m := &meaning{}
				e := engineOf(t, s, search.Options{Embedder: m, Retrieval: search.Retrieval{Weights: tt.weights, Fusion: search.Fusion{Method: method}}})
				got := chunks(list(t, e, "water basil in summer", search.Request{K: 5}))
				if len(m.asked) != tt.asked {
					t.Errorf("the model was asked %d times, want %d", len(m.asked), tt.asked)
				}
				if want := chunks(list(t, e, "water basil in summer", search.Request{K: 5, Leg: tt.leg})); !slices.Equal(got, want) || len(got) == 0 {
					t.Errorf("got %v, want the order of the leg alone %v", got, want)
				}
			})
		}
	}
}

// TestHybridFusesLegs: the hybrid list is the fusion of twice as many hits of each leg.
func TestHybridFusesLegs(t *testing.T) {
	t.Parallel()
	s := snapshotOf(t, garden(t), "/garden")
	for _, alpha := range []float64{0.5, 0.2, 0.9} {
		e := engineOf(t, s, search.Options{Embedder: &meaning{}, Dense: search.Dense{Alpha: alpha}})
		weights := map[string]float64{search.LegLexical: 1 - alpha, search.LegDense: alpha}
		for _, query := range []string{"water basil in summer", "dry herbs in the shade", "how long does dried oregano keep"} {
			const k = 3
			var lists [][]state.Hit
			for leg := range weights {
				var hits []state.Hit
				for _, h := range list(t, e, query, search.Request{K: 2 * k, Leg: leg, Ranks: true}).Hits {
					hits = append(hits, h.Hit)
				}
				lists = append(lists, hits)
			}
			want := rank.RRF(rank.Merge(lists...), func(l state.Leg) float64 { return weights[l.Name] })
			got := list(t, e, query, search.Request{K: k, Ranks: true})
			if len(got.Hits) != min(k, len(want)) {
				t.Fatalf("%d hits, want %d", len(got.Hits), min(k, len(want)))
			}
			for i, h := range got.Hits {
				if h.Hit.Chunk != want[i].Chunk || h.Score != want[i].Score || len(h.Legs) != len(want[i].Legs) {
					t.Errorf("alpha %v, %q, hit %d: %s %v, want %s %v", alpha, query, i, h.Chunk.ID, h.Score, want[i].Chunk, want[i].Score)
				}
				for _, l := range h.Legs {
					if l.Share != weights[l.Name] {
						t.Errorf("alpha %v: the share of %s is %v", alpha, l.Name, l.Share)
					}
				}
			}
		}
	}
}

// TestWeightedFusion: by scores the legs weigh 0.7 and 0.3 by default, and each hit says so.
func TestWeightedFusion(t *testing.T) {
	t.Parallel()
	e := engineOf(t, snapshotOf(t, garden(t), "/garden"), search.Options{
		Embedder: &meaning{}, Retrieval: search.Retrieval{Fusion: search.Fusion{Method: rank.ByWeight, Threshold: -1}},
	})
	l := list(t, e, "water basil in summer", search.Request{K: 4})
	both := false
	for i, h := range l.Hits {
		if h.Score < 0 || h.Score > 1 || i > 0 && h.Score > l.Hits[i-1].Score {
			t.Errorf("hit %d scores %v", i, h.Score)
		}
		both = both || len(h.Legs) == 2
	}
	if s := shares(l); s["dense"] != 0.7 || s["lexical"] != 0.3 || !both {
		t.Errorf("shares %v, a hit of both legs: %t", s, both)
	}
}

// TestForeignWords: words that no document holds turn the lexical leg down, and a note says so.
func TestForeignWords(t *testing.T) {
	t.Parallel()
	s := snapshotOf(t, garden(t), "/garden")
	const foreign = "Jak długo pielęgnować i podlewać bazylię w pots?"
	e := engineOf(t, s, search.Options{Embedder: &meaning{}})
	l := list(t, e, foreign, search.Request{})
	if s := shares(l); s["dense"] < 0.5 || s["lexical"] == 0 || !strings.HasPrefix(l.Note, "searched mostly by meaning: the documents hold only ") {
		t.Errorf("shares %v, note %q", s, l.Note)
	}
	found, err := e.Search(t.Context(), state.Query{Text: foreign, Weight: 1}, 5)
	if err != nil || !slices.ContainsFunc(found.Notes, func(n search.Note) bool { return n.Name == "legs" && n.Text == l.Note }) {
		t.Errorf("notes %+v, %v", found.Notes, err)
	}
	l = list(t, e, "water basil in summer", search.Request{})
	if s := shares(l); l.Note != "" || math.Abs(s["dense"]-0.3) > 0.1 {
		t.Errorf("in the language of the documents: shares %v, note %q", s, l.Note)
	}
	for _, leg := range []string{search.LegLexical, search.LegDense} {
		if l := list(t, e, foreign, search.Request{Leg: leg}); l.Note != "" {
			t.Errorf("by %s alone: note %q", leg, l.Note)
		}
	}
	fixed := engineOf(t, s, search.Options{Embedder: &meaning{}, Dense: search.Dense{Alpha: 0.5}})
	if l := list(t, fixed, foreign, search.Request{}); l.Note != "" || shares(l)["dense"] != 0.5 {
		t.Errorf("with alpha: shares %v, note %q", shares(l), l.Note)
	}
}

// TestGraphLeg: names and relations take part only if they have a weight or hops, and else are not even read.
func TestGraphLeg(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		r    search.Retrieval
		want string
		read bool // names and relations
	}{
		{"default", search.Retrieval{}, "cabinet.md#0 volumes.md#0", false},
		{"weight 0", search.Retrieval{Weights: search.Weights{Lexical: 1}}, "cabinet.md#0 volumes.md#0", false},
		{"names", search.Retrieval{Weights: search.Weights{Lexical: 1, Graph: 1}}, "cabinet.md#0 (graph) volumes.md#0", true},
		{"relations", search.Retrieval{Hops: 1}, "cabinet.md#0 volumes.md#0 backups.md#0 (graph)", true},
		{"no hops", search.Retrieval{Hops: -1}, "cabinet.md#0 volumes.md#0", false},
		{"names alone", search.Retrieval{Weights: search.Weights{Graph: 1}}, "cabinet.md#0 (graph)", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db := open(t)
			volumes := file("volumes.md", "Volumes", "A cabinet for data.")
			volumes.File.Metadata = state.Metadata{"cites": "backups.md"}
			put(t, db, "/docs", volumes, file("backups.md", "Backups", "Keep a copy elsewhere."), file("cabinet.md", "Cabinet", "Furniture."))
			var got []string
			e := engineOf(t, snapshotOf(t, db, "/docs"), search.Options{Retrieval: tt.r})
			find := func() (*search.Listing, int64) {
				before := db.Counters().Statements
				l := list(t, e, "cabinet", search.Request{K: 5})
				return l, db.Counters().Statements - before
			}
			l, first := find()
			_, second := find()
			if read := first > second+1; read != tt.read { // what cut the passages takes one statement, once
				t.Errorf("names and relations were read: %t, by %d statements, then %d", read, first, second)
			}
			for _, h := range l.Hits {
				got = append(got, h.Chunk.ID)
				if slices.ContainsFunc(h.Legs, func(l state.Leg) bool { return l.Name == search.LegGraph }) {
					got = append(got, "(graph)")
				}
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("found %s, want %s", got, tt.want)
			}
		})
	}
}

// TestNameAlonePassesTheThreshold: the threshold is a mean over the lists that hold a hit, so a
// hit of one list of little weight passes.
func TestNameAlonePassesTheThreshold(t *testing.T) {
	t.Parallel()
	db := open(t)
	tagged := file("a.md", "Furniture", "Wood.")
	tagged.File.Metadata = state.Metadata{"tags": "armoire"}
	put(t, db, "/docs", tagged)
	e := engineOf(t, snapshotOf(t, db, "/docs"), search.Options{Retrieval: search.Retrieval{
		Fusion: search.Fusion{Method: rank.ByWeight}, Weights: search.Weights{Dense: 0.6, Lexical: 0.3, Graph: 0.1},
	}})
	if l := list(t, e, "armoire", search.Request{}); len(l.Hits) != 1 || l.Hits[0].Legs[0].Name != search.LegGraph {
		t.Errorf("found %+v", l.Hits)
	}
}

// TestListWithoutDuplicates: of passages that say nearly the same the best stays; a listing of the
// ranking alone has all.
func TestListWithoutDuplicates(t *testing.T) {
	t.Parallel()
	words := "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau needle"
	db := open(t)
	put(t, db, "/docs",
		file("a", "", words+" needle"), file("b", "", words+" needle"), file("c", "", strings.Replace(words, "tau", "upsilon", 1)+" needle"),
		file("d", "", "A needle in other words, of which there are some."),
		file("e", "", "Another text about no such thing, but with a needle in it, and longer than all others are."))
	e := engineOf(t, snapshotOf(t, db, "/docs"), search.Options{})
	l := list(t, e, "needle", search.Request{K: 4})
	if got := chunks(l); l.Duplicates != 2 || len(got) != 3 || !slices.Contains(got, "d#0") || !slices.Contains(got, "e#0") {
		t.Errorf("%d near-duplicates left out of %v", l.Duplicates, got)
	}
	put(t, db, "/docs", file("f", "", strings.Replace(words, "tau", "tau 2024", 1)), file("g", "", strings.Replace(words, "tau", "tau 2025", 1)))
	e = engineOf(t, snapshotOf(t, db, "/docs"), search.Options{})
	if got := chunks(list(t, e, "tau", search.Request{K: 9})); !slices.Contains(got, "f#0") || !slices.Contains(got, "g#0") {
		t.Errorf("of two versions found %v", got)
	}
	if l := list(t, e, "needle", search.Request{K: 5, Ranks: true}); len(l.Hits) != 5 || l.Duplicates != 0 {
		t.Errorf("the ranking alone has %d hits", len(l.Hits))
	}
}

// TestMinScore: the lowest score itself counts.
func TestMinScore(t *testing.T) {
	t.Parallel()
	db := open(t)
	put(t, db, "/docs", file("a", "", "needle"), file("b", "", "needle needle hay"), file("c", "", "needle hay hay hay hay"))
	embed(t, db, "/docs")
	e := engineOf(t, snapshotOf(t, db, "/docs"), search.Options{Embedder: &meaning{}, Retrieval: search.Retrieval{Rerank: search.RerankOff}})
	for _, leg := range []string{search.LegDense, search.LegLexical, search.LegHybrid} {
		all := list(t, e, "needle", search.Request{K: 3, Leg: leg}).Hits
		if len(all) != 3 || all[1].Score <= all[2].Score {
			t.Fatalf("%s: %+v", leg, all)
		}
		for _, lowest := range []float64{all[1].Score, math.Nextafter(all[1].Score, 1e9), 0, 1e9} {
			want := 0
			for _, h := range all {
				if h.Score >= lowest {
					want++
				}
			}
			if got := list(t, e, "needle", search.Request{K: 3, Leg: leg, MinScore: lowest}); len(got.Hits) != want {
				t.Errorf("%s: %d hits score %v and more, want %d", leg, len(got.Hits), lowest, want)
			}
		}
	}
}

// TestListing: snippets mark the words of the query, phrases must stand together, and filters
// apply.
func TestListing(t *testing.T) {
	t.Parallel()
	e := engineOf(t, snapshotOf(t, garden(t), "/garden"), search.Options{})
	l := list(t, e, `"dark jar"`, search.Request{})
	if len(l.Hits) != 1 || l.Hits[0].Chunk.ID != "drying.md#1" || l.Passing != 4 {
		t.Fatalf("by phrase: %+v", l)
	}
	var marked []string
	for _, m := range l.Hits[0].Snippet.Marks {
		marked = append(marked, l.Hits[0].Chunk.Text[m.Start:m.End])
	}
	if !slices.Equal(marked, []string{"dark", "jar"}) {
		t.Errorf("marked %q", marked)
	}
	var f state.Filter
	f.AddPaths("thyme*")
	if l := list(t, e, "water", search.Request{Filter: f}); l.Passing != 1 || !slices.Equal(chunks(l), []string{"thyme.md#0"}) {
		t.Errorf("filtered: %v of %d", chunks(l), l.Passing)
	}
	found, err := e.Search(t.Context(), state.Query{Text: "oregeno", Weight: 1}, 3)
	if err != nil || len(found.Notes) != 1 || found.Notes[0].Text != `oregano, because no document has "oregeno"` {
		t.Errorf("notes %+v, %v", found.Notes, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.List(ctx, state.Query{Text: "water", Weight: 1}, search.Request{}); err == nil {
		t.Error("a cancelled context is no error")
	}
}

// TestOptionsAreChecked: each fault is named.
func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	s := snapshotOf(t, newIndex(t, "/x", "a: b"), "/x")
	for want, o := range map[string]search.Options{
		`fusion "borda" is not one of`:            {Retrieval: search.Retrieval{Fusion: search.Fusion{Method: "borda"}}},
		"weights -1/1: each must be 0 or more":    {Retrieval: search.Retrieval{Weights: search.Weights{Dense: -1, Lexical: 1}}},
		"the depths of the legs must not be":      {Retrieval: search.Retrieval{DenseDepth: -1}},
		"relations are followed over 4 hops":      {Retrieval: search.Retrieval{Hops: 4}},
		"relations are followed over -2 hops":     {Retrieval: search.Retrieval{Hops: -2}},
		`search leg "sparse" is not one of`:       {Dense: search.Dense{Leg: "sparse"}},
		"alpha 1 is not between 0 and 1":          {Dense: search.Dense{Alpha: 1}},
		"alpha -0.1 is not between":               {Dense: search.Dense{Alpha: -0.1}},
		"embedding dimension, tokens, batch":      {Dense: search.Dense{Tokens: -1}},
		`reranking "magic" is not one of auto`:    {Retrieval: search.Retrieval{Rerank: "magic"}},
		"needs a language model":                  {Retrieval: search.Retrieval{Rerank: search.RerankLLM}},
		"needs a model: configure a reranker":     {Retrieval: search.Retrieval{Rerank: search.RerankCrossEncoder}},
		"preference for several sources is 0.5":   {Retrieval: search.Retrieval{Fusion: search.Fusion{MultiSource: 0.5}}},
		"threshold of the fusion is 2, but must ": {Retrieval: search.Retrieval{Fusion: search.Fusion{Threshold: 2}}},
	} {
		if _, err := search.New(t.Context(), s, o); err == nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
