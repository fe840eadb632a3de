package newfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"example.com/ragflow/internal/newfile"
)

func TestCheckFolder(t *testing.T) {
	t.Parallel()
	base, elsewhere := t.TempDir(), t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(base, "out")); err != nil {
		t.Skip("no symbolic links here")
	}
	for dir, leadsOut := range map[string]bool{
		".": false, "new/folder": false, "out": true, filepath.Join("out", "new"): true,
		elsewhere: false, "../x": false, // named as such
	} {
		if err := newfile.CheckFolder(base, dir); errors.Is(err, newfile.ErrOutside) != leadsOut {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

func TestInside(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	for path, want := range map[string]bool{
		base: true, filepath.Join(base, "a", "b"): true, filepath.Join(base, "*.md"): true,
		filepath.Dir(base): false, filepath.Join(base, "..", "*"): false, filepath.Join(base, "..x"): true,
	} {
		if got := newfile.Inside(base, path); got != want {
			t.Errorf("Inside(%s) = %v", path, got)
		}
	}
}
