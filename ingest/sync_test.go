package ingest_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/ragflow/ingest"
	"example.com/ragflow/state"
)

// TestIndexHardFiles asks that nothing is lost of files that are not as they
// should be, and that the report says so.
func TestIndexHardFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"invalid.md":      "# Invalid\n\nbefore \xff\xfe\xe2 grüne inwalid after\n",
		"latin.txt":       "Das gr\xfcne latinum.\n",
		"utf16.md":        "\xff\xfeu\x00t\x00f\x00w\x00o\x00r\x00d\x00",
		"long.txt":        strings.Repeat("filler ", 700_000) + "lastword",
		"page.html":       "<title>Page</title><p>htmlword",
		"binary.md":       "a\x00b",
		"photo.png":       "x",
		"empty.md":        "",
		"code/main.go":    "package main // codeword\n",
		".hidden/x.md":    "hiddenword",
		"out/x.md":        "ignoredword",
		".gitignore":      "out/\n",
		"loop/.gitignore": "",
	} {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), content)
	}
	a := open(t, "", ingest.Options{Docs: []string{dir}})
	r := syncAll(t, a)
	for word, source := range map[string]string{
		"inwalid": "invalid.md", "latinum": "latin.txt", "utfword": "utf16.md", "lastword": "long.txt", "htmlword": "page.html", "codeword": "code/main.go",
	} {
		if !finds(t, a, word, source) {
			t.Errorf("%q of %s is lost", word, source)
		}
	}
	for _, word := range []string{"hiddenword", "ignoredword"} {
		if finds(t, a, word, ".hidden/x.md") || finds(t, a, word, "out/x.md") {
			t.Errorf("%q is found", word)
		}
	}
	named := func(list []ingest.FileProblem) (out []string) {
		for _, p := range list {
			out = append(out, p.Source)
		}
		return out
	}
	sorted := cmpopts.SortSlices(strings.Compare)
	if d := cmp.Diff([]string{"binary.md", "photo.png"}, named(r.Skipped), sorted); d != "" {
		t.Errorf("skipped: %s", d)
	}
	if d := cmp.Diff([]string{"invalid.md", "utf16.md"}, named(r.Warned), sorted); d != "" {
		t.Errorf("warned: %s", d)
	}
}

// TestIndexUnreadable asks that a file that cannot be read is told, and that what
// was read of it before is still found.
func TestIndexUnreadable(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("permissions do not bind this user")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.md"), "aardvark")
	write(t, filepath.Join(dir, "d", "b.md"), "bumblebee")
	a := open(t, "", ingest.Options{Docs: []string{dir}})
	syncAll(t, a)
	file, folder := filepath.Join(dir, "a.md"), filepath.Join(dir, "d")
	write(t, file, "changed aardvark")
	for path, mode := range map[string]fs.FileMode{file: 0, folder: 0} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	r := syncAll(t, a)
	if len(r.Failed) != 2 || !finds(t, a, "aardvark", "a.md") || !finds(t, a, "bumblebee", "d/b.md") {
		t.Errorf("failed %v; what was read before must be found", r.Failed)
	}
	_ = os.Chmod(file, 0o600)
	_ = os.Chmod(folder, 0o700)
	if r := syncAll(t, a); len(r.Failed) != 0 || !finds(t, a, "changed", "a.md") {
		t.Errorf("failed %v after the rights came back", r.Failed)
	}
}

// TestIndexFailedLink is the same without rights: a link whose target is a
// folder's name now, on every system that has links.
func TestIndexFailedLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	other := filepath.Join(dir, ".versions") // hidden, so only the link names what is in it
	write(t, filepath.Join(other, "x.md"), "linkword")
	link := filepath.Join(dir, "l.md")
	if err := os.Symlink(filepath.Join(other, "x.md"), link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if err := os.Symlink(dir, filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	a := open(t, "", ingest.Options{Docs: []string{dir}})
	syncAll(t, a)
	if err := os.Remove(filepath.Join(other, "x.md")); err != nil {
		t.Fatal(err)
	}
	if r := syncAll(t, a); len(r.Failed) != 1 || !finds(t, a, "linkword", "l.md") {
		t.Errorf("report %+v; the text must be found while its link leads nowhere", r)
	}
}

// TestIndexLinkOutside asks that a link to what lies outside of the folder is
// counted and not read, and is read where a person names its target.
func TestIndexLinkOutside(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, "own.md"), "ownword")
	secret := filepath.Join(other, "secret.md")
	write(t, secret, "linkword")
	if err := os.Symlink(secret, filepath.Join(dir, "l.md")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	a := open(t, "", ingest.Options{Docs: []string{dir}})
	r := syncAll(t, a)
	if r.Added != 1 || len(r.Skipped) != 1 || r.Skipped[0].Source != "l.md" || !strings.Contains(r.Skipped[0].Reason, "outside of the folder; name that file itself") {
		t.Errorf("report %+v, want l.md skipped with what to do", r)
	}
	if finds(t, a, "linkword", "l.md") {
		t.Error("a link led out of the folder")
	}
	named := open(t, "", ingest.Options{Docs: []string{filepath.Join(dir, "l.md")}})
	syncAll(t, named)
	if !finds(t, named, "linkword", "secret.md") {
		t.Error("a link that a person named was not read")
	}
}

// TestStats asks that each file has its status.
func TestStats(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, "a.md"), "# A\n\naardvark\n")
	write(t, filepath.Join(dir, "b.md"), "")
	write(t, filepath.Join(dir, "c.md"), "x\x00y")
	write(t, filepath.Join(dir, "d.html"), "<h1>D</h1>\n<p>dodo</p>\n<ul><li>one\n<li>two</ul>\n")
	write(t, filepath.Join(dir, "e.md"), "---\ntitle: E\nlayout: cli\n---\n\n<!-- made of data -->\n")
	write(t, filepath.Join(dir, "f.md"), "<!-- nothing yet -->\n")
	write(t, filepath.Join(dir, "g.xls"), "x")
	a := open(t, data, ingest.Options{Docs: []string{dir}})
	if r := syncAll(t, a); r.Files != 6 || r.Indexed != 2 {
		t.Errorf("the report counts %d files, %d with passages", r.Files, r.Indexed)
	}
	stats, err := a.Stats(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	c := stats.Collections[0]
	if c.Files != 6 || c.Indexed != 2 || c.Empty != 3 || c.Bare != 1 || c.Skipped != 1 || len(c.Unread) != 1 || c.Unread[0] != (ingest.Count{Name: ".xls", Count: 1}) || c.Failed != 0 || c.LastChange == nil {
		t.Errorf("got %+v", c)
	}
	want := []string{
		"a.md indexed ", "b.md empty the file has no bytes", "c.md skipped binary file", "d.html indexed ",
		"e.md empty it has only metadata, such as front matter, and no text", "f.md empty it has no text but comments or space",
	}
	var got []string
	for _, f := range c.FileList {
		got = append(got, f.Source+" "+f.Status+" "+f.Reason)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestChangesAreFound changes files, adds folders and takes some away.
func TestChangesAreFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.md"), "aardvark")
	a := open(t, "", ingest.Options{Docs: []string{dir}})
	syncAll(t, a)
	for _, step := range []struct {
		what                    string
		do                      func()
		added, changed, removed int
	}{
		{"nothing", func() {}, 0, 0, 0},
		{"a new file", func() { write(t, filepath.Join(dir, "b.md"), "bee") }, 1, 0, 0},
		{"an edit", func() { write(t, filepath.Join(dir, "a.md"), "another aardvark") }, 0, 1, 0},
		{"a new folder", func() { write(t, filepath.Join(dir, "new", "deep", "c.md"), "crow") }, 1, 0, 0},
		{"a renamed folder", func() { _ = os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "old")) }, 1, 0, 1},
		{"a rule of .gitignore", func() { write(t, filepath.Join(dir, ".gitignore"), "b.md\n") }, 0, 0, 1},
		{"a deleted folder", func() { _ = os.RemoveAll(filepath.Join(dir, "old")) }, 0, 0, 1},
	} {
		step.do()
		if r := syncAll(t, a); r.Added != step.added || r.Changed != step.changed || r.Removed != step.removed {
			t.Errorf("%s: %d added, %d changed, %d removed", step.what, r.Added, r.Changed, r.Removed)
		}
	}
}

// The metadata file of a document is read when it is made, changed and deleted.
func TestMetadataFileChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.md"), "aardvark")
	l := open(t, "", ingest.Options{Docs: []string{dir}})
	beside := filepath.Join(dir, "a.md.meta.yaml")
	for _, step := range []struct {
		do    func()
		title string
	}{
		{func() {}, "a"},
		{func() { write(t, beside, "title: One\n") }, "One"},
		{func() { write(t, beside, "title: Another\n") }, "Another"},
		{func() { _ = os.Remove(beside) }, "a"},
	} {
		step.do()
		syncAll(t, l)
		if c := found(t, l, "aardvark"); len(c) != 1 || c[0].Title != step.title {
			t.Errorf("found %+v, want the title %q", c, step.title)
		}
	}
}

// A file that was quoted has changed when the quote does not stand at its place any more.
func TestCitedFiles(t *testing.T) {
	t.Parallel()
	dir, page := t.TempDir(), "<title>Bees</title><p>A bee makes honey &amp; wax.</p>"
	write(t, filepath.Join(dir, "a.md"), "# Ants\n\nAn ant carries leaves.\n")
	write(t, filepath.Join(dir, "b.html"), page)
	l := open(t, "", ingest.Options{Docs: []string{dir}})
	syncAll(t, l)
	cited := func(word string) state.Citation {
		c := found(t, l, word)[0]
		return state.Citation{Chunk: c.ID, Root: c.Root, Source: c.Source, Start: c.Start, End: c.End, Quote: c.Text}
	}
	ant, bee := cited("ant"), cited("honey")
	reads := 0
	indexed := func() *ingest.CitedFiles {
		return l.CitedFiles(func(ctx context.Context, ids []string) ([]state.Chunk, error) {
			reads++
			snapshot, err := l.index.Snapshot(ctx, l.View().Roots...)
			if err != nil {
				return nil, err
			}
			return snapshot.Chunks(ctx, ids)
		})
	}
	check := func(what string, antChanged, beeChanged bool) {
		t.Helper()
		for _, files := range []*ingest.CitedFiles{{}, indexed()} {
			if got := files.Changed(t.Context(), ant); got != antChanged {
				t.Errorf("%s: the Markdown changed: %t", what, got)
			}
			if got := files.Changed(t.Context(), bee); got != beeChanged {
				t.Errorf("%s: the page changed: %t", what, got)
			}
		}
	}
	check("at first", false, false)
	if reads == 0 {
		t.Error("the index was not asked")
	}
	write(t, filepath.Join(dir, "a.md"), "# Ants\n\nAn ant carries sand.\n")
	write(t, filepath.Join(dir, "b.html"), "<!-- new -->"+page)
	check("after an edit", true, false)
	_ = os.Remove(filepath.Join(dir, "b.html"))
	check("without the page", true, true)
	if (&ingest.CitedFiles{}).Changed(t.Context(), state.Citation{Quote: "x"}) {
		t.Error("a citation without a root changed")
	}
	if got := ingest.Path("", "x/y.md"); got != "x/y.md" {
		t.Errorf("path %q", got)
	}
}
