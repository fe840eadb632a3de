package ingest_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/ragflow/ingest"
	"example.com/ragflow/state"
)

// shelf is a library with a folder for documents, and the folder.
func shelf(t *testing.T) (library, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data", "documents")
	return open(t, "", ingest.Options{Dir: dir}), dir
}

func put(t *testing.T, l library, name, content string, m state.Metadata) ingest.Document {
	t.Helper()
	d, err := l.Put(t.Context(), name, strings.NewReader(content), m)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// names lists the files below a folder, hidden ones too.
func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path != ".ragflowignore" {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A document is stored, found, replaced and deleted, with its metadata.
func TestPut(t *testing.T) {
	t.Parallel()
	l, dir := shelf(t)
	if list, err := l.Documents(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("before the first: %v, %v", list, err)
	}
	got := put(t, l, "guides/apes.md", "# Apes\n\nA gorilla eats leaves.\n", state.Metadata{"author": "Ann", "year": json.Number("2024"), "tags": []any{"a", "b"}})
	want := ingest.FileStatus{Source: "guides/apes.md", Status: ingest.StatusIndexed, Title: "Apes", Chunks: 1, Cut: "markdown"}
	if d := cmp.Diff(want, got.FileStatus, cmpopts.IgnoreFields(ingest.FileStatus{}, "Bytes")); d != "" || time.Since(got.Time) > time.Minute || got.Bytes < 30 {
		t.Errorf("%+v, %s", got, d)
	}
	if _, err := l.Ready(t.Context()); err != nil || !finds(t, l, "gorilla", "guides/apes.md") {
		t.Errorf("it is not found: %v", err)
	}
	known, err := l.index.Files(t.Context(), l.View().Roots[0])
	wantMeta := state.Metadata{"author": "Ann", "year": json.Number("2024"), "tags": []any{"a", "b"}}
	if d := cmp.Diff(wantMeta, known["guides/apes.md"].Metadata); err != nil || d != "" {
		t.Errorf("metadata: %v %s", err, d)
	}
	put(t, l, "guides/apes.md", "# Apes\n\nA gibbon swings.\n", nil)
	if finds(t, l, "gorilla", "guides/apes.md") || !finds(t, l, "gibbon", "guides/apes.md") {
		t.Error("the new version does not replace the old one")
	}
	if d := cmp.Diff([]string{"guides/apes.md"}, names(t, dir)); d != "" {
		t.Errorf("files: %s", d)
	}
	f, err := l.Open("guides/apes.md")
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil || string(content) != "# Apes\n\nA gibbon swings.\n" {
		t.Errorf("read %q, %v", content, err)
	}
	version := l.View().Version
	if err := l.Delete(t.Context(), "guides/apes.md"); err != nil {
		t.Fatal(err)
	}
	if v := l.View(); v.Version != version+1 || len(v.Roots) != 0 {
		t.Errorf("the last document is deleted, and the view is %+v", v)
	}
	if _, err := l.Ready(t.Context()); !errors.Is(err, ingest.ErrNoDocuments) {
		t.Errorf("ready: %v", err)
	}
	_, openErr := l.Open("guides/apes.md")
	_, folderErr := l.Open("guides")
	for what, err := range map[string]error{
		"open": openErr, "open a folder": folderErr, "delete": l.Delete(t.Context(), "guides/apes.md"), "delete a folder": l.Delete(t.Context(), "guides"),
	} {
		if !errors.Is(err, ingest.ErrNoDocument) {
			t.Errorf("%s: %v, want ErrNoDocument", what, err)
		}
	}
	if got := names(t, dir); got != nil {
		t.Errorf("left behind: %q", got)
	}
}

// A text of a program becomes one Markdown file. It cannot set metadata by itself.
func TestPutText(t *testing.T) {
	t.Parallel()
	l, _ := shelf(t)
	d, err := l.PutText(t.Context(), "faq/42", `Why "42"?`, "---\nauthor: Eve\n---\n\nBecause of mice.\n", state.Metadata{"author": "Ann", "public": true})
	if err != nil || d.Source != "faq/42.md" || d.Title != `Why "42"?` || d.Status != ingest.StatusIndexed {
		t.Fatalf("%+v, %v", d, err)
	}
	syncAll(t, l)
	known, err := l.index.Files(t.Context(), l.View().Roots[0])
	if d := cmp.Diff(state.Metadata{"author": "Ann", "public": true, "title": `Why "42"?`}, known["faq/42.md"].Metadata); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	if !finds(t, l, "mice", "faq/42.md") {
		t.Error("the text is not found")
	}
	if _, err := l.PutText(t.Context(), "bare.md", "", "---\nauthor: Eve\n---\n\nplain\n", nil); err != nil {
		t.Fatal(err)
	}
	if known, err = l.index.Files(t.Context(), l.View().Roots[0]); err != nil || len(known["bare.md"].Metadata) != 0 {
		t.Errorf("metadata of the bare text: %v, %v", known["bare.md"].Metadata, err)
	}
	_, err = l.PutText(t.Context(), "large", "", "x", state.Metadata{"note": strings.Repeat("x", 100<<10)})
	if !errors.Is(err, ingest.ErrTooLarge) {
		t.Errorf("too much metadata: %v", err)
	}
}

// Names that leave the folder, that a system cannot store, or that the walk would not find.
func TestPutHostileNames(t *testing.T) {
	t.Parallel()
	l, dir := shelf(t)
	for _, name := range []string{
		"", ".", "..", "/", "../x.md", "a/../../x.md", "/etc/x.md", "a//x.md", "a/", "./x.md", `..\x.md`, `C:\x.md`, "C:x.md", "x.md:stream",
		".hidden.md", "a/.git/x.md", "node_modules/x.md", "con", "CON.md", "a/nul.tar.md", "lpt1.md", "com¹.md", "aux .md", "x.md.", "x.md ", " x.md",
		"x\x00.md", "x\n.md", "x\u202e.md", "\xff.md", "x?.md", "x*.md", "x|y.md", "x.md.meta.yaml", "x.md.meta.json", ".meta.yaml",
		strings.Repeat("x", 241) + ".md", strings.Repeat("a/", 300) + "x.md",
	} {
		if _, err := l.Put(t.Context(), name, strings.NewReader("text"), nil); !errors.Is(err, ingest.ErrName) {
			t.Errorf("put %q: %v, want ErrName", name, err)
		}
		if err := l.Delete(t.Context(), name); !errors.Is(err, ingest.ErrName) {
			t.Errorf("delete %q: %v, want ErrName", name, err)
		}
		if _, err := l.Open(name); !errors.Is(err, ingest.ErrName) {
			t.Errorf("open %q: %v, want ErrName", name, err)
		}
	}
	if _, err := os.Stat(filepath.Dir(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
	for _, name := range []string{"zażółć gęślą.md", "日本/手引き.txt", "a b/c-d_e (2).md", "console.md", "Makefile", strings.Repeat("x", 237) + ".md"} {
		if d := put(t, l, name, "good text", nil); d.Source != name || d.Status != ingest.StatusIndexed {
			t.Errorf("%q: %+v", name, d)
		}
	}
}

// Links in the folder lead nowhere: a document replaces a link, and a folder that is one
// is an error if it leads out.
func TestPutFollowsNoLinks(t *testing.T) {
	t.Parallel()
	l, dir := shelf(t)
	put(t, l, "first.md", "first", nil)
	secret := filepath.Join(t.TempDir(), "secret.md")
	write(t, secret, "secret")
	if err := os.Symlink(secret, filepath.Join(dir, "link.md")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if err := os.Symlink(filepath.Dir(secret), filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Open("link.md"); err == nil {
		t.Error("a link that leads out was opened")
	}
	if _, err := l.Open("out/secret.md"); err == nil {
		t.Error("a document outside of the folder was opened")
	}
	if _, err := l.Put(t.Context(), "out/x.md", strings.NewReader("x"), nil); err == nil {
		t.Error("a document was written outside of the folder")
	}
	if err := l.Delete(t.Context(), "out/secret.md"); err == nil {
		t.Error("a document outside of the folder was deleted")
	}
	put(t, l, "link.md", "mine", nil)
	got, err := os.ReadFile(secret)
	if err != nil || string(got) != "secret" {
		t.Errorf("the target of the link holds %q, %v", got, err)
	}
	if d := cmp.Diff([]string{"first.md", "link.md", "out"}, names(t, dir)); d != "" {
		t.Error(d)
	}
}

// A reader that fails, a document that is too large and one of a kind that is not read leave
// the earlier document and nothing else.
func TestPutFails(t *testing.T) {
	t.Parallel()
	l, dir := shelf(t)
	put(t, l, "a.md", "aardvark", state.Metadata{"author": "Ann"})
	before := names(t, dir)
	broken := errors.New("the line broke")
	for _, tt := range []struct {
		name string
		r    io.Reader
		want error
	}{
		{"a.md", io.MultiReader(strings.NewReader("half of "), iotest.ErrReader(broken)), broken},
		{"a.md", zeros{}, ingest.ErrTooLarge},
		{"photo.png", strings.NewReader("x"), ingest.ErrKind},
		{"package-lock.json", strings.NewReader("{}"), ingest.ErrKind},
		{"LICENSE", strings.NewReader("all rights"), ingest.ErrKind},
		{"a.md/b.md", strings.NewReader("x"), nil}, // a.md is no folder
	} {
		if _, err := l.Put(t.Context(), tt.name, tt.r, nil); err == nil || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	if d := cmp.Diff(before, names(t, dir)); d != "" {
		t.Error(d)
	}
	if syncAll(t, l); !finds(t, l, "aardvark", "a.md") {
		t.Error("the earlier document is lost")
	}
	for what, err := range map[string]error{
		"put":    second(open(t, "", ingest.Options{}).Put(t.Context(), "a.md", strings.NewReader("x"), nil)),
		"delete": open(t, "", ingest.Options{}).Delete(t.Context(), "a.md"),
	} {
		if !errors.Is(err, ingest.ErrNoFolder) {
			t.Errorf("%s without a folder: %v", what, err)
		}
	}
}

func second(_ ingest.Document, err error) error { return err }

// zeros is a reader without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// A document that cannot be read is kept, and the list says why.
func TestPutUnreadable(t *testing.T) {
	t.Parallel()
	l, _ := shelf(t)
	for _, tt := range []struct{ name, content, status, reason string }{
		{"bad.pdf", "no PDF at all", ingest.StatusFailed, "the file is damaged: it is no PDF that can be read"},
		{"binary.md", "a\x00b", ingest.StatusSkipped, "binary file"},
		{"empty.md", "", ingest.StatusEmpty, "the file has no bytes"},
		{"good.md", "good", ingest.StatusIndexed, ""},
	} {
		if d := put(t, l, tt.name, tt.content, nil); d.Status != tt.status || d.Reason != tt.reason {
			t.Errorf("%s: %+v", tt.name, d)
		}
	}
	list, err := l.Documents(t.Context())
	var got []string
	for _, d := range list {
		got = append(got, d.Source+" "+d.Status)
	}
	want := []string{"bad.pdf failed", "binary.md skipped", "empty.md empty", "good.md indexed"}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
}

// The rules of a repository around the data folder do not hide documents that were put.
func TestPutInsideRepository(t *testing.T) {
	t.Parallel()
	l, dir := shelf(t)
	project := filepath.Dir(filepath.Dir(dir))
	write(t, filepath.Join(project, ".git", "HEAD"), "ref: refs/heads/main\n")
	write(t, filepath.Join(project, ".gitignore"), "*.txt\ndata/\n")
	if d := put(t, l, "sub/a.txt", "aardvark", nil); d.Status != ingest.StatusIndexed {
		t.Errorf("%+v", d)
	}
	if r := syncAll(t, l); r.Removed != 0 || !finds(t, l, "aardvark", "sub/a.txt") {
		t.Errorf("the next sync: %+v", r)
	}
}

// Two documents at once are both kept; of two versions of one, one is kept whole.
func TestPutAtOnce(t *testing.T) {
	t.Parallel()
	l, dir := shelf(t)
	var wg sync.WaitGroup
	for i := range 8 {
		for _, name := range []string{fmt.Sprintf("own%d.md", i), "shared.md"} {
			wg.Go(func() {
				words := strings.Repeat(fmt.Sprintf("version%d ", i), 2000)
				if _, err := l.Put(t.Context(), name, iotest.OneByteReader(strings.NewReader(words)), state.Metadata{"version": strconv.Itoa(i)}); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	syncAll(t, l)
	known, err := l.index.Files(t.Context(), l.View().Roots[0])
	if err != nil || len(known) != 9 {
		t.Fatalf("%d files, %v", len(known), err)
	}
	version := known["shared.md"].Meta["version"]
	content, err := os.ReadFile(filepath.Join(dir, "shared.md"))
	if err != nil || string(content) != strings.Repeat("version"+version+" ", 2000) {
		t.Errorf("the document with the metadata of version %s begins with %.20q, %v", version, content, err)
	}
	if got := names(t, dir); len(got) != 18 {
		t.Errorf("files: %q", got)
	}
}

// Files of a killed writer are deleted a day later.
func TestIncomingIsSwept(t *testing.T) {
	t.Parallel()
	l, dir := shelf(t)
	left, young := filepath.Join(dir, ".incoming", "LEFT"), filepath.Join(dir, ".incoming", "YOUNG")
	write(t, left, "half of")
	write(t, young, "half of")
	old := time.Now().Add(-25 * time.Hour)
	if err := os.Chtimes(left, old, old); err != nil {
		t.Fatal(err)
	}
	put(t, l, "a.md", "aardvark", nil)
	if d := cmp.Diff([]string{".incoming/YOUNG", "a.md"}, names(t, dir)); d != "" {
		t.Error(d)
	}
}

// TestKilledWhilePutting kills a process that puts documents. Those that it acknowledged are
// in the index, and the next sync finds no half document.
func TestKilledWhilePutting(t *testing.T) {
	if data := os.Getenv("RAGFLOW_TEST_PUT"); data != "" {
		l := open(t, data, ingest.Options{Dir: filepath.Join(data, "documents")})
		for i := 0; ; i++ {
			put(t, l, fmt.Sprintf("%d.md", i%40), strings.Repeat(fmt.Sprintf("word%d ", i), 500), state.Metadata{"n": strconv.Itoa(i)})
			fmt.Printf("put %d\n", i)
		}
	}
	for _, after := range []int{1, 7, 60} {
		data := t.TempDir()
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledWhilePutting$")
		cmd.Env = append(os.Environ(), "RAGFLOW_TEST_PUT="+data)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		last := -1
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if n, err := fmt.Sscanf(lines.Text(), "put %d", &last); n == 1 && err == nil && last == after {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Wait() // it was killed
		l := open(t, data, ingest.Options{Dir: filepath.Join(data, "documents")})
		root, err := ingest.Root(filepath.Join(data, "documents"))
		if err != nil {
			t.Fatal(err)
		}
		known, err := l.index.Files(t.Context(), root)
		if err != nil || len(known) < min(last+1, 40) {
			t.Fatalf("%d documents were acknowledged, %d are in the index, %v", last+1, len(known), err)
		}
		syncAll(t, l)
		for i := max(0, last-30); i <= last; i++ {
			name := fmt.Sprintf("%d.md", i%40)
			content, err := os.ReadFile(filepath.Join(data, "documents", name))
			if words := bytes.Fields(content); err != nil || len(words) != 500 || !finds(t, l, string(words[0]), name) {
				t.Errorf("killed after %d: %s holds %d words, %v", last, name, len(words), err)
			}
		}
	}
}
