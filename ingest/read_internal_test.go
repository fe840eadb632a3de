package ingest

import (
	"strings"
	"testing"

	"example.com/ragflow/internal/folder"
)

// TestReadPanic asks that a loader that panics fails its own file only.
func TestReadPanic(t *testing.T) {
	j := job{file: folder.File{Source: "bad.md", Size: 3}}
	got := guarded(j, func() read { panic("index out of range") })
	if got.file.Source != "bad.md" || got.entry.File.Source != "bad.md" || got.problem == nil || !strings.Contains(got.problem.Error(), "index out of range") {
		t.Errorf("got %q, %+v, %v, want a failure of bad.md", got.file.Source, got.entry.File, got.problem)
	}
}
