package ingest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/ragflow/search/index"
)

// TestWatchFolderComesBack moves the whole folder away, which is told once, and back.
func TestWatchFolderComesBack(t *testing.T) {
	docs := filepath.Join(t.TempDir(), "docs")
	if err := os.Mkdir(docs, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(docs, "a.md"), []byte("# A"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := newLibrary(t, docs)
	told := make(chan WatchEvent, 8)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- l.Watch(ctx, WatchOptions{Every: 20 * time.Millisecond, Tell: func(e WatchEvent) { told <- e }})
	}()
	next := func(what string) WatchEvent {
		select {
		case e := <-told:
			return e
		case <-time.After(20 * time.Second):
			t.Fatal("not told of " + what)
		}
		return WatchEvent{}
	}
	next("the beginning")
	if err := os.Rename(docs, docs+"2"); err != nil {
		t.Fatal(err)
	}
	if e := next("a folder that is gone"); e.Err == nil {
		t.Errorf("told of %+v, want an error", e)
	}
	if err := os.WriteFile(filepath.Join(docs+"2", "b.md"), []byte("# B"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(docs+"2", docs); err != nil {
		t.Fatal(err)
	}
	if e := next("a folder that came back"); e.Err != nil || len(e.Changes) != 1 || e.Changes[0].Source != "b.md" {
		t.Errorf("told of %+v, want b.md added", e)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// newLibrary returns a library of documents in an index in memory.
func newLibrary(t *testing.T, docs ...string) *Library {
	t.Helper()
	db, err := index.Open(t.Context(), "", index.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return New(db, Options{Docs: docs, Clock: time.Now, Serve: func(context.Context, []string) error { return nil }})
}
