package ragflow_test

import (
	"bytes"
	"errors"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/ingest"
	"example.com/ragflow/llm"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// Presets by name say how many passages are listed
// and how deep each leg looks.
func TestPresets(t *testing.T) {
	want := []string{"balanced", "fast", "accurate", "code", "conservative", "exploratory"}
	if got := ragflow.PresetNames(); !slices.Equal(got, want) {
		t.Errorf("presets %v, want %v", got, want)
	}
	docs := library(t)
	m := newMeaning("meaning")
	for _, p := range ragflow.Presets() {
		t.Run(p.Name, func(t *testing.T) {
			a := open(t, ragflow.Config{Docs: []string{docs}, Models: ragflow.Models{Embedder: m}, Preset: p.Name})
			r := searchLeg(t, a, "how long does a basil plant keep in summer", 0, "")
			if len(r.Hits) > p.TopK || len(r.Hits) == 0 {
				t.Errorf("%d hits, want at most %d", len(r.Hits), p.TopK)
			}
			for _, h := range r.Hits {
				for _, l := range h.Legs {
					if p.Leg != "" && l.Name != p.Leg {
						t.Errorf("leg %s was asked", l.Name)
					}
					depth := map[string]int{"dense": p.DenseDepth, "lexical": p.LexicalDepth}[l.Name]
					if depth == 0 {
						depth = 2 * p.TopK
					}
					if l.Rank > depth {
						t.Errorf("leg %s gave rank %d, want at most %d", l.Name, l.Rank, depth)
					}
				}
			}
		})
	}
	words := open(t, ragflow.Config{Docs: []string{docs}, Preset: "fast"})
	if r := searchLeg(t, words, "basil", 0, ""); len(r.Hits) == 0 || len(r.Warnings) != 0 {
		t.Errorf("fast without a model: %d hits, warnings %q", len(r.Hits), r.Warnings)
	}
}

func TestRetrievalIsChecked(t *testing.T) {
	if _, err := ragflow.Open(t.Context(), ragflow.Config{Preset: "best"}); err == nil || !strings.Contains(err.Error(), `preset "best" is not one of balanced,`) {
		t.Errorf("unknown preset: %v", err)
	}
}

// A leg that can say little is turned down by itself, and that is said: words of
// another language stand in no document.
func TestWordsAreTurnedDown(t *testing.T) {
	docs := library(t)
	m := newMeaning("meaning")
	a := open(t, ragflow.Config{Docs: []string{docs}, Models: ragflow.Models{Embedder: m}})
	shares := func(r *ragflow.SearchReply) map[string]float64 {
		out := map[string]float64{}
		for _, h := range r.Hits {
			for _, l := range h.Legs {
				out[l.Name] = l.Share
			}
		}
		return out
	}
	const foreign = "Jak długo pielęgnować i podlewać bazylię w pots?"
	r := searchLeg(t, a, foreign, 10, "")
	if s := shares(r); s["dense"] < 0.5 || s["lexical"] == 0 || !strings.Contains(r.Note, "searched mostly by meaning: the documents hold only ") || len(r.Warnings) != 0 {
		t.Errorf("shares %v, note %q, warnings %q", shares(r), r.Note, r.Warnings)
	}
	reply := ask(t, a, "", foreign)
	if !strings.Contains(reply.FlowTraceMD, "searched mostly by meaning") || len(reply.Warnings) != 0 {
		t.Errorf("the trace does not say it, or warnings %q", reply.Warnings)
	}
	r = searchLeg(t, a, "water basil in summer", 10, "")
	if s := shares(r); r.Note != "" || math.Abs(s["dense"]-0.3) > 0.1 {
		t.Errorf("in the language of the documents: shares %v, note %q", s, r.Note)
	}
	for _, leg := range []string{search.LegLexical, search.LegDense} {
		if r := searchLeg(t, a, foreign, 10, leg); r.Note != "" {
			t.Errorf("by %s alone: note %q", leg, r.Note)
		}
	}
	told := open(t, ragflow.Config{Docs: []string{docs}, Models: ragflow.Models{Embedder: m}, Dense: search.Dense{Alpha: 0.5}})
	if r := searchLeg(t, told, foreign, 10, ""); r.Note != "" || shares(r)["dense"] != 0.5 {
		t.Errorf("with alpha: shares %v, note %q", shares(r), r.Note)
	}
}

// Names of documents and relations between them have no part in a
// search unless they are given one. Their relations are not even read.
func TestGraphIsOff(t *testing.T) {
	docs := t.TempDir()
	write(t, filepath.Join(docs, "volumes.md"), "---\ncites: backups.md\n---\n# Volumes\n\nA cabinet for data.\n")
	write(t, filepath.Join(docs, "backups.md"), "# Backups\n\nKeep a copy elsewhere.\n")
	write(t, filepath.Join(docs, "cabinet.md"), "# Cabinet\n\nFurniture.\n")
	for _, tt := range []struct {
		name  string
		r     search.Retrieval
		graph int  // hits with a leg of the graph
		reads bool // of documents, by the first search
		want  string
	}{
		{"default", search.Retrieval{}, 0, false, "cabinet.md volumes.md"},
		{"weight 0", search.Retrieval{Weights: search.Weights{Lexical: 1}}, 0, false, "cabinet.md volumes.md"},
		{"by names too", search.Retrieval{Weights: search.Weights{Lexical: 1, Graph: 1}}, 1, true, "cabinet.md volumes.md"},
		{"following relations", search.Retrieval{Hops: 1}, 1, true, "cabinet.md volumes.md backups.md"},
		{"exploratory", search.Retrieval{}, 1, true, "cabinet.md volumes.md backups.md"},
		{"exploratory without relations", search.Retrieval{Hops: -1}, 0, false, "cabinet.md volumes.md"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			preset, _, _ := strings.Cut(tt.name, " ")
			if preset != "exploratory" {
				preset = ""
			}
			a := open(t, ragflow.Config{Docs: []string{docs}, DataDir: t.TempDir(), Retrieval: tt.r, Preset: preset})
			if err := ragflow.Bind(t.Context(), a); err != nil {
				t.Fatal(err)
			}
			find := func() (*ragflow.SearchReply, int64) {
				before := ragflow.Statements(a)
				r := searchLeg(t, a, "cabinet", 5, "")
				return r, ragflow.Statements(a) - before
			}
			r, first := find()
			_, second := find()
			// The passages take one statement, read or, by the second search, remembered, and
			// what cut them another one, once.
			if read := first > second+1; read != tt.reads {
				t.Errorf("the documents were read: %t", read)
			}
			var sources []string
			graph := 0
			for _, h := range r.Hits {
				sources = append(sources, h.Source)
				if slices.ContainsFunc(h.Legs, func(l state.Leg) bool { return l.Name == search.LegGraph }) {
					graph++
				}
			}
			if got := strings.Join(sources, " "); got != tt.want || graph != tt.graph {
				t.Errorf("found %s, %d by the graph; want %s, %d", got, graph, tt.want, tt.graph)
			}
			// The flow of an answer searches the same way.
			reply := ask(t, a, "", "Where is the cabinet?")
			if told := strings.Contains(reply.FlowTraceMD, "via volumes.md cites"); told != (tt.want == "cabinet.md volumes.md backups.md") {
				t.Errorf("the trace tells of relations: %t\n%s", told, reply.FlowTraceMD)
			}
		})
	}
	for name, r := range map[string]search.Retrieval{"4": {Hops: 4}, "-2": {Hops: -2}} {
		if _, err := ragflow.Open(t.Context(), ragflow.Config{Retrieval: r}); err == nil || !strings.Contains(err.Error(), "relations are followed over "+name+" hops") {
			t.Errorf("%s hops: %v", name, err)
		}
	}
}

// The least score counts in, the search is logged, and
// errors can be told apart.
func TestRetrieveWithScores(t *testing.T) {
	var log bytes.Buffer
	docs := t.TempDir()
	for i, s := range []string{"needle", "needle needle hay", "needle hay hay hay hay"} {
		write(t, filepath.Join(docs, string(rune('a'+i))+".txt"), s+"\n")
	}
	m := newMeaning("meaning")
	a := open(t, ragflow.Config{
		Docs: []string{docs}, Models: ragflow.Models{Embedder: m}, Retrieval: search.Retrieval{Rerank: search.RerankOff}, Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	for _, leg := range []string{search.LegDense, search.LegLexical, search.LegHybrid} {
		all := searchLeg(t, a, "needle", 3, leg).Hits
		if len(all) != 3 || all[1].Score <= all[2].Score {
			t.Fatalf("%s: %+v", leg, all)
		}
		for _, least := range []float64{all[1].Score, math.Nextafter(all[1].Score, 1e9), 0, 1e9} {
			want := 0
			for _, h := range all {
				if h.Score >= least {
					want++
				}
			}
			got, err := a.Search(t.Context(), "needle", ragflow.SearchOptions{Request: search.Request{K: 3, Leg: leg, MinScore: least}})
			if err != nil || len(got.Hits) != want {
				t.Errorf("%s: %d hits score %v and more, %v; want %d", leg, len(got.Hits), least, err, want)
			}
		}
	}
	if want := `msg="Retrieved 3 chunks for query (top_k=3, metric=cosine)" leg=dense`; !strings.Contains(log.String(), want) {
		t.Errorf("the log lacks %s", want)
	}
	m.fail = func(llm.Purpose, int) error { return errors.New("out of order") }
	_, err := a.Search(t.Context(), "other words", ragflow.SearchOptions{Request: search.Request{Leg: search.LegDense}})
	if !errors.Is(err, search.ErrEmbedding) || !strings.Contains(err.Error(), "out of order") {
		t.Errorf("an embedder that fails: %v", err)
	}
	if r, err := a.Search(t.Context(), "other words", ragflow.SearchOptions{}); err != nil || len(r.Warnings) != 1 {
		t.Errorf("a search by both legs: %v, %v", r, err)
	}
	empty := open(t, ragflow.Config{DataDir: t.TempDir()})
	if _, err := empty.Search(t.Context(), "needle", ragflow.SearchOptions{}); !errors.Is(err, ingest.ErrNoDocuments) {
		t.Errorf("a collection that is not there: %v", err)
	}
}
