package graph

import "testing"

func TestLRU(t *testing.T) {
	var l lru[int]
	for i, key := range []string{"a", "b", "c"} {
		l.put(key, i, 10, 3, 100)
	}
	if _, ok := l.get("a"); !ok { // a is the newest now
		t.Error("a is gone")
	}
	l.put("d", 3, 10, 3, 100)
	if _, ok := l.get("b"); ok || l.len() != 3 {
		t.Error("b was used longest ago and should be gone")
	}
	l.put("e", 4, 85, 3, 100) // leaves room for one more of 10
	if got := l.len(); got != 2 || l.weight != 95 {
		t.Errorf("%d values of weight %d, want 2 of 95", got, l.weight)
	}
	l.put("huge", 5, 101, 3, 100)
	if got := l.len(); got != 0 || l.weight != 0 {
		t.Errorf("%d values of weight %d, want none: one too heavy is not kept", got, l.weight)
	}
	l.put("f", 6, 1, 3, 100)
	l.drop("f", func(v int) bool { return v != 6 })
	if _, ok := l.get("f"); !ok {
		t.Error("f was dropped, though another was meant")
	}
	l.clear()
	if got := l.len(); got != 0 {
		t.Errorf("%d values after clear", got)
	}
}
