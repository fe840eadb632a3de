package ragflow_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/ragflow"
	builtin "example.com/ragflow/meaning"
	"example.com/ragflow/search"
)

// TestVectorsInTheBackground: while an assistant is open and nothing is asked, the built-in model makes the vectors of
// the documents. Then a question finds a page with which it shares no word, and there are no warnings before or after.
func TestVectorsInTheBackground(t *testing.T) {
	if !builtin.Fast() {
		t.Skip("the built-in model is slow on this processor")
	}
	t.Parallel()
	docs, data := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"repairs.md": "# Flat\n\nThe tenant pays for small repairs up to 100 euros.\n",
		"boats.md":   "# Boats\n\nThe boathouse opens at eight in summer.\n",
		"kitchen.md": "# Kitchen\n\nThe dough rests for two hours in the cold.\n",
	} {
		if err := os.WriteFile(filepath.Join(docs, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := ragflow.Config{DataDir: data, Docs: []string{docs}}
	const question = "Wer zahlt kleine Reparaturen?"
	a := open(t, config)
	found := func(a *ragflow.Assistant) (first string) {
		t.Helper()
		r, err := a.Search(t.Context(), question, ragflow.SearchOptions{})
		if err != nil || len(r.Warnings) > 0 {
			t.Fatalf("%q, %v", r.Warnings, err)
		}
		if len(r.Hits) > 0 {
			first = r.Hits[0].Source
		}
		return first
	}
	if first := found(a); first != "" {
		t.Errorf("by words: %q", first)
	}
	stats := func() (vectors int, by string) {
		s, err := a.Library().Stats(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		return s.Collections[0].Vectors, s.Collections[0].Embedder
	}
	changed := a.Library().Changed()
	select {
	case <-changed:
	case <-time.After(time.Minute):
		t.Fatal("no vectors were made")
	}
	if n, by := stats(); n != 3 || !strings.HasPrefix(by, "built-in/") {
		t.Errorf("%d vectors by %q", n, by)
	}
	if first := found(a); first != "repairs.md" {
		t.Errorf("by meaning: %q", first)
	}
	reply, err := a.Ask(t.Context(), ragflow.Question{Text: question})
	if err != nil || len(reply.Warnings) > 0 {
		t.Errorf("%q, %v", reply.Warnings, err)
	}
	for name, change := range map[string]func(*ragflow.Config){
		"rerank": func(c *ragflow.Config) { c.Retrieval.Rerank = search.RerankOffline },
		"leg":    func(c *ragflow.Config) { c.Dense.Leg = search.LegLexical },
	} {
		other := config
		change(&other)
		if first := found(open(t, other)); first != "" {
			t.Errorf("%s: found %q by meaning", name, first)
		}
	}
}
