package ragflow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow"
	"example.com/ragflow/ingest"
	"example.com/ragflow/llm"
	"example.com/ragflow/search"
)

// meaning is an embedder for tests: words that mean the same, in whichever
// language, share a dimension; all others have one by their hash.
type meaning struct {
	mu   sync.Mutex
	seen map[string]int // texts embedded, by purpose and text
	fail error
}

func newMeaning() *meaning { return &meaning{seen: map[string]int{}} }

var concepts = map[string]string{
	"bazylię": "basil", "podlewać": "water",
}

func (*meaning) Model() string { return "meaning" }

func (m *meaning) Embed(_ context.Context, texts []string, p llm.Purpose) (llm.Embeddings, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return llm.Embeddings{}, m.fail
	}
	out := llm.Embeddings{Model: m.Model(), Calls: 1}
	for _, t := range texts {
		m.seen[fmt.Sprint(p, t)]++
		v := make([]float32, 256)
		v[0] = 0.01
		for _, w := range strings.FieldsFunc(strings.ToLower(t), func(r rune) bool { return !unicode.IsLetter(r) }) {
			if c, ok := concepts[w]; ok {
				w = c
			}
			h := fnv.New32a()
			h.Write([]byte(w))
			v[int(h.Sum32())%256]++
			out.Usage.Input++
		}
		out.Vectors = append(out.Vectors, v)
	}
	return out, nil
}

// judge is a cross-encoder for tests: logits by how often a word stands in a
// passage.
type judge struct {
	word  string
	shown []int // passages of each call
	fail  error
}

func (*judge) Model() string { return "judge" }

func (j *judge) Rerank(_ context.Context, _ string, texts []string) (llm.Scores, error) {
	j.shown = append(j.shown, len(texts))
	if j.fail != nil {
		return llm.Scores{}, j.fail
	}
	out := llm.Scores{Calls: 1}
	for _, t := range texts {
		out.Values = append(out.Values, float64(strings.Count(strings.ToLower(t), j.word))-20)
	}
	return out, nil
}

func indexed(t *testing.T, a *ragflow.Assistant) *ingest.Report {
	t.Helper()
	report, err := a.Library().Sync(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func searchLeg(t *testing.T, a *ragflow.Assistant, query string, k int, leg string) *ragflow.SearchReply {
	t.Helper()
	reply, err := a.Search(t.Context(), query, ragflow.SearchOptions{Request: search.Request{K: k, Leg: leg}})
	if err != nil {
		t.Fatalf("search %q by %q: %v", query, leg, err)
	}
	return reply
}

// Presets by name say how many passages are listed
// and how deep each leg looks.
func TestPresets(t *testing.T) {
	want := []string{"balanced", "fast", "accurate", "code", "conservative", "exploratory"}
	if got := ragflow.PresetNames(); !slices.Equal(got, want) {
		t.Errorf("presets %v, want %v", got, want)
	}
	docs := library(t)
	m := newMeaning()
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

// TestRelationsArePartOfAPreset: only the preset for exploring follows relations, and the trace says so.
func TestRelationsArePartOfAPreset(t *testing.T) {
	docs := pages(t, map[string]string{
		"volumes.md": "---\ncites: backups.md\n---\n# Volumes\n\nA cabinet for data.\n",
		"backups.md": "# Backups\n\nKeep a copy elsewhere.\n", "cabinet.md": "# Cabinet\n\nFurniture.\n",
	})
	for preset, want := range map[string]string{"": "cabinet.md volumes.md", "exploratory": "cabinet.md volumes.md backups.md"} {
		a := open(t, ragflow.Config{Docs: docs, Preset: preset})
		var sources []string
		for _, h := range searchLeg(t, a, "cabinet", 5, "").Hits {
			sources = append(sources, h.Source)
		}
		if got := strings.Join(sources, " "); got != want {
			t.Errorf("preset %q: found %s, want %s", preset, got, want)
		}
		reply := ask(t, a, "", "Where is the cabinet?")
		if told := strings.Contains(reply.FlowTraceMD, "via volumes.md cites"); told != (preset != "") {
			t.Errorf("preset %q: the trace tells of relations: %t\n%s", preset, told, reply.FlowTraceMD)
		}
	}
}

// Without an embedder, and if the built-in model is to make no vectors, nothing of the dense leg shows, in no JSON either.
func TestNoEmbedder(t *testing.T) {
	a := open(t, ragflow.Config{Docs: []string{library(t)}, Dense: search.Dense{Leg: search.LegLexical}})
	report := indexed(t, a)
	reply := ask(t, a, "", "How often should I water a basil plant?")
	found := searchLeg(t, a, "water basil", 5, "")
	for _, v := range []any{report, reply, found} {
		out, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"dense", "share", `"warnings":["`} {
			if strings.Contains(string(out), word) {
				t.Errorf("%q stands in %s", word, out)
			}
		}
	}
	if _, err := a.Search(t.Context(), "water", ragflow.SearchOptions{Request: search.Request{K: 5, Leg: search.LegDense}}); !errors.Is(err, search.ErrNoDense) {
		t.Errorf("dense search: %v, want ErrNoDense", err)
	}
	if _, err := a.Library().Reembed(t.Context()); !errors.Is(err, search.ErrNoDense) {
		t.Errorf("Reembed: %v, want ErrNoDense", err)
	}
	if _, err := a.Search(t.Context(), "water", ragflow.SearchOptions{Request: search.Request{K: 5, Leg: "sparse"}}); err == nil {
		t.Error("an unknown leg was searched")
	}
}

// TestReplyTellsOfTheSearch: what package search warns of and notes is in reply and trace, and costs no answer.
func TestReplyTellsOfTheSearch(t *testing.T) {
	docs := library(t)
	m, j := newMeaning(), &judge{word: "dry"}
	a := open(t, ragflow.Config{Docs: []string{docs}, Models: ragflow.Models{Embedder: m, Reranker: j}, Retrieval: search.Retrieval{Rerank: search.RerankCrossEncoder}})
	r := ask(t, a, "", "Jak długo pielęgnować i podlewać bazylię w pots?")
	for _, want := range []string{"searched mostly by meaning", "dense of query 1 #1", "judge"} {
		if !strings.Contains(r.FlowTraceMD, want) || len(r.Warnings) != 0 {
			t.Errorf("warnings %q, and the trace does not hold %q:\n%s", r.Warnings, want, r.FlowTraceMD)
		}
	}
	const question = "How often should I water a basil plant?"
	down := &llm.Error{Provider: "test", Kind: llm.ErrUnavailable, Detail: "no route"}
	m.fail, j.fail = down, down
	want := []string{
		"Dense search left out, searched by words only: the question cannot be embedded: Provider test is not available: no route",
		"Reranking left out, the order of the search stays: Provider test is not available: no route",
	}
	if r = ask(t, a, "t", question); !cmp.Equal(r.Warnings, want) || len(r.Citations) == 0 || !strings.Contains(r.FlowTraceMD, "Dense search left out") {
		t.Errorf("both are down: warnings %q, %d citations, trace\n%s", r.Warnings, len(r.Citations), r.FlowTraceMD)
	}
	plain := ask(t, open(t, ragflow.Config{Docs: []string{docs}, Retrieval: search.Retrieval{Rerank: search.RerankOff}}), "", question)
	if r.Answer != plain.Answer || !cmp.Equal(r.Retrieved, plain.Retrieved) {
		t.Error("the answer is not the one that words alone give")
	}
	if found := searchLeg(t, a, "basil", 5, ""); !cmp.Equal(found.Warnings, want) || len(found.Hits) == 0 {
		t.Errorf("search: %d hits, warnings %q", len(found.Hits), found.Warnings)
	}
	m.fail, j.fail = nil, nil
	if r := ask(t, a, "t", question); len(r.Warnings) != 0 {
		t.Errorf("after they came back: warnings %q", r.Warnings)
	}
}

// TestQuestionIsEmbeddedOnce by the searches and turns of an assistant, a follow-up with what it borrows from
// the question before.
func TestQuestionIsEmbeddedOnce(t *testing.T) {
	m := newMeaning()
	a := open(t, ragflow.Config{Docs: []string{library(t)}, Models: ragflow.Models{Embedder: m}, Dense: search.Dense{QueryPrefix: "query: ", PassagePrefix: "passage: "}})
	const question = "How often should I water a basil plant?"
	searchLeg(t, a, question, 3, "")
	ask(t, a, "t", question)
	ask(t, a, "t", "and in winter?")
	var followUp []string
	for text, n := range m.seen {
		if n != 1 {
			t.Errorf("%q was embedded %d times", text, n)
		}
		if purpose, rest, _ := strings.Cut(text, ":"); purpose != fmt.Sprint(llm.Query, "query") && purpose != fmt.Sprint(llm.Passage, "passage") {
			t.Errorf("%q lacks its prefix", text)
		} else if strings.HasSuffix(rest, "and in winter?") {
			followUp = append(followUp, rest)
		}
	}
	if len(followUp) != 2 || !slices.ContainsFunc(followUp, func(s string) bool { return strings.Contains(s, "basil") && strings.Contains(s, "water") }) {
		t.Errorf("the follow-up was embedded as %q, want it alone and with the question before", followUp)
	}
}

func TestSearchIsLogged(t *testing.T) {
	var log bytes.Buffer
	a := open(t, ragflow.Config{
		Docs: []string{library(t)}, Models: ragflow.Models{Embedder: newMeaning()}, Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	n := len(searchLeg(t, a, "basil", 3, search.LegDense).Hits)
	if want := fmt.Sprintf(`msg="Retrieved %d chunks for query (top_k=3, metric=cosine)" leg=dense`, n); n == 0 || !strings.Contains(log.String(), want) {
		t.Errorf("the log lacks %s:\n%s", want, log.String())
	}
	empty := open(t, ragflow.Config{DataDir: t.TempDir()})
	if _, err := empty.Search(t.Context(), "needle", ragflow.SearchOptions{}); !errors.Is(err, ingest.ErrNoDocuments) {
		t.Errorf("a collection that is not there: %v", err)
	}
}
