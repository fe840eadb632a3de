package lru

import (
	"strconv"
	"testing"
)

func TestLRU(t *testing.T) {
	var l Cache[string, int]
	for i, key := range []string{"a", "b", "c"} {
		l.Put(key, i, 10, 3, 100)
	}
	if _, ok := l.Get("a"); !ok { // a is the newest now
		t.Error("a is gone")
	}
	l.Put("d", 3, 10, 3, 100)
	if _, ok := l.Get("b"); ok || l.Len() != 3 {
		t.Error("b was used longest ago and should be gone")
	}
	l.Put("e", 4, 85, 3, 100) // leaves room for one more of 10
	if got := l.Len(); got != 2 || l.weight != 95 {
		t.Errorf("%d values of weight %d, want 2 of 95", got, l.weight)
	}
	l.Put("huge", 5, 101, 3, 100)
	if got := l.Len(); got != 0 || l.weight != 0 {
		t.Errorf("%d values of weight %d, want none: one too heavy is not kept", got, l.weight)
	}
	l.Put("f", 6, 1, 3, 100)
	l.Drop("none")
	if _, ok := l.Get("f"); !ok {
		t.Error("f was dropped, though another was meant")
	}
	l.Drop("f")
	if _, ok := l.Get("f"); ok {
		t.Error("f was not dropped")
	}
	l.Clear()
	if got := l.Len(); got != 0 {
		t.Errorf("%d values after clear", got)
	}
}

func TestMake(t *testing.T) {
	var l Cache[int, string]
	made := 0
	get := func(key int) string {
		return l.Make(key, 4, func() string { made++; return strconv.Itoa(key) })
	}
	for key := range 100 { // 0 is asked for all the time, the others once
		if got := get(key) + get(0); got != strconv.Itoa(key)+"0" {
			t.Fatalf("got %q", got)
		}
	}
	if made != 100 || l.Len() != 4 {
		t.Errorf("%d values made and %d kept, want 100 and 4: a key in use was forgotten, or one out of use kept", made, l.Len())
	}
}
