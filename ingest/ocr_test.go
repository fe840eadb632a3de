//go:build unix

package ingest_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/ocr"
)

// TestOCR: a scan that was indexed before is read again once there is OCR, and what was
// recognised stays when there is none any more.
func TestOCR(t *testing.T) {
	scan, err := os.ReadFile(filepath.Join("..", "internal", "pdf", "testdata", "scan.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	dir, data, bin := t.TempDir(), t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "scan.pdf")
	write(t, path, string(scan))
	changed := func(at time.Time) {
		t.Helper()
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	changed(time.Now().Add(-2 * time.Hour))
	program := filepath.Join(bin, "tesseract")
	write(t, program, "#!/bin/sh\nPATH=/usr/bin:/bin\necho >> "+bin+"/calls\ncat > /dev/null\nprintf 'level\\t\\n5\\t1\\t1\\t1\\t1\\t1\\t1\\t1\\t1\\t1\\t90\\tzeppelin\\n'")
	if err := os.Chmod(program, 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	reader, err := ocr.Find("eng", filepath.Join(data, "ocr"))
	if err != nil {
		t.Fatal(err)
	}
	sync := func(r *ocr.Reader, unchanged, unread, hits int) {
		t.Helper()
		l := open(t, data, ingest.Options{Docs: []string{dir}, OCR: r})
		if report := syncAll(t, l); report.Unchanged != unchanged {
			t.Errorf("report %+v", report)
		}
		if problems, err := l.Unread(t.Context()); err != nil || len(problems) != unread {
			t.Errorf("unread %v, %v, want %d", problems, err, unread)
		}
		if n := len(found(t, l, "zeppelin")); n != hits {
			t.Errorf("%d passages, want %d", n, hits)
		}
	}
	sync(nil, 0, 1, 0)
	sync(nil, 1, 1, 0)
	sync(reader, 0, 0, 1)
	sync(reader, 1, 0, 1)
	changed(time.Now().Add(-time.Hour))
	sync(nil, 1, 0, 1)
	changed(time.Now().Add(-time.Minute))
	sync(reader, 1, 0, 1)
	if calls, err := os.ReadFile(bin + "/calls"); err != nil || len(calls) != 1 {
		t.Errorf("%d calls, %v, want 1", len(calls), err)
	}
}
