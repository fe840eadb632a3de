package settings

import "testing"

func TestQuotedForWindows(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"work": "work", "a b": `"a b"`, `x"y`: `"x\"y"`} {
		if got := quotedFor("windows", name); got != want {
			t.Errorf("quoted(%q) = %s, want %s", name, got, want)
		}
	}
}
