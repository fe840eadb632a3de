package address_test

import (
	"testing"

	"example.com/ragflow/internal/address"
)

func TestOf(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{address.Of("", "a", 0), "a"},
		{address.Of("a", "b", 2), "a/b#2"},
		{address.Root("a/b#2/c#1"), "a"},
		{address.Root("b[3]/c#1"), "b"},
		{address.Nodes(""), ""},
		{address.Nodes("a/b#2[0]"), "a/b/"},
		{address.Nodes("a[1]/b#2/c#10"), "a/b/c/"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func TestWithin(t *testing.T) {
	for _, tt := range []struct {
		path, task string
		want       bool
	}{
		{"a", "a", true},
		{"a/b#1", "a", true},
		{"a[2]", "a", true},
		{"ab", "a", false},
		{"a", "a/b#1", false},
		{"a/b#12", "a/b#1", false},
	} {
		if got := address.Within(tt.path, tt.task); got != tt.want {
			t.Errorf("%q within %q: %v, want %v", tt.path, tt.task, got, tt.want)
		}
	}
}

// The point is the second step of the subgraph a/b#3: a keeps two steps, and what ran in them.
func TestSteps(t *testing.T) {
	s := address.UpTo("a/b#3", 2)
	for _, tt := range []struct {
		path string
		step int
		want bool
	}{
		{"a", 2, true},
		{"a", 3, false},
		{"a/b#3", 2, true},
		{"a/b#3", 3, false},
		{"a/c#2", 9, true},
		{"a/c#3", 1, false},
		{"a/b#3/d#2", 7, true},
		{"a/b#3/d#3", 1, false},
		{"other", 1, false},
	} {
		if got := s.Keep(tt.path, tt.step); got != tt.want {
			t.Errorf("step %d of %q: %v, want %v", tt.step, tt.path, got, tt.want)
		}
	}
	if outer, step, ok := address.Outer("a/b#3[1]"); outer != "a" || step != 3 || !ok {
		t.Errorf("around a part: %q, %d, %v", outer, step, ok)
	}
}
