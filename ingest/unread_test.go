package ingest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/ingest"
)

// TestUnread lists what no search can find, also when nothing of it was read again.
func TestUnread(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{
		"a.md": "# Boats\n\nThe boat is red.\n", "old.xls": "\xd0\xcf\x11\xe0", "broken.docx": "PK\x03\x04",
		"cut.rtf": `{\rtf1 The pump is blue.`, "latin.txt": "Die B\xfccher sind gr\xfcn und sch\xf6n.\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := open(t, "", ingest.Options{Docs: []string{dir}})
	for range 2 {
		if _, err := l.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, err := l.Unread(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range got {
			names = append(names, p.Source)
		}
		if d := cmp.Diff([]string{"broken.docx", "cut.rtf", "old.xls"}, names); d != "" {
			t.Errorf("unread is %+v (-want +got):\n%s", got, d)
		}
	}
}
