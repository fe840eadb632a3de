package ingest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/ingest"
)

func TestCollectionNames(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{
		"handbook": true, "2024-notes_b": true, "a": true, strings.Repeat("a", 64): true,
		"": false, "Handbook": false, "../x": false, "a/b": false, "-a": false, ".a": false, "ż": false, "a b": false,
		"con": false, "lpt1": false, strings.Repeat("a", 65): false,
	} {
		if err := ingest.CheckCollection(name); (err == nil) != ok || !ok && !errors.Is(err, ingest.ErrCollectionName) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestCollections(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	list := func(want ...string) {
		t.Helper()
		got, err := ingest.Collections(data)
		if d := cmp.Diff(append([]string{}, want...), got); err != nil || d != "" {
			t.Errorf("%v %s", err, d)
		}
	}
	list()
	for _, name := range []string{"notes", "books"} {
		if err := ingest.MakeCollection(data, name); err != nil {
			t.Fatal(err)
		}
	}
	list("books", "notes")
	if err := ingest.MakeCollection(data, "books"); !errors.Is(err, ingest.ErrCollectionExists) {
		t.Errorf("the same again: %v", err)
	}
	dir := ingest.CollectionDir(data, "books")
	l := open(t, dir, ingest.Options{Dir: ingest.DocumentsDir(data, "books")})
	put(t, l, "a.md", "aardvark", nil)
	if v, err := l.Ready(t.Context()); err != nil || v.Files != 1 {
		t.Errorf("%+v, %v", v, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := ingest.DeleteCollection(data, "books"); err != nil {
		t.Fatal(err)
	}
	list("notes")
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	for name, want := range map[string]error{"books": ingest.ErrNoCollection, "..": ingest.ErrCollectionName, "": ingest.ErrCollectionName} {
		if err := ingest.DeleteCollection(data, name); !errors.Is(err, want) {
			t.Errorf("delete %q: %v, want %v", name, err, want)
		}
	}
	if err := ingest.MakeCollection(data, "../x"); !errors.Is(err, ingest.ErrCollectionName) {
		t.Errorf("make: %v, want ErrCollectionName", err)
	}
	// A collection that is made again begins empty.
	if err := ingest.MakeCollection(data, "books"); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, dir, ingest.Options{Dir: ingest.DocumentsDir(data, "books")}).Ready(t.Context()); !errors.Is(err, ingest.ErrNoDocuments) {
		t.Errorf("%v, want ErrNoDocuments", err)
	}
}
