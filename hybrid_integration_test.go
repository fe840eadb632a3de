package ragflow_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/eval"
	"example.com/ragflow/internal/golden"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
	"example.com/ragflow/search"
)

// embeddingServer is the embedder that scripts/models starts.
func embeddingServer(t *testing.T) llm.Embedder {
	t.Helper()
	url, model := os.Getenv("RAGFLOW_TEST_EMBEDDING_BASE_URL"), os.Getenv("RAGFLOW_TEST_EMBEDDING_MODEL")
	if url == "" || model == "" {
		t.Skip("no embedding server: run scripts/models start, and set the variables it writes")
	}
	client, err := openai.New(openai.Config{BaseURL: url})
	if err != nil {
		t.Fatal(err)
	}
	// This server puts the prefixes of E5 itself, and tells queries by the name.
	return llm.RetryEmbedder(client.Embedder(openai.EmbedderConfig{Model: model, QueryModel: model + "-query"}), llm.RetryOptions{})
}

// maxLoss is how much of the mean reciprocal rank the hybrid search may lose
// against words alone on ten questions before something is broken.
const maxLoss = 0.1

// TestIntegrationHybrid searches a part of the Docker pages with a real
// embedding model: the pages that the first ten questions of the set need, and
// some others around them.
func TestIntegrationHybrid(t *testing.T) {
	embedder := embeddingServer(t)
	items, err := eval.ReadFile(golden.Public(t, "docker-eval", "dev.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	items = items[:10]
	docs := dockerPart(t, dockerPages(t), items)
	a := open(t, ragflow.Config{
		Docs: []string{docs}, DataDir: t.TempDir(), Models: ragflow.Models{Embedder: embedder}, Dense: search.Dense{Tokens: 96, Batch: 8, Workers: 2},
	})
	report := indexed(t, a)
	if d := report.Dense; d.Error != "" || d.Missing != 0 || d.Dimension < 100 || d.Embedded == 0 {
		t.Fatalf("embedding: %+v", d)
	}
	t.Logf("%d passages of %d pages, %d dimensions", report.Chunks, report.Files, report.Dense.Dimension)
	if again := indexed(t, a).Dense; again.Embedded != 0 || again.Calls != 0 {
		t.Errorf("indexing again embedded %+v", again)
	}
	mean := map[string]float64{}
	legs := []string{search.LegLexical, search.LegDense, search.LegHybrid}
	for _, item := range items {
		var line strings.Builder
		for _, leg := range legs {
			rr := reciprocalRank(searchLeg(t, a, item.Question, 10, leg), item.Relevant)
			mean[leg] += rr / float64(len(items))
			fmt.Fprintf(&line, " %s %.2f", leg, rr)
		}
		t.Logf("%s (%s):%s", item.ID, item.Lang, &line)
	}
	t.Logf("mean reciprocal rank of the first right page: %v", mean)
	if mean[search.LegHybrid] < mean[search.LegLexical]-maxLoss {
		t.Errorf("hybrid %.3f is worse than lexical %.3f by more than %v", mean[search.LegHybrid], mean[search.LegLexical], maxLoss)
	}
	const polish = "Jak usunąć nieużywane obrazy?" // how to remove images that are not used
	reply := ask(t, a, "", polish)
	if len(reply.Warnings) != 0 || reply.Usage.Calls == 0 || len(reply.Retrieved) == 0 {
		t.Errorf("asked in Polish: warnings %q, %d calls, %d hits", reply.Warnings, reply.Usage.Calls, len(reply.Retrieved))
	}
	for _, leg := range legs {
		if r := searchLeg(t, a, polish, 3, leg); len(r.Hits) > 0 {
			t.Logf("%s by %s: %s %q", polish, leg, r.Hits[0].Source, r.Hits[0].Headings)
		} else {
			t.Logf("%s by %s: nothing", polish, leg)
		}
	}
}

// dockerPart links the pages that questions need, and their neighbours, into a
// new folder.
func dockerPart(t *testing.T, from string, items []eval.Item) string {
	t.Helper()
	const neighbours = 2 // of each page
	docs := t.TempDir()
	taken := map[string]bool{}
	take := func(page string) {
		if taken[page] {
			return
		}
		taken[page] = true
		content, err := os.ReadFile(filepath.Join(from, filepath.FromSlash(page)))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(docs, filepath.FromSlash(page)), string(content))
	}
	for _, item := range items {
		for _, page := range item.Relevant {
			take(page)
			around, err := filepath.Glob(filepath.Join(from, filepath.FromSlash(filepath.Dir(page)), "*.md"))
			if err != nil {
				t.Fatal(err)
			}
			for _, other := range around[:min(neighbours, len(around))] {
				rel, err := filepath.Rel(from, other)
				if err != nil {
					t.Fatal(err)
				}
				take(filepath.ToSlash(rel))
			}
		}
	}
	return docs
}

// reciprocalRank is 1 by the rank of the first hit on a right page, pages
// counted once; 0 without one.
func reciprocalRank(r *ragflow.SearchReply, relevant []string) float64 {
	var pages []string
	for _, h := range r.Hits {
		if !slices.Contains(pages, h.Source) {
			pages = append(pages, h.Source)
		}
	}
	for i, p := range pages {
		if slices.Contains(relevant, p) {
			return 1 / float64(i+1)
		}
	}
	return 0
}
