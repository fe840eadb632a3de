package index_test

import (
	"path/filepath"
	"testing"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// TestTermsAreMadeAgain: terms are remembered by who put the files; all others,
// and who opens the index later, make them of the chunks.
func TestTermsAreMadeAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	writer, reader := open(t, path, index.Options{}), open(t, path, index.Options{})
	put(t, writer, "/docs", file("a.md", "Volumes", "Storage: volumes keep data", "and more"), file("b.md", "", "networks of volumes"))
	both := func(query string, want []string) {
		t.Helper()
		check(t, "by who put them", find(t, searcher(t, writer, "/docs"), query), want)
		check(t, "by another", find(t, searcher(t, reader, "/docs"), query), want)
	}
	both("volumes", []string{"a.md#0", "a.md#1", "b.md#0"})
	if err := reader.Publish(t.Context(), "/docs"); err != nil { // of what the writer remembers
		t.Fatal(err)
	}
	both("storage", []string{"a.md#0"})
	put(t, writer, "/docs", file("a.md", "Volumes", "now of cats"))
	if err := writer.Delete(t.Context(), "/docs", "b.md", "never.md"); err != nil {
		t.Fatal(err)
	}
	both("volumes", []string{"a.md#0"})
	both("networks", nil)
	for _, db := range []*index.DB{writer, reader} {
		found, err := db.Verify(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		check(t, "findings", found, nil)
	}
}

// TestDeadOfAnotherAnalyzer: if a program with another analyzer took files
// out, a tier cannot be corrected by what it noted, and is not used.
func TestDeadOfAnotherAnalyzer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	english := open(t, path, index.Options{Analyzer: text.For("en")})
	put(t, english, "/docs", file("a.md", "", "networked volumes"), file("b.md", "", "volumes of networks"), file("c.md", "", "cats"))
	if err := english.Publish(t.Context(), "/docs"); err != nil {
		t.Fatal(err)
	}
	plain := open(t, path, index.Options{Analyzer: text.For("")})
	if err := plain.Delete(t.Context(), "/docs", "a.md"); err != nil {
		t.Fatal(err)
	}
	again := open(t, path, index.Options{Analyzer: text.For("en")})
	for name, db := range map[string]*index.DB{"before": english, "after": again} {
		fresh := open(t, "", index.Options{Analyzer: text.For("en")})
		put(t, fresh, "/docs", file("b.md", "", "volumes of networks"), file("c.md", "", "cats"))
		query := state.Query{Text: "network volume"}
		want, err := searcher(t, fresh, "/docs").Search(t.Context(), query, 10)
		if err != nil {
			t.Fatal(err)
		}
		got, err := searcher(t, db, "/docs").Search(t.Context(), query, 10)
		if err != nil {
			t.Fatal(err)
		}
		check(t, "hits of a program opened "+name, got, want)
	}
}
