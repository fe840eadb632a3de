package ingest_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"example.com/ragflow/ingest"
)

// TestText is what citations have their places in, and says when the file is another one.
func TestText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "fees.html")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("<title>Fees</title><p>The fee is <b>30</b> euros.")
	l := open(t, "", ingest.Options{Docs: []string{dir}})
	if _, err := l.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	root := l.View().Roots[0]
	got, err := l.Text(t.Context(), root, "fees.html")
	if err != nil || got.Title != "Fees" || got.Changed || got.Text == "" || got.Text[0] == '<' {
		t.Fatalf("%+v, %v", got, err)
	}
	write("<p>The fee is 40 euros.")
	if got, err = l.Text(t.Context(), root, "fees.html"); err != nil || !got.Changed {
		t.Errorf("%+v, %v", got, err)
	}
	for _, place := range [][2]string{{root, "other.html"}, {root, "../fees.html"}, {"/etc", "passwd"}, {"", path}} {
		if _, err := l.Text(t.Context(), place[0], place[1]); !errors.Is(err, ingest.ErrNoDocument) {
			t.Errorf("%v: %v", place, err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Text(t.Context(), root, "fees.html"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is gone: %v", err)
	}
}

// TestFile says what is indexed of a file, and Text where its lines and pages are.
func TestFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.csv": "name,price\nbolt,3\nnut,2\n", "empty.md": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := open(t, "", ingest.Options{Docs: []string{dir}})
	if _, err := l.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	root := l.View().Roots[0]
	if f, err := l.File(t.Context(), root, "a.csv"); err != nil || f.Status != ingest.StatusIndexed || f.Chunks == 0 {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err := l.File(t.Context(), root, "empty.md"); err != nil || f.Status != ingest.StatusEmpty || f.Reason == "" {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := l.File(t.Context(), root, "none.md"); !errors.Is(err, ingest.ErrNoDocument) {
		t.Error(err)
	}
	got, err := l.Text(t.Context(), root, "a.csv")
	if want := []int{2, 2, 3}; err != nil || got.Kind != "table" || !slices.Equal(got.Lines, want) || got.Pages != nil {
		t.Errorf("%+v, %v", got, err)
	}
}
