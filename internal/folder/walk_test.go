package folder_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/folder"
)

// tree writes files into a new folder and returns its real path.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		p := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// list walks root and returns sources and problems, in order.
func list(t *testing.T, root string) []string {
	t.Helper()
	var out []string
	for f, err := range folder.Files(t.Context(), root) {
		if problem, ok := errors.AsType[*folder.FileError](err); ok {
			rel, relErr := filepath.Rel(root, problem.Path)
			if relErr != nil {
				t.Fatal(relErr)
			}
			out = append(out, "! "+filepath.ToSlash(rel)+": "+problem.Err.Error())
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f.Source)
	}
	return out
}

func TestFiles(t *testing.T) {
	root := tree(t, map[string]string{
		"b.md": "b", "a/z.txt": "z", "a/B.MD": "b", "c.png": "x", "costs.XLS": "x", "LICENSE": "x",
		".git/x.md": "x", ".hidden.md": "x", "node_modules/p/readme.md": "x", ".ragflow/x.md": "x",
		"CHANGES": "new: x", "empty": "", "program": "\x7fELF\x02\x01", "id_rsa": "-----BEGIN OPENSSH PRIVATE KEY-----\n", "koi": "\xf0\xf2\xe9",
	})
	want := []string{
		"CHANGES",
		"! LICENSE: no loader for this kind of file: a licence",
		"a/B.MD", "a/z.txt", "b.md",
		"! c.png: no loader for this kind of file: .png",
		"! costs.XLS: no loader for this kind of file: .XLS: save it as .xlsx",
		"empty",
		"! id_rsa: no loader for this kind of file: it has no extension, and holds no text or a key",
		"koi",
		"! program: no loader for this kind of file: it has no extension, and holds no text or a key",
	}
	if d := cmp.Diff(want, list(t, root)); d != "" {
		t.Error(d)
	}
}

// TestFilesMetadata checks that a metadata file beside its document is no document itself.
func TestFilesMetadata(t *testing.T) {
	root := tree(t, map[string]string{"a.md": "a", "a.md.meta.yaml": "title: A", "b.csv": "b", "b.csv.meta.json": "{}", "c.txt": "c", "c.txt.meta.yml": "", "alone.meta.yaml": "no: document"})
	if d := cmp.Diff([]string{"a.md", "alone.meta.yaml", "b.csv", "c.txt"}, list(t, root)); d != "" {
		t.Error(d)
	}
}

func TestFilesOfOneFile(t *testing.T) {
	root := tree(t, map[string]string{"notes": "hello", "x.md": "x"})
	for f, err := range folder.Files(t.Context(), filepath.Join(root, "notes")) {
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(root, "notes")
		if f.Root != path || f.Source != "notes" || f.Path != path || f.Size != 5 || f.ModTime.IsZero() {
			t.Errorf("got %+v", f)
		}
	}
}

func TestFilesMissing(t *testing.T) {
	n := 0
	for _, err := range folder.Files(t.Context(), filepath.Join(t.TempDir(), "none")) {
		n++
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "none") {
			t.Errorf("err = %v, want one that wraps fs.ErrNotExist and names the folder", err)
		}
	}
	if n != 1 {
		t.Errorf("%d results, want 1", n)
	}
}

func TestFilesLinks(t *testing.T) {
	root := tree(t, map[string]string{"a.md": "a", "d/b.md": "b"})
	outside := filepath.Join(tree(t, map[string]string{"o.md": "o"}), "o.md")
	for link, target := range map[string]string{"l.md": "a.md", "loop": ".", "d/up": "..", "e.md": "d", "gone.md": "nothing", "out.md": outside, "round.md": "../" + filepath.Base(root) + "/a.md"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	got := list(t, root)
	const folder = ": not a regular file: symbolic link to a folder"
	for i, g := range got {
		if strings.HasPrefix(g, "! gone.md: ") {
			got[i] = "! gone.md" // the rest is the system's message
		}
	}
	want := []string{
		"a.md", "d/b.md", "! d/up" + folder, "! e.md" + folder, "! gone.md", "l.md", "! loop" + folder,
		"! out.md: not a regular file: symbolic link to a file outside of the folder; name that file itself to have it read", "round.md",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestFilesUnreadable(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("permissions do not bind this user")
	}
	root := tree(t, map[string]string{"a.md": "a", "b/x.md": "x", "c.md": "c"})
	if err := os.Chmod(filepath.Join(root, "b"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(root, "b"), 0o700) })
	if d := cmp.Diff([]string{"a.md", "! b: permission denied", "c.md"}, list(t, root)); d != "" {
		t.Error(d)
	}
}

func TestFilesStops(t *testing.T) {
	root := tree(t, map[string]string{"a.md": "a", "b.md": "b"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []error
	for _, err := range folder.Files(ctx, root) {
		got = append(got, err)
		cancel()
	}
	if len(got) != 2 || got[0] != nil || !errors.Is(got[1], context.Canceled) {
		t.Errorf("after cancel: %v", got)
	}
	for _, err := range folder.Files(t.Context(), root) {
		if err != nil {
			t.Error(err)
		}
		break // must not panic or continue
	}
}
