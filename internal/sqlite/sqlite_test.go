package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/sqlite"
)

const notes = `CREATE TABLE notes(id INTEGER PRIMARY KEY, body TEXT NOT NULL UNIQUE) STRICT`

func open(t *testing.T, path string) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Migrations: []string{notes}, ApplicationID: 7})
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

func add(body string) func(*sqlite.Tx) error {
	return func(tx *sqlite.Tx) error {
		_, err := tx.Exec(`INSERT INTO notes(body) VALUES(?)`, body)
		return err
	}
}

func bodies(t *testing.T, db *sqlite.DB) []string {
	t.Helper()
	var got []string
	err := db.Read(t.Context(), func(tx *sqlite.Tx) error {
		got = nil
		for row := range tx.Query(`SELECT body FROM notes ORDER BY id`) {
			var s string
			if err := row.Scan(&s); err != nil {
				return err
			}
			got = append(got, s)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func ExampleOpen() {
	ctx := context.Background()
	db, err := sqlite.Open(ctx, ":memory:", sqlite.Options{Migrations: []string{
		`CREATE TABLE notes(id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT`,
	}})
	if err != nil {
		panic(err)
	}
	defer func() { _ = db.Close() }()
	err = db.Write(ctx, func(tx *sqlite.Tx) error {
		_, err := tx.Exec(`INSERT INTO notes(body) VALUES(?)`, "hello")
		return err
	})
	if err != nil {
		panic(err)
	}
	var body string
	err = db.Read(ctx, func(tx *sqlite.Tx) error {
		return tx.QueryRow(`SELECT body FROM notes WHERE id = ?`, 1).Scan(&body)
	})
	fmt.Println(body, err)
	// Output: hello <nil>
}

func TestWriteRead(t *testing.T) {
	for _, name := range []string{"file", "memory"} {
		t.Run(name, func(t *testing.T) {
			path := ":memory:"
			if name == "file" {
				path = filepath.Join(t.TempDir(), "new folder", "a?b#c%20 d.db")
			}
			db := open(t, path)
			for _, body := range []string{"a", "b"} {
				if err := db.Write(t.Context(), add(body)); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Write(t.Context(), add("a")); err == nil {
				t.Error("a broken constraint was saved")
			}
			if diff := cmp.Diff([]string{"a", "b"}, bodies(t, db)); diff != "" {
				t.Errorf("bodies (-want +got):\n%s", diff)
			}
			err := db.Read(t.Context(), add("c"))
			if err == nil {
				t.Error("a read has written")
			}
			if name == "memory" {
				return
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := info.Mode().Perm(); got != 0o600 && runtime.GOOS != "windows" {
				t.Errorf("mode = %o, want 600", got)
			}
		})
	}
}

func TestMemoryDatabasesArePrivate(t *testing.T) {
	a, b := open(t, ""), open(t, "")
	if err := a.Write(t.Context(), add("a")); err != nil {
		t.Fatal(err)
	}
	if got := bodies(t, b); len(got) != 0 {
		t.Errorf("the other database holds %q", got)
	}
}

func TestFailedWriteLeavesNothing(t *testing.T) {
	db := open(t, ":memory:")
	boom := errors.New("boom")
	err := db.Write(t.Context(), func(tx *sqlite.Tx) error {
		return errors.Join(add("a")(tx), boom)
	})
	if !errors.Is(err, boom) {
		t.Errorf("error = %v, want boom", err)
	}
	err = db.Write(t.Context(), func(tx *sqlite.Tx) error {
		_ = add("b")(tx)
		panic("ouch")
	})
	if err == nil || !strings.Contains(err.Error(), "ouch") {
		t.Errorf("error = %v, want one that names the panic", err)
	}
	err = db.Write(t.Context(), func(tx *sqlite.Tx) error {
		_, err := tx.Exec("ROLLBACK") // a callback that breaks the transaction itself
		return errors.Join(err, boom)
	})
	if !errors.Is(err, boom) {
		t.Errorf("error = %v, want boom", err)
	}
	if err := db.Write(t.Context(), add("c")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"c"}, bodies(t, db)); diff != "" {
		t.Errorf("bodies (-want +got):\n%s", diff)
	}
}

// TestGroup holds the writer until many writes wait, so that they share a
// transaction; the failing ones must not take others with them.
func TestGroup(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "x.db"))
	inside, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = db.Write(t.Context(), func(*sqlite.Tx) error {
			close(inside)
			<-release
			return nil
		})
	})
	<-inside
	before := db.Counters()
	boom := errors.New("boom")
	errs := make([]error, 30)
	for i := range errs {
		wg.Go(func() {
			errs[i] = db.Write(t.Context(), func(tx *sqlite.Tx) error {
				if err := add(strconv.Itoa(i))(tx); err != nil {
					return err
				}
				switch i % 3 {
				case 1:
					return boom
				case 2:
					panic("ouch")
				}
				return nil
			})
		})
	}
	close(release)
	wg.Wait()
	for i, err := range errs {
		if (err == nil) != (i%3 == 0) {
			t.Errorf("write %d: %v", i, err)
		}
	}
	if got := len(bodies(t, db)); got != 10 {
		t.Errorf("%d rows, want 10", got)
	}
	if got := db.Counters().Writes - before.Writes; got < 10 {
		t.Errorf("%d writes counted, want at least 10", got)
	}
}

func TestReadIsASnapshot(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "x.db"))
	count := func(tx *sqlite.Tx) (n int, err error) {
		err = tx.QueryRow(`SELECT count(*) FROM notes`).Scan(&n)
		return n, err
	}
	err := db.Read(t.Context(), func(tx *sqlite.Tx) error {
		if _, err := count(tx); err != nil {
			return err
		}
		if err := db.Write(t.Context(), add("a")); err != nil {
			return err
		}
		n, err := count(tx)
		if n != 0 {
			t.Errorf("the snapshot sees %d later rows", n)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWriteEndsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	a, b := open(t, path), open(t, path) // two handles, as two processes would have
	inside, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := a.Write(t.Context(), func(tx *sqlite.Tx) error {
			close(inside)
			<-release
			return add("a")(tx)
		}); err != nil {
			t.Error(err)
		}
	})
	<-inside
	for name, db := range map[string]*sqlite.DB{"queued": a, "locked out": b} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		err := db.Write(ctx, add(name))
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: error = %v, want the deadline", name, err)
		}
	}
	if got := bodies(t, b); len(got) != 0 { // a reader never waits
		t.Errorf("rows %q before the commit", got)
	}
	wg.Go(func() {
		if err := b.Write(t.Context(), add("b")); err != nil {
			t.Error(err)
		}
	})
	close(release)
	wg.Wait()
	if diff := cmp.Diff([]string{"a", "b"}, bodies(t, b)); diff != "" {
		t.Errorf("bodies (-want +got):\n%s", diff)
	}
}

// TestManyHandles opens and writes one file from many handles at once: first
// opening, migration and writing all race, and nobody may see a lock.
func TestManyHandles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	var wg sync.WaitGroup
	for h := range 6 {
		wg.Go(func() {
			db, err := sqlite.Open(t.Context(), path, sqlite.Options{Migrations: []string{notes}})
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = db.Close() }()
			for i := range 20 {
				if err := db.Write(t.Context(), add(fmt.Sprint(h, "/", i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Migrations: []string{notes}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if got := len(bodies(t, db)); got != 120 {
		t.Errorf("%d rows, want 120", got)
	}
}

func TestMigrations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	open1 := func(id int32, migrations ...string) error {
		db, err := sqlite.Open(t.Context(), path, sqlite.Options{Migrations: migrations, ApplicationID: id})
		if err != nil {
			return err
		}
		return db.Close()
	}
	second := `ALTER TABLE notes ADD COLUMN extra TEXT; CREATE TABLE more(x INTEGER) STRICT`
	if err := errors.Join(open1(7, notes), open1(7, notes, second), open1(7, notes, second)); err != nil {
		t.Fatal(err)
	}
	if err := open1(7, notes, second, `CREATE TABLE third(x INTEGER); CREATE TABLE notes(x INTEGER)`); err == nil {
		t.Error("a broken migration succeeded")
	}
	if err := open1(7, notes, second, `CREATE TABLE third(x INTEGER)`); err != nil {
		t.Errorf("the broken migration left something behind: %v", err)
	}
	err := open1(7, notes)
	if !errors.Is(err, sqlite.ErrNewer) || !strings.Contains(err.Error(), "schema 3, this one knows 1") {
		t.Errorf("error = %v, want ErrNewer with both versions", err)
	}
	err = open1(8, notes, second)
	if !errors.Is(err, sqlite.ErrForeign) || !strings.Contains(err.Error(), "0x7, want 0x8") {
		t.Errorf("error = %v, want ErrForeign with both ids", err)
	}
}

func TestDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db := open(t, path)
	for i := range 200 {
		if err := db.Write(t.Context(), add(strings.Repeat("x", 100)+strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		file []byte
	}{
		{"another kind of file", []byte(strings.Repeat("not a database\n", 1000))},
		{"short text", []byte("hello")},
		{"cut in the middle", whole[:len(whole)/2]},
		{"zeroed pages", append(append([]byte{}, whole[:4096]...), make([]byte, len(whole)-4096)...)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			if err := os.WriteFile(path, tt.file, 0o600); err != nil {
				t.Fatal(err)
			}
			db, err := sqlite.Open(t.Context(), path, sqlite.Options{Migrations: []string{notes}, ApplicationID: 7})
			if err == nil {
				err = db.Read(t.Context(), func(tx *sqlite.Tx) error {
					var n int
					return tx.QueryRow(`SELECT sum(length(body)) FROM notes`).Scan(&n)
				})
				err = errors.Join(err, db.Close())
			}
			if e, ok := errors.AsType[*sqlite.Error](err); !ok || !errors.Is(e, sqlite.ErrDamaged) || e.Path != path {
				t.Errorf("error = %v, want ErrDamaged that names %s", err, path)
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(len(tt.file), len(got)); diff != "" || string(got) != string(tt.file) {
				t.Errorf("the file was changed (-want +got of its length):\n%s", diff)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"folder":             dir,
		"file as a folder":   filepath.Join(file, "x.db"),
		"NUL in path":        "a\x00b",
		"path that is a dir": dir + string(filepath.Separator),
	} {
		if db, err := sqlite.Open(t.Context(), path, sqlite.Options{}); err == nil {
			t.Errorf("%s: opened", name)
			_ = db.Close()
		}
	}
}

func TestClosed(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "x.db"))
	if err := errors.Join(db.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	if err := db.Write(t.Context(), add("a")); !errors.Is(err, sqlite.ErrClosed) {
		t.Errorf("Write = %v, want ErrClosed", err)
	}
	if err := db.Read(t.Context(), add("a")); !errors.Is(err, sqlite.ErrClosed) {
		t.Errorf("Read = %v, want ErrClosed", err)
	}
}

// TestCloseWhileWriting lets Close race with writes: each is saved or refused,
// and what was acknowledged is there.
func TestCloseWhileWriting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db := open(t, path)
	var mu sync.Mutex
	saved := 0
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			err := db.Write(t.Context(), add(strconv.Itoa(i)))
			if err != nil && !errors.Is(err, sqlite.ErrClosed) {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				saved++
			}
		})
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if got := len(bodies(t, open(t, path))); got != saved {
		t.Errorf("%d rows, %d acknowledged", got, saved)
	}
}

func TestReadIsInterrupted(t *testing.T) {
	db := open(t, ":memory:")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := db.Read(ctx, func(tx *sqlite.Tx) error {
		var n int
		return tx.QueryRow(`WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c`).Scan(&n)
	})
	if err == nil {
		t.Error("an endless query ended")
	}
	ctx, cancel = context.WithCancel(t.Context())
	err = db.Read(ctx, func(tx *sqlite.Tx) error {
		for row := range tx.Query(`WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT x FROM c`) {
			var x int
			if err := row.Scan(&x); err != nil {
				return err
			}
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want canceled", err)
	}
	if got := bodies(t, db); len(got) != 0 {
		t.Errorf("rows %q", got)
	}
}

// TestReadersSurviveCancellation cancels reads at every possible point; the connections must stay usable.
func TestReadersSurviveCancellation(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "x.db"))
	if err := db.Write(t.Context(), add("a")); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 400 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Microsecond)
		wg.Go(func() {
			defer cancel()
			_ = db.Read(ctx, func(tx *sqlite.Tx) error {
				var n int
				return tx.QueryRow(`SELECT count(*) FROM notes`).Scan(&n)
			})
		})
	}
	wg.Wait()
	for range 20 {
		if got := bodies(t, db); len(got) != 1 {
			t.Fatalf("rows %q", got)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	db, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "x.db"), sqlite.Options{
		Migrations: []string{`CREATE TABLE notes(id INTEGER PRIMARY KEY, body TEXT) STRICT`},
	})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	body := strings.Repeat("x", 1000)
	for b.Loop() {
		if err := db.Write(b.Context(), add(body)); err != nil {
			b.Fatal(err)
		}
	}
}

// TestLocked waits for a lock for the whole patience, saves nothing, and works again when the lock is free.
func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.db")
	holder := open(t, path)
	waiting, err := sqlite.Open(t.Context(), path, sqlite.Options{Migrations: []string{notes}, ApplicationID: 7, Patience: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer waiting.Close()
	if err := holder.Write(t.Context(), func(tx *sqlite.Tx) error {
		if err := add("held")(tx); err != nil {
			return err
		}
		err := waiting.Write(t.Context(), add("too early"))
		if !errors.Is(err, sqlite.ErrLocked) || !strings.Contains(err.Error(), path) {
			t.Errorf("got %v, want ErrLocked that names the file", err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := waiting.Write(t.Context(), add("in time")); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"held", "in time"}, bodies(t, waiting)); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}
