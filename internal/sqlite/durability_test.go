package sqlite_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/ragflow/internal/sqlite"
)

func openSynced(t *testing.T, path string) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Migrations: []string{notes}, Durability: sqlite.PowerLoss})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// writeFor lets writers add notes for a while, and returns how many were saved per second, and how many per
// transaction.
func writeFor(t *testing.T, db *sqlite.DB, writers int, span time.Duration) (rate, group float64) {
	t.Helper()
	before := db.Counters()
	began := time.Now()
	var serial atomic.Int64
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for time.Since(began) < span {
				if err := db.Write(t.Context(), add(fmt.Sprintf("%d of %d writers since %v", serial.Add(1), writers, began))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	after := db.Counters()
	writes := float64(after.Writes - before.Writes)
	if int64(writes) != serial.Load() {
		t.Errorf("%v writes counted, %d acknowledged", writes, serial.Load())
	}
	return writes / time.Since(began).Seconds(), writes / float64(after.Commits-before.Commits)
}

// syncCost returns the time to force a few bytes to the disk, without SQLite.
func syncCost(t *testing.T) time.Duration {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "probe"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	const times = 50
	began := time.Now()
	for range times {
		if _, err := f.Write(make([]byte, 4096)); err != nil {
			t.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	return time.Since(began) / times
}

// TestPowerLossIsSharedByAll checks group commit: 64 writers share each sync, and so write far more than one
// alone. If the disk syncs in no time (tmpfs, or a controller that lies), there is nothing to share. On a
// busy machine writers come back too late, so the best of a few tries counts.
func TestPowerLossIsSharedByAll(t *testing.T) {
	db := openSynced(t, filepath.Join(t.TempDir(), "notes.db"))
	const tries = 5
	for try := range tries {
		cost := syncCost(t)
		alone, one := writeFor(t, db, 1, 300*time.Millisecond)
		many, group := writeFor(t, db, 64, 600*time.Millisecond)
		t.Logf("a sync takes %v; 1 writer: %.0f/s; 64 writers: %.0f/s (%.1f times), %.1f writes a transaction", cost, alone, many, many/alone, group)
		if one != 1 {
			t.Errorf("one writer alone: %.2f writes a transaction", one)
		}
		fast := cost < 200*time.Microsecond
		if fast {
			t.Logf("the disk syncs in %v: the rates are not compared", cost)
		}
		if group >= 32 && (fast || many >= 8*alone) {
			return
		}
		if try == tries-1 {
			t.Errorf("%.1f writes share a sync, want 32 or more; 64 writers write %.1f times what one writes, want 8 or more", group, many/alone)
		}
	}
}

func TestPowerLossAsksTheDisk(t *testing.T) {
	for _, tt := range []struct {
		durability sqlite.Durability
		want       int // as SQLite numbers it
	}{{sqlite.ProcessCrash, 1}, {sqlite.PowerLoss, 2}} {
		db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "notes.db"), sqlite.Options{Durability: tt.durability})
		if err != nil {
			t.Fatal(err)
		}
		var got int
		if err := db.Write(t.Context(), func(tx *sqlite.Tx) error { return tx.QueryRow("PRAGMA synchronous").Scan(&got) }); err != nil || got != tt.want {
			t.Errorf("durability %d: synchronous = %d, %v, want %d", tt.durability, got, err, tt.want)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestFull limits the file, as a full disk does: a write without room is a typed error and leaves nothing;
// once there is room, writing works again.
func TestFull(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "notes.db"))
	limit := func(pages int) {
		t.Helper()
		var got int
		err := db.Write(t.Context(), func(tx *sqlite.Tx) error {
			return tx.QueryRow(fmt.Sprintf("PRAGMA max_page_count = %d", pages)).Scan(&got)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	limit(20)
	saved := 0
	var err error
	for err == nil && saved < 1000 {
		if err = db.Write(t.Context(), add(fmt.Sprint(saved, strings.Repeat(" long", 500)))); err == nil {
			saved++
		}
	}
	if !errors.Is(err, sqlite.ErrFull) || !strings.Contains(err.Error(), "notes.db") {
		t.Fatalf("error = %v, want ErrFull", err)
	}
	if got := len(bodies(t, db)); got != saved || saved == 0 {
		t.Errorf("%d notes, %d were acknowledged", got, saved)
	}
	limit(1 << 20)
	if err := db.Write(t.Context(), add("room again")); err != nil {
		t.Error(err)
	}
	if found, err := db.Check(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("Check: %q, %v", found, err)
	}
}

func TestVacuum(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.db")
	db := open(t, path)
	other := open(t, path)
	for i := range 200 {
		if err := db.Write(t.Context(), add(fmt.Sprint(i, strings.Repeat(" secret", 500)))); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	size := func() int64 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	err := db.Write(t.Context(), func(tx *sqlite.Tx) error { _, err := tx.Exec("DELETE FROM notes WHERE id > 3"); return err })
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Vacuum(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := size(); after*10 > before {
		t.Errorf("%d bytes before, %d after", before, after)
	}
	if got := len(bodies(t, other)); got != 3 {
		t.Errorf("another handle sees %d notes, want 3", got)
	}
	if err := other.Write(t.Context(), add("next")); err != nil {
		t.Error(err)
	}
}

// TestCheck breaks a page after the schema, which opening does not read.
func TestCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.db")
	db := open(t, path)
	for i := range 300 {
		if err := db.Write(t.Context(), add(fmt.Sprint(i, strings.Repeat(" text", 100)))); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := db.Check(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("Check of a whole file: %q, %v", found, err)
	}
	if err := db.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := f.WriteAt([]byte(strings.Repeat("\xff", 512)), 5*4096); err != nil {
		t.Fatal(err)
	}
	broken := open(t, path)
	if found, err := broken.Check(t.Context()); err != nil || len(found) == 0 {
		t.Errorf("Check of a damaged file: %q, %v, want findings", found, err)
	}
}

// TestFileIsGone checks that a write to a deleted or replaced file fails, because nobody could read it again.
func TestFileIsGone(t *testing.T) {
	for _, replaced := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "a.db")
		db, err := sqlite.Open(t.Context(), path, sqlite.Options{Migrations: []string{`CREATE TABLE t(n INTEGER)`}})
		if err != nil {
			t.Fatal(err)
		}
		write := func() error {
			return db.Write(t.Context(), func(tx *sqlite.Tx) error { return tx.Do(`INSERT INTO t VALUES(1)`) })
		}
		if err := write(); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path, path+".old"); err != nil {
			t.Skip("an open file cannot be renamed here:", err)
		}
		if replaced {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := write(); !errors.Is(err, sqlite.ErrGone) {
			t.Errorf("replaced %v: error %v", replaced, err)
		}
		if err := os.Rename(path+".old", path); err != nil {
			t.Fatal(err)
		}
		if err := write(); err != nil { // the file is back
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestFileIsOverwritten checks that the next write notices a file that another program overwrote or
// truncated, and saves nothing.
func TestFileIsOverwritten(t *testing.T) {
	junk := strings.Repeat("junk", 100_000)
	for name, tt := range map[string]struct {
		spoil  func(path string, size int64) error
		alone  error // if the log is empty
		logged error // if the log holds the first and the last page; nil: with it the file is whole
	}{
		"cut in half":            {func(path string, size int64) error { return os.Truncate(path, size/2) }, sqlite.ErrDamaged, sqlite.ErrDamaged},
		"cut to nothing":         {func(path string, _ int64) error { return os.Truncate(path, 0) }, sqlite.ErrDamaged, sqlite.ErrDamaged},
		"overwritten":            {func(path string, size int64) error { return overwrite(path, junk[:size]) }, sqlite.ErrDamaged, sqlite.ErrDamaged},
		"overwritten and longer": {func(path string, _ int64) error { return overwrite(path, junk) }, sqlite.ErrDamaged, sqlite.ErrDamaged},
		"first page lost":        {func(path string, _ int64) error { return overwrite(path, strings.Repeat("\x00", 4096)) }, sqlite.ErrDamaged, nil},
		"more pages announced, as where the log was being moved": {func(path string, _ int64) error {
			head := make([]byte, 100)
			f, err := os.Open(path)
			if err == nil {
				_, err = io.ReadFull(f, head)
				err = errors.Join(err, f.Close())
			}
			copy(head[28:], "\x00\x00\x01\x00")
			copy(head[92:96], head[24:28])
			return errors.Join(err, overwrite(path, string(head)))
		}, sqlite.ErrDamaged, nil},
		"touched": {func(path string, _ int64) error { return os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)) }, nil, nil},
	} {
		for _, flushed := range []bool{true, false} {
			want := tt.alone
			if !flushed {
				want = tt.logged
			}
			t.Run(fmt.Sprint(name, ", flushed ", flushed), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "notes.db")
				db, err := sqlite.Open(t.Context(), path, sqlite.Options{Migrations: []string{notes}})
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = db.Close() }() // a damaged file is an error here too
				write := func(text string) error { return db.Write(t.Context(), add(text)) }
				for i := range 100 {
					if err := write(strings.Repeat(fmt.Sprint("long ", i), 100)); err != nil {
						t.Fatal(err)
					}
				}
				if err := db.Checkpoint(t.Context()); err != nil {
					t.Fatal(err)
				}
				if !flushed {
					if err := write(strings.Repeat("more", 4000)); err != nil {
						t.Fatal(err)
					}
				}
				info, err := os.Stat(path)
				if err == nil {
					err = tt.spoil(path, info.Size())
				}
				if err != nil {
					t.Fatal(err)
				}
				for i := range 5 {
					err := write(fmt.Sprint("lost", i))
					if !errors.Is(err, want) || err != nil && !strings.Contains(err.Error(), "restore it from a backup") {
						t.Errorf("error = %v, want %v", err, want)
					}
				}
				if want != nil {
					if log, err := os.ReadFile(path + "-wal"); err != nil || strings.Contains(string(log), "lost") {
						t.Errorf("the log holds what was refused, %v", err)
					}
				}
			})
		}
	}
}

// overwrite replaces the beginning of a file in place.
func overwrite(path, data string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteAt([]byte(data), 0)
		err = errors.Join(err, f.Close())
	}
	return err
}
