package ingest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

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
		ended <- l.Watch(ctx, WatchOptions{Debounce: time.Millisecond, Scan: time.Hour, Poll: 20 * time.Millisecond, Tell: func(e WatchEvent) { told <- e }})
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

// TestWatchLostCount has the system lose count of changes: everything is looked
// at then, at once and without going over to polling.
func TestWatchLostCount(t *testing.T) {
	docs := t.TempDir()
	page := func(name string) {
		if err := os.WriteFile(filepath.Join(docs, name), []byte("# "+name+"\n\nText of "+name+"."), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	page("first.md")
	l := newLibrary(t, docs)
	told := make(chan WatchEvent, 8)
	w := newWatch(l, WatchOptions{Scan: time.Hour, Tell: func(e WatchEvent) { told <- e }})
	defer w.close()
	faults := make(chan error, 1)
	w.changes, w.faults = nil, faults // the system tells nothing but that it lost count
	if err := w.index(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	<-told
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.loop(ctx) }()
	page("second.md")
	faults <- fsnotify.ErrEventOverflow
	select {
	case e := <-told:
		if e.Err != nil || len(e.Changes) != 1 || e.Changes[0].Source != "second.md" || e.Changes[0].What != FileAdded {
			t.Errorf("told of %+v, want second.md added", e)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("nothing was looked at after changes were lost")
	}
	stop()
	if err := <-ended; err != nil || w.polling {
		t.Errorf("ended with %v, polling %v", err, w.polling)
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
