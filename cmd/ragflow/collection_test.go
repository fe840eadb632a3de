package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow"
)

// Two collections with different embedding models stand side by side, whatever
// is configured since; one changes to another model on request (C17).
func TestCollectionsHaveEmbeddersOfTheirOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	docs := filepath.Join(dir, "docs")
	if err := os.Mkdir(docs, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"oregano.md": "Dry oregano for ten days.", "mint.md": "Mint needs a pot."} {
		if err := os.WriteFile(filepath.Join(docs, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	url := embeddingServer(t)
	for _, step := range []struct{ model, args, stdout string }{
		{"letters", "index --collection first " + docs, "embedded 2 passages with letters"},
		{"signs", "index --collection second " + docs, "embedded 2 passages with signs"},
		{"third", "search --collection first --leg dense --top-k 1 oregano", "oregano.md:1"},
		{"third", "search --collection second --leg dense --top-k 1 mint", "mint.md:1"},
		{"third", "config --collection first", "letters"},
		{"third", "index --rebuild --collection first", "embedded 2 passages with third"},
		{"fourth", "config --collection first", "third"},
		{"fourth", "search --collection first --leg dense --top-k 1 mint", "mint.md:1"},
		{"fourth", "config --collection second", "signs"},
	} {
		var stdout, stderr bytes.Buffer
		env := []string{
			"HOME=" + dir, "RAGFLOW_DATA_DIR=" + filepath.Join(dir, "data"),
			"EMBEDDING_MODEL=" + step.model, "EMBEDDING_BASE_URL=" + url,
		}
		code := run(t.Context(), strings.Fields(step.args), strings.NewReader(""), &stdout, &stderr, env)
		if code != exitOK || stderr.Len() > 0 || !strings.Contains(stdout.String(), step.stdout) {
			t.Fatalf("%s %s: exit code %d, want %q on\n%s\nstandard error:\n%s", step.model, step.args, code, step.stdout, &stdout, &stderr)
		}
	}
}

// TestCollectionOfAProgram: the command line answers from a collection that a Go program made.
func TestCollectionOfAProgram(t *testing.T) {
	p := program{t: t, dir: t.TempDir(), data: t.TempDir()}
	a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: p.data})
	if err != nil {
		t.Fatal(err)
	}
	library, err := a.Collections().Make(t.Context(), "notes")
	if err == nil {
		_, err = library.PutText(t.Context(), "heater.md", "Heater", "To reset the heater, hold the red button.", nil)
	}
	if err := errors.Join(err, a.Close()); err != nil {
		t.Fatal(err)
	}
	if out := p.do("index", "collections"); !strings.Contains(out, "notes") {
		t.Errorf("the list is %q", out)
	}
	if out := p.do("ask", "--collection", "notes", "How do I reset the heater?"); !strings.Contains(out, "red button") {
		t.Errorf("the answer is %q", out)
	}
}

// TestForgetInCollection: a folder that is taken out of a collection stays out.
func TestForgetInCollection(t *testing.T) {
	p := program{t: t, dir: t.TempDir(), data: t.TempDir()}
	for name, text := range map[string]string{"a/heater.md": "Hold the red button.", "b/boiler.md": "The boiler hums."} {
		path := filepath.Join(p.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	p.do("index", "--collection", "home", "a", "b")
	p.do("index", "--collection", "home", "--forget", "b")
	if out := p.do("index", "collections"); strings.Contains(out, filepath.Join(p.dir, "b")) || !strings.Contains(out, filepath.Join(p.dir, "a")) {
		t.Errorf("the list is %q", out)
	}
	if out := p.do("search", "--collection", "home", "boiler"); strings.Contains(out, "hums") {
		t.Errorf("found %q", out)
	}
}
