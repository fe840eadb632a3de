package ragflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
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
	model     string
	dimension int

	mu    sync.Mutex
	seen  map[string]int // texts embedded, by purpose and text
	calls int
	fail  func(p llm.Purpose, call int) error
}

func newMeaning(model string) *meaning {
	return &meaning{model: model, dimension: 256, seen: map[string]int{}}
}

var concepts = map[string]string{
	"bazylię": "basil", "podlewać": "water",
}

func (m *meaning) Model() string { return m.model }

func (m *meaning) Embed(ctx context.Context, texts []string, p llm.Purpose) (llm.Embeddings, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return llm.Embeddings{}, err
	}
	m.calls++
	if m.fail != nil {
		if err := m.fail(p, m.calls); err != nil {
			return llm.Embeddings{}, err
		}
	}
	out := llm.Embeddings{Model: m.model, Calls: 1}
	for _, t := range texts {
		m.seen[fmt.Sprint(p, t)]++
		v := make([]float32, m.dimension)
		v[0] = 0.01
		for _, w := range strings.FieldsFunc(strings.ToLower(t), func(r rune) bool { return !unicode.IsLetter(r) }) {
			if c, ok := concepts[w]; ok {
				w = c
			}
			h := fnv.New32a()
			h.Write([]byte(w))
			v[int(h.Sum32())%m.dimension]++
			out.Usage.Input++
		}
		out.Vectors = append(out.Vectors, v)
	}
	return out, nil
}

// count is how many texts of a purpose were embedded.
func (m *meaning) count(p llm.Purpose) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for t, k := range m.seen {
		if strings.HasPrefix(t, fmt.Sprint(p)) {
			n += k
		}
	}
	return n
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

func chunkIDs(r *ragflow.SearchReply) []string {
	ids := []string{}
	for _, h := range r.Hits {
		ids = append(ids, h.ChunkID)
	}
	return ids
}

// Without an embedder nothing of the dense leg shows, in no JSON either.
func TestNoEmbedder(t *testing.T) {
	a := open(t, ragflow.Config{Docs: []string{library(t)}})
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

// A question that shares no word with the documents is found by meaning; the
// leg that cannot see it leaves its weight to the other.
func TestHybridFindsByMeaning(t *testing.T) {
	m := newMeaning("meaning")
	a := open(t, ragflow.Config{Docs: []string{library(t)}, Models: ragflow.Models{Embedder: m}})
	report := indexed(t, a)
	want := &ingest.DenseReport{
		Model: "meaning", Dimension: 256, Vectors: "passage", Chunks: report.Chunks, Embedded: report.Chunks,
		Calls: int64(m.calls), InputTokens: report.Dense.InputTokens,
	}
	if diff := cmp.Diff(want, report.Dense); diff != "" || want.InputTokens == 0 || want.Calls == 0 {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	const question = "Jak pielęgnować bazylię?"
	if r := searchLeg(t, a, question, 5, search.LegLexical); len(r.Hits) != 0 {
		t.Errorf("the words found %v", chunkIDs(r))
	}
	r := searchLeg(t, a, question, 5, "")
	if len(r.Hits) == 0 || r.Hits[0].Source != "herbs/basil.md" || len(r.Warnings) != 0 {
		t.Fatalf("hits %+v, warnings %q", r.Hits, r.Warnings)
	}
	leg := r.Hits[0].Legs[0]
	if leg.Name != "dense" || leg.Rank != 1 || leg.Share != 0 || leg.Score <= 0 || leg.Score > 1 || r.Hits[0].Score != 1 {
		t.Errorf("the first hit's score is %v of leg %+v", r.Hits[0].Score, leg)
	}
	reply := ask(t, a, "", question)
	if len(reply.Retrieved) == 0 || reply.Retrieved[0].Source != "herbs/basil.md" || len(reply.Warnings) != 0 {
		t.Errorf("retrieved %+v, warnings %q", reply.Retrieved, reply.Warnings)
	}
	if !strings.Contains(reply.FlowTraceMD, "dense of query 1 #1") {
		t.Errorf("the trace does not name the leg:\n%s", reply.FlowTraceMD)
	}
}

// A model that fails while a question is asked costs the dense leg, not the
// answer, and trace and JSON say so.
func TestEmbedderFailsAtQuery(t *testing.T) {
	m := newMeaning("meaning")
	docs := library(t)
	a := open(t, ragflow.Config{Docs: []string{docs}, Models: ragflow.Models{Embedder: m}})
	indexed(t, a)
	m.fail = func(llm.Purpose, int) error {
		return &llm.Error{Provider: "test", Kind: llm.ErrUnavailable, Detail: "no route"}
	}
	const question = "How often should I water a basil plant?"
	reply := ask(t, a, "t", question)
	want := []string{"Dense search left out, searched by words only: the question cannot be embedded: Provider test is not available: no route"}
	if diff := cmp.Diff(want, reply.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if !strings.Contains(reply.FlowTraceMD, "Dense search left out") {
		t.Error("the trace does not tell")
	}
	plain := ask(t, open(t, ragflow.Config{Docs: []string{docs}}), "", question)
	if reply.Answer != plain.Answer || !cmp.Equal(reply.Retrieved, plain.Retrieved) {
		t.Error("the answer is not the one that words alone give")
	}
	found := searchLeg(t, a, "basil", 5, "")
	if !cmp.Equal(found.Warnings, want) || len(found.Hits) == 0 {
		t.Errorf("search: %d hits, warnings %q", len(found.Hits), found.Warnings)
	}
	if _, err := a.Search(t.Context(), "basil", ragflow.SearchOptions{Request: search.Request{K: 5, Leg: search.LegDense}}); !errors.Is(err, llm.ErrUnavailable) {
		t.Errorf("dense search: %v, want the model's error", err)
	}
	m.fail = nil
	if r := ask(t, a, "t", question); len(r.Warnings) != 0 {
		t.Errorf("after it came back: warnings %q", r.Warnings)
	}
	dense := open(t, ragflow.Config{Docs: []string{docs}, Models: ragflow.Models{Embedder: m}, Dense: search.Dense{Leg: search.LegDense}})
	indexed(t, dense)
	m.fail = func(llm.Purpose, int) error { return errors.New("down") }
	if r := ask(t, dense, "", question); len(r.Warnings) != 1 || len(r.Retrieved) == 0 {
		t.Errorf("meaning only, and the model is down: %d hits, warnings %q", len(r.Retrieved), r.Warnings)
	}
}

// A model that fails while documents are indexed costs nothing but vectors, and
// the next run makes those that are missing, and only those.
func TestEmbedderFailsAtIndexing(t *testing.T) {
	m := newMeaning("meaning")
	c := ragflow.Config{
		Docs: []string{library(t)}, DataDir: t.TempDir(), Models: ragflow.Models{Embedder: m}, Dense: search.Dense{Batch: 2, Workers: 1},
	}
	m.fail = func(p llm.Purpose, call int) error {
		if p == llm.Passage && call > 2 {
			return errors.New("connection reset")
		}
		return nil
	}
	a := open(t, c)
	report := indexed(t, a)
	d := report.Dense
	if report.Added == 0 || d.Embedded != 4 || d.Missing != report.Chunks-4 || !strings.Contains(d.Error, "connection reset") {
		t.Fatalf("report %+v, %+v", report, d)
	}
	reply := ask(t, a, "", "How often should I water a basil plant?")
	if len(reply.Warnings) != 1 || !strings.Contains(reply.Warnings[0], fmt.Sprintf("incomplete: %d of %d passages", d.Missing, d.Chunks)) {
		t.Errorf("warnings %q", reply.Warnings)
	}
	m.fail = nil
	again := open(t, c)
	if got := indexed(t, again).Dense; got.Embedded != d.Missing || got.Missing != 0 || got.Error != "" {
		t.Errorf("the next run: %+v", got)
	}
	if got := m.count(llm.Passage); got != report.Chunks {
		t.Errorf("%d passages were embedded, want each of %d once", got, report.Chunks)
	}
	if r := ask(t, again, "", "How often should I water a basil plant?"); len(r.Warnings) != 0 {
		t.Errorf("warnings %q", r.Warnings)
	}
}

// Another model is reported with both names and the
// command; words are searched meanwhile; Reembed, or REBUILD_INDEX, mends it.
func TestEmbedderSwitched(t *testing.T) {
	docs := library(t)
	for _, mend := range []string{"Reembed", "Rebuild"} {
		t.Run(mend, func(t *testing.T) {
			data := filepath.Join(t.TempDir(), "data")
			indexed(t, open(t, ragflow.Config{Docs: []string{docs}, DataDir: data, Models: ragflow.Models{Embedder: newMeaning("old-model")}}))
			m := newMeaning("vendor/New-Model")
			c := ragflow.Config{Docs: []string{docs}, DataDir: data, Models: ragflow.Models{Embedder: m}}
			a := open(t, c)
			report := indexed(t, a)
			reply := ask(t, a, "", "How often should I water a basil plant?")
			_, err := a.Search(t.Context(), "basil", ragflow.SearchOptions{Request: search.Request{K: 3, Leg: search.LegDense}})
			if !errors.Is(err, search.ErrEmbedderChanged) || len(reply.Warnings) != 1 || len(reply.Citations) == 0 {
				t.Fatalf("error %v, warnings %q", err, reply.Warnings)
			}
			for _, text := range []string{report.Dense.Error, reply.Warnings[0], err.Error()} {
				for _, part := range []string{"old-model", "new-model", "ragflow index --rebuild"} {
					if !strings.Contains(text, part) {
						t.Errorf("%q does not name %q", text, part)
					}
				}
			}
			if m.calls != 0 {
				t.Errorf("the new model was called %d times", m.calls)
			}
			if mend == "Rebuild" {
				c.Dense.Rebuild = true
				a = open(t, c)
				if d := indexed(t, a).Dense; d.Error != "" || d.Embedded != d.Chunks || d.Missing != 0 {
					t.Errorf("rebuilt: %+v", d)
				}
			} else {
				d, err := a.Library().Reembed(t.Context())
				if err != nil || d.Embedded != d.Chunks || d.Missing != 0 || d.Pruned != d.Chunks {
					t.Errorf("embedded again: %+v, %v", d, err)
				}
			}
			if r := searchLeg(t, a, "Jak pielęgnować bazylię?", 3, ""); len(r.Warnings) != 0 || len(r.Hits) == 0 {
				t.Errorf("afterwards: %d hits, warnings %q", len(r.Hits), r.Warnings)
			}
		})
	}
	data := t.TempDir()
	indexed(t, open(t, ragflow.Config{Docs: []string{docs}, DataDir: data, Models: ragflow.Models{Embedder: newMeaning("m")}}))
	b := open(t, ragflow.Config{Docs: []string{docs}, DataDir: data, Models: ragflow.Models{Embedder: newMeaning("m")}, Dense: search.Dense{Dimension: 99}})
	if d := indexed(t, b).Dense; !strings.Contains(d.Error, "256 dimensions") || !strings.Contains(d.Error, "99 dimensions") {
		t.Errorf("another dimension: %q", d.Error)
	}
}

// A question is embedded once, however many queries, searches and turns ask for
// it; a follow-up is embedded with what it borrows from the question before.
func TestQueriesEmbedded(t *testing.T) {
	m := newMeaning("meaning")
	a := open(t, ragflow.Config{Docs: []string{library(t)}, Models: ragflow.Models{Embedder: m}, Dense: search.Dense{QueryPrefix: "query: ", PassagePrefix: "passage: "}})
	indexed(t, a)
	const question = "How often should I water a basil plant?"
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { searchLeg(t, a, question, 3, "") })
	}
	wg.Wait()
	if got := m.count(llm.Query); got != 1 {
		t.Errorf("the question was embedded %d times by 8 searches", got)
	}
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
