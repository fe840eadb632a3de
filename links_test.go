package ragflow_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/search/index"
)

// TestLinksOfDocker compares the links found in the Docker pages with a list made
// by a program that knows how that site is published. It lacks links to the site by
// its public address; some that the list lacks are there.
func TestLinksOfDocker(t *testing.T) {
	docs := dockerPages(t)
	list, err := os.ReadFile(filepath.Join(filepath.Dir(docs), "graph", "links.tsv"))
	if err != nil {
		t.Skip("no list of the links: ", err)
	}
	want := map[string]bool{}
	for line := range strings.Lines(string(list)) {
		want[strings.TrimSpace(line)] = true
	}
	delete(want, "from_page\tto_page")
	dir := t.TempDir()
	a := open(t, ragflow.Config{DataDir: dir, Docs: []string{docs}})
	roots := indexed(t, a).Roots
	db, err := index.Open(t.Context(), filepath.Join(dir, "index.db"), index.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // only read from
	links, dangling, err := db.Links(t.Context(), roots[0])
	if err != nil {
		t.Fatal(err)
	}
	got, both := map[string]bool{}, 0
	for _, l := range links {
		pair := l.From + "\t" + l.To
		if !got[pair] && want[pair] {
			both++
		}
		got[pair] = true
	}
	t.Logf("%d of %d pairs are on the list of %d; %d links lead nowhere", both, len(got), len(want), dangling)
	if recall, precision := float64(both)/float64(len(want)), float64(both)/float64(len(got)); recall < 0.84 || precision < 0.97 {
		t.Errorf("recall %.3f, precision %.3f; want 0.84 and 0.97", recall, precision)
	}
	stats, err := a.Library().Stats(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if c := stats.Collections[0]; c.Links != len(links) || c.Dangling != dangling {
		t.Errorf("stats tell of %d links and %d that lead nowhere, want %d and %d", c.Links, c.Dangling, len(links), dangling)
	}
}
