package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRun(t *testing.T) {
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	for file, text := range map[string]string{a: "one two", b: "three"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := run(t.Context(), []string{a, b})
	if err != nil || s.Words[a] != 2 || s.Words[b] != 1 || s.Words["total"] != 3 {
		t.Errorf("%v %v", s.Words, err)
	}
	if _, err := run(t.Context(), []string{a, "nowhere"}); err == nil {
		t.Error("a missing file is no error")
	}
}
