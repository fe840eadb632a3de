package ragflow_test

import (
	"os"
	"path/filepath"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/llm"
	"example.com/ragflow/search"
)

// TestOnlyWhatChangedIsEmbedded counts the texts that are embedded: a file that is
// moved or renamed, or its folder, costs none; an edit costs the chunks it
// changes; what is deleted and comes back costs none.
func TestOnlyWhatChangedIsEmbedded(t *testing.T) {
	dir := t.TempDir()
	page := func(last string) string {
		return "# Herbs\n\nHerbs grow in pots.\n\n## Basil\n\nBasil wants water every day, and a warm place out of the wind.\n\n## Mint\n\n" + last + "\n"
	}
	write(t, filepath.Join(dir, "a", "herbs.md"), page("Mint needs a pot of its own, or it takes the whole bed."))
	write(t, filepath.Join(dir, "a", "trees.md"), "# Trees\n\nAn oak grows slowly.\n")
	m := newMeaning("meaning")
	a := open(t, ragflow.Config{Docs: []string{dir}, Models: ragflow.Models{Embedder: m}})
	all := indexed(t, a).Chunks
	rename := func(from, to string) func() {
		return func() {
			to = filepath.Join(dir, to)
			if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(dir, from), to); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, step := range []struct {
		name     string
		do       func()
		embedded int
		found    string // where the oak is
	}{
		{"nothing", func() {}, 0, "a/trees.md"},
		{"a file moved", rename("a/trees.md", "b/trees.md"), 0, "b/trees.md"},
		{"a file renamed", rename("b/trees.md", "b/oaks.md"), 0, "b/oaks.md"},
		{"a folder renamed", rename("b", "c"), 0, "c/oaks.md"},
		{"the end of a file edited", func() {
			write(t, filepath.Join(dir, "a", "herbs.md"), page("Mint spreads by runners under the soil."))
		}, 1, "c/oaks.md"},
		{"a file deleted", func() {
			if err := os.Remove(filepath.Join(dir, "a", "herbs.md")); err != nil {
				t.Fatal(err)
			}
		}, 0, "c/oaks.md"},
		{"and back again", func() {
			write(t, filepath.Join(dir, "a", "herbs.md"), page("Mint spreads by runners under the soil."))
		}, 0, "c/oaks.md"},
	} {
		before := m.count(llm.Passage)
		step.do()
		report := indexed(t, a)
		if got := m.count(llm.Passage) - before; got != step.embedded || report.Dense.Embedded != step.embedded || report.Dense.Missing != 0 {
			t.Errorf("%s: %d texts embedded, want %d; %+v", step.name, got, step.embedded, report.Dense)
		}
		for _, leg := range []string{search.LegLexical, search.LegDense} {
			if r := searchLeg(t, a, "oak grows slowly", 1, leg); len(r.Hits) != 1 || r.Hits[0].Source != step.found {
				t.Errorf("%s: %s found %+v", step.name, leg, r.Hits)
			}
		}
	}
	if all < 2 {
		t.Errorf("%d chunks: the test shows nothing", all)
	}
}
