package index_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"example.com/ragflow/internal/index"
)

// TestDeletedTextLeavesTheFile looks for deleted and replaced texts in the bytes of an index
// that stays open: in a segment, in rows, and in the log.
func TestDeletedTextLeavesTheFile(t *testing.T) {
	for _, published := range []bool{true, false} {
		t.Run(fmt.Sprintf("published %v", published), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "index.db")
			db := open(t, path, index.Options{})
			put(t, db, "/docs", file("a.md", "A", "bees are fed in october"))
			publish := func() {
				t.Helper()
				if err := db.Publish(t.Context(), "/docs"); err != nil {
					t.Fatal(err)
				}
			}
			if !published {
				publish() // a segment without what follows
			}
			put(t, db, "/docs",
				file("gate.md", "Gatetitle", "The code of the gate is quetzal4471."), file("wifi.md", "Wifi", "The password is quagga88, for guests."))
			for i := range 50 {
				put(t, db, "/docs", file(fmt.Sprint(i, ".md"), "Other", "pages of the garden and the house"))
			}
			publish()
			holds := func(word string) bool {
				t.Helper()
				for _, end := range []string{"", "-wal"} {
					data, err := os.ReadFile(path + end)
					if err != nil {
						t.Fatal(err)
					}
					if bytes.Contains(bytes.ToLower(data), []byte(word)) {
						return true
					}
				}
				return false
			}
			secrets := []string{"quetzal4471", "code of the gate", "gatetitle", "gate.md", "quagga88", "password is"}
			for _, s := range secrets {
				if !holds(s) {
					t.Fatalf("%q was never there: the test shows nothing", s)
				}
			}
			if err := db.Delete(t.Context(), "/docs", "gate.md"); err != nil {
				t.Fatal(err)
			}
			put(t, db, "/docs", file("wifi.md", "Wifi", "Ask at the desk."))
			publish()
			for _, s := range secrets {
				if holds(s) {
					t.Errorf("%q is still in the file", s)
				}
			}
			check(t, "hits", find(t, searcher(t, db, "/docs"), "desk bees quagga88"), []string{"wifi.md#0", "a.md#0"})
			check(t, "hits of another process", find(t, searcher(t, open(t, path, index.Options{}), "/docs"), "desk bees quagga88"), []string{"wifi.md#0", "a.md#0"})
			if found, err := db.Verify(t.Context()); err != nil || len(found) > 0 {
				t.Errorf("verify: %v, %v", found, err)
			}
		})
	}
}
