package ingest_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow/ingest"
)

// TestPassages: passages are those of the index, and slices of the text.
func TestPassages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := "---\nauthor: Anna\n---\n# Fees\n\n" + strings.Repeat("The court fee is 30 euros. ", 200) + "\n\n## Leave\n\nThere are 26 days.\n"
	write(t, filepath.Join(dir, "fees.md"), text)
	write(t, filepath.Join(dir, "empty.md"), "")
	l := open(t, "", ingest.Options{Docs: []string{dir}, Chunking: ingest.Chunking{Size: 100}})
	report, err := l.Sync(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	root := l.View().Roots[0]
	got, err := l.Passages(t.Context(), root, "fees.md")
	if err != nil || len(got) != report.Chunks || len(got) < 3 {
		t.Fatalf("%d passages of %d, %v", len(got), report.Chunks, err)
	}
	snapshot, err := l.index.Snapshot(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range got {
		stored, err := snapshot.Chunks(t.Context(), []string{c.ID})
		if err != nil || len(stored) != 1 || stored[0].Text != c.Text {
			t.Errorf("%s is stored as %v, %v", c.ID, stored, err)
		}
		if text[c.Start:c.End] != c.Text || c.Metadata["author"] != "Anna" {
			t.Errorf("%d-%d %q, %v", c.Start, c.End, c.Text, c.Metadata)
		}
	}
	for _, source := range []string{"empty.md", "none.md", "../fees.md"} {
		if _, err := l.Passages(t.Context(), root, source); !errors.Is(err, ingest.ErrNoDocument) {
			t.Errorf("%s: %v", source, err)
		}
	}
}
