package memo_test

import (
	"strconv"
	"sync"
	"testing"

	"example.com/ragflow/internal/memo"
)

func TestCache(t *testing.T) {
	const most = 4
	c, made := memo.New[int, string](most), 0
	get := func(key int) string {
		return c.Get(key, func() string {
			made++
			return strconv.Itoa(key)
		})
	}
	for key := range most {
		get(key)
	}
	for range 10 * most {
		if got := get(0); got != "0" {
			t.Fatalf("Get(0) = %q", got)
		}
	}
	if made != most {
		t.Errorf("%d values made of %d keys", made, most)
	}
	for key := range 100 * most { // 0 is asked for all the time, the others once
		get(key)
		get(0)
	}
	if want := 100 * most; made != want {
		t.Errorf("%d values made, want %d: a key in use was forgotten, or one out of use kept", made, want)
	}
}

func TestCacheShares(t *testing.T) {
	c := memo.New[string, *int](8)
	var asking sync.WaitGroup
	got := make([]*int, 50)
	for i := range got {
		asking.Go(func() { got[i] = c.Get("k", func() *int { return new(int) }) })
	}
	asking.Wait()
	for _, p := range got {
		if p != got[0] {
			t.Fatal("callers got different values of one key")
		}
	}
}
