package snapshots_test

import (
	"testing"

	"example.com/ragflow/internal/snapshots"
)

func TestDue(t *testing.T) {
	const k = 1 << 10
	for _, tt := range []struct {
		name        string
		z           snapshots.Sizes
		end, within bool
	}{
		{"a short thread", snapshots.Sizes{Tail: 8 * k}, false, false},
		{"more updates than fold at once", snapshots.Sizes{Tail: 8*k + 1}, true, false},
		{"twice the snapshot", snapshots.Sizes{Snapshot: 10 * k, Tail: 20 * k}, false, false},
		{"more than twice", snapshots.Sizes{Snapshot: 10 * k, Tail: 20*k + 1}, true, false},
		{"more than eight times", snapshots.Sizes{Snapshot: 10 * k, Tail: 80*k + 1}, true, true},
		{"tried at this size", snapshots.Sizes{Tail: 100 * k, Tried: 100 * k}, false, false},
		{"half as much again since", snapshots.Sizes{Tail: 151 * k, Tried: 100 * k}, true, true},
	} {
		if end, within := tt.z.DueAtEnd(), tt.z.DueWithin(); end != tt.end || within != tt.within {
			t.Errorf("%s: due at the end %v, within %v", tt.name, end, within)
		}
	}
	if z := (snapshots.Sizes{Snapshot: k, Tail: 2 * k}); z.Pays(k) || !z.Pays(k-1) {
		t.Error("a state pays from a third of what is read")
	}
}
