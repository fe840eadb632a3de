package newfile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"example.com/ragflow/internal/newfile"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	private, path := filepath.Join(dir, "private"), filepath.Join(dir, "out", "a.md")
	if err := os.WriteFile(private, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := newfile.WriteBytes(path, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(private, path); err != nil {
		t.Skip("no symbolic links here")
	}
	if err := newfile.WriteBytes(path, []byte("two")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if err := newfile.Write(path, func(io.Writer) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("err = %v", err)
	}
	for name, want := range map[string]string{private: "mine", path: "two"} {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v; want %q", name, got, err, want)
		}
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestAppend(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "log"), filepath.Join(dir, "link")
	for _, line := range []string{"one\n", "two\n"} {
		if err := newfile.Append(path, []byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(path, link); err != nil {
		t.Skip("no symbolic links here")
	}
	for _, other := range []string{link, dir} {
		if err := newfile.Append(other, []byte("three\n")); !errors.Is(err, newfile.ErrNotRegular) {
			t.Errorf("%s: err = %v, want ErrNotRegular", other, err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "one\ntwo\n" {
		t.Errorf("the file holds %q, %v", got, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}
