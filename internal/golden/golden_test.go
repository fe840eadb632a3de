package golden_test

import (
	"os"
	"path/filepath"
	"testing"

	"example.com/ragflow/internal/golden"
)

// recorder records whether a test would have failed.
type recorder struct {
	testing.TB
	failed bool
}

func (*recorder) Helper()                 {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }

func TestAssert(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.txt")
	if err := os.WriteFile(path, []byte("one\r\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, got string
		fails     bool
	}{
		{"same", "one\ntwo\n", false},
		{"other", "one\n2\n", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &recorder{TB: t}
			golden.Assert(r, path, []byte(tt.got))
			if r.failed != tt.fails {
				t.Errorf("Assert failed = %v, want %v", r.failed, tt.fails)
			}
		})
	}
}
