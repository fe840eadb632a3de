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

func TestCacheByWeight(t *testing.T) {
	const most = 100
	c, made := memo.NewWeighed[int](most, func(v int) int { return v }), 0
	get := func(key, weight int) {
		c.Get(key, func() int {
			made++
			return weight
		})
	}
	for range 3 {
		for key := range 10 {
			get(key, 10)
		}
	}
	if made != 10 {
		t.Errorf("%d values made of 10 that weigh %d together", made, most)
	}
	for key := range 10 { // two that are heavier than all others drive them out
		get(100+key%2+2*key, most)
	}
	if _, ok := c.Find(0); ok {
		t.Error("what was not asked for any more is kept beside more than its weight")
	}
	light := 0
	for key := range 10 {
		get(200+key, 0)
		if _, ok := c.Find(200 + key); ok {
			light++
		}
	}
	if light != 10 {
		t.Errorf("%d of 10 values without weight are kept", light)
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
