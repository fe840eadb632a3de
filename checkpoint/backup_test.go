package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
)

// TestBackup takes backups while a writer is at work. Each holds every commit that
// was acknowledged before, also those that are only in the write-ahead log.
func TestBackup(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "threads.db"))
	defer func() { _ = s.Close() }()
	say(t, s, "t", "r", `{"n":0}`)
	ctx, stop := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 1; ctx.Err() == nil; i++ {
			say(t, s, "t", "r", fmt.Sprintf(`{"n":%d}`, i))
		}
	})
	for i := range 5 {
		acknowledged, err := s.Head(t.Context(), "t")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, fmt.Sprint("backup-", i, ".db"))
		if err := s.Backup(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		b, err := checkpoint.Open(t.Context(), path, checkpoint.Options{Access: checkpoint.ReadOnly})
		if err != nil {
			t.Fatal(err)
		}
		if head, err := b.Head(t.Context(), "t"); err != nil || head.ID < acknowledged.ID {
			t.Errorf("backup %d ends at commit %d, %v; %d was acknowledged", i, head.ID, err, acknowledged.ID)
		}
		if found, err := b.Verify(t.Context()); err != nil || len(found) > 0 {
			t.Errorf("backup %d: %v, %v", i, found, err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	stop()
	writer.Wait()
	if err := s.Backup(t.Context(), filepath.Join(dir, "backup-0.db")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file that exists: %v, want ErrExist", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.partial")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestRestore restores while two handles, as of two processes, have the store open
// and one holds a lease.
func TestRestore(t *testing.T) {
	dir := t.TempDir()
	path, backup := filepath.Join(dir, "threads.db"), filepath.Join(dir, "backup.db")
	s, reader := open(t, path), open(t, path)
	defer func() { _ = errors.Join(s.Close(), reader.Close()) }()
	say(t, s, "kept", "r", `{"n":1}`)
	if err := s.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	lost := say(t, s, "lost", "r", `{"n":2}`)
	l, err := s.Acquire(t.Context(), "kept", graph.AcquireOptions{TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if aside, err := checkpoint.Restore(t.Context(), backup, path); err != nil || aside != "" {
		t.Fatalf("Restore: %q, %v", aside, err)
	}
	for _, handle := range []*checkpoint.SQLite{s, reader} {
		page, err := handle.Threads(t.Context(), graph.ThreadQuery{})
		if err != nil || len(page.Threads) != 1 || page.Threads[0].Thread != "kept" {
			t.Errorf("threads = %v, %v, want the one of the backup", page, err)
		}
	}
	_, err = s.Commit(t.Context(), l, graph.Batch{Commit: graph.Commit{Parent: l.Head, Run: "r", Source: graph.SourceInput, Status: graph.Running}})
	if !errors.Is(err, graph.ErrSuperseded) {
		t.Errorf("commit under a lease from before: %v, want ErrSuperseded", err)
	}
	if id := say(t, reader, "kept", "r", `{}`); id <= lost {
		t.Errorf("commit %d after %d: an id was given twice", id, lost)
	}
	if found, err := s.Verify(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("Verify: %v, %v", found, err)
	}
}

func TestRestoreEncrypted(t *testing.T) {
	dir := t.TempDir()
	path, backup := filepath.Join(dir, "threads.db"), filepath.Join(dir, "backup.db")
	s := openSealed(t, path, "a")
	fill(t, s)
	want := string(content(t, s))
	if err := errors.Join(s.Backup(t.Context(), backup), s.Close()); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "new folder", "threads.db") // does not exist
	if _, err := checkpoint.Restore(t.Context(), backup, other); err != nil {
		t.Fatal(err)
	}
	s = openSealed(t, other, "a")
	defer func() { _ = s.Close() }()
	if got := string(content(t, s)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestRestoreOverDamage sets a store aside that cannot be opened, with its log.
func TestRestoreOverDamage(t *testing.T) {
	dir := t.TempDir()
	path, backup := filepath.Join(dir, "threads.db"), filepath.Join(dir, "backup.db")
	s := open(t, path)
	say(t, s, "kept", "r", `{"n":1}`)
	if err := errors.Join(s.Backup(t.Context(), backup), s.Close()); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{path, path + "-wal"} {
		if err := os.WriteFile(file, []byte("not a database, but long enough to be taken for one, or so it seems; and then some more of it"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	aside, err := checkpoint.Restore(t.Context(), backup, path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(aside); err != nil {
		t.Error(err)
	}
	s = open(t, path)
	defer func() { _ = s.Close() }()
	if _, err := s.Head(t.Context(), "kept"); err != nil {
		t.Error(err)
	}
	if found, err := s.Verify(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("Verify: %v, %v", found, err)
	}
}

// TestRestoreRefuses leaves a store alone when the backup is not a whole one.
func TestRestoreRefuses(t *testing.T) {
	dir := t.TempDir()
	path, backup := filepath.Join(dir, "threads.db"), filepath.Join(dir, "backup.db")
	s := open(t, path)
	defer func() { _ = s.Close() }()
	c := newConversation(t, s)
	for c.turns < 20 {
		c.turn()
	}
	if err := s.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for _, tt := range []struct {
		name, path string
		want       error
	}{
		{"missing", filepath.Join(dir, "nothing.db"), fs.ErrNotExist},
		{"text", write("text.db", []byte("hello, this is no database at all")), checkpoint.ErrDamaged},
		{"cut", write("cut.db", whole[:len(whole)/2]), checkpoint.ErrDamaged},
		{"zeroed", write("zeroed.db", append(append([]byte{}, whole[:8192]...), make([]byte, len(whole)-8192)...)), checkpoint.ErrDamaged},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := checkpoint.Restore(t.Context(), tt.path, path); !errors.Is(err, tt.want) {
				t.Errorf("error = %v, want %v", err, tt.want)
			}
			if head, err := s.Head(t.Context(), c.thread); err != nil || head.ID != c.head {
				t.Errorf("head = %d, %v, want %d", head.ID, err, c.head)
			}
		})
	}
}
