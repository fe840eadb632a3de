package main

import "testing"

// Layers that each say what failed say it once to a person.
func TestOnce(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"list threads: list threads: list threads: it is broken": "list threads: it is broken",
		"a: b: a: c": "a: b: a: c",
		"plain":      "plain",
	} {
		if got := once(text); got != want {
			t.Errorf("once(%q) = %q, want %q", text, got, want)
		}
	}
}
