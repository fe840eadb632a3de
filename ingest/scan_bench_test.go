package ingest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/index"
)

// tenThousand writes 10,000 files of a few hundred words in 100 folders.
func tenThousand(b *testing.B) (dir string) {
	b.Helper()
	dir = b.TempDir()
	for i := range 10_000 {
		path := filepath.Join(dir, strconv.Itoa(i%100), fmt.Sprintf("%d.md", i))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			b.Fatal(err)
		}
		writeOld(b, path, note(i, 0))
	}
	return dir
}

// note is a document; each has words of its own.
func note(i, revision int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "# Note %d\n\nRevision%d of note%d.\n", i, revision, i)
	for section := range 3 {
		fmt.Fprintf(&text, "\n## Section %d\n\n", section)
		for w := range 60 {
			fmt.Fprintf(&text, "word%d ", (i*31+section*17+w*w)%5000)
		}
		text.WriteByte('\n')
	}
	return text.String()
}

// writeOld writes a file that looks as if it were settled.
func writeOld(b *testing.B, path, text string) {
	b.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	old := time.Unix(1_700_000_000, 0)
	if err := os.Chtimes(path, old, old); err != nil {
		b.Fatal(err)
	}
}

// indexTenThousand opens a library over an index in data and indexes dir.
func indexTenThousand(b *testing.B, data, dir string) library {
	b.Helper()
	db, err := index.Open(b.Context(), filepath.Join(data, "index.db"), index.Options{})
	if err != nil {
		b.Fatal(err)
	}
	l := library{ingest.New(db, ingest.Options{Docs: []string{dir}, Clock: time.Now}), db}
	b.Cleanup(func() {
		if err := l.Close(); err != nil {
			b.Error(err)
		}
	})
	if _, err := l.Sync(b.Context()); err != nil {
		b.Fatal(err)
	}
	return l
}

// BenchmarkIndexUnchanged looks at 10,000 unchanged files.
func BenchmarkIndexUnchanged(b *testing.B) {
	l := indexTenThousand(b, b.TempDir(), tenThousand(b))
	for b.Loop() {
		r, err := l.Sync(b.Context())
		if err != nil || r.Unchanged != 10_000 {
			b.Fatal(r, err)
		}
	}
}

// BenchmarkEditOne edits one of 10,000 files and searches for what it says now,
// in a process that runs on and in one that is started for it.
func BenchmarkEditOne(b *testing.B) {
	for _, restart := range []bool{false, true} {
		b.Run(map[bool]string{false: "running", true: "started"}[restart], func(b *testing.B) {
			data, dir := b.TempDir(), tenThousand(b)
			l := indexTenThousand(b, data, dir)
			for n := 1; b.Loop(); n++ {
				i := n * 7919 % 10_000
				path := filepath.Join(dir, strconv.Itoa(i%100), fmt.Sprintf("%d.md", i))
				if err := os.WriteFile(path, []byte(note(i, n)), 0o600); err != nil {
					b.Fatal(err)
				}
				if restart {
					l = indexTenThousand(b, data, dir)
				} else if r, err := l.Sync(b.Context()); err != nil || r.Changed != 1 {
					b.Fatal(r, err)
				}
				c := found(b, l, fmt.Sprintf("revision%d", n))
				if len(c) != 1 || filepath.Base(c[0].Source) != fmt.Sprintf("%d.md", i) {
					b.Fatal(c)
				}
			}
		})
	}
}
