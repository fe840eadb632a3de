package memo_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"example.com/ragflow/internal/memo"
)

// TestWords compares with a map.
func TestWords(t *testing.T) {
	var w memo.Words[int]
	if _, ok := w.Get("nothing"); ok {
		t.Error("the zero value has a word")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 5 {
		twin := map[string]int{}
		for range 20_000 {
			word := strings.Repeat("ab", r.IntN(12)) + strconv.Itoa(r.IntN(1<<(4*r.IntN(4))))
			value, found := w.At(word)
			if before, ok := twin[word]; ok != found || *value != before {
				t.Fatalf("round %d: At(%q) = %d, %v, want %d, %v", round, word, *value, found, before, ok)
			}
			*value = r.IntN(1000)
			twin[word] = *value
			other := strconv.Itoa(r.IntN(1 << 12))
			got, ok := w.Get(other)
			if want, there := twin[other]; got != want || ok != there {
				t.Fatalf("round %d: Get(%q) = %d, %v, want %d, %v", round, other, got, ok, want, there)
			}
		}
		if w.Len() != len(twin) {
			t.Errorf("round %d: %d words, want %d", round, w.Len(), len(twin))
		}
		n := 0
		w.All(func(word string, value int) {
			if n++; twin[word] != value {
				t.Errorf("round %d: All gives %q %d, want %d", round, word, value, twin[word])
			}
		})
		if n != len(twin) {
			t.Errorf("round %d: All gives %d words, want %d", round, n, len(twin))
		}
		w.Clear()
	}
	w.All(func(word string, _ int) { t.Errorf("after Clear there is %q", word) })
}

var sink int

func BenchmarkWords(b *testing.B) {
	var list []string
	for i := range 20_000 {
		list = append(list, strings.Repeat("word", i%3)+strconv.Itoa(i*7919))
	}
	b.Run("map", func(b *testing.B) {
		m := map[string]int{}
		for i, s := range list {
			m[s] = i
		}
		i := 0
		for b.Loop() {
			sink += m[list[i]]
			i = (i*5 + 7) % len(list)
		}
	})
	b.Run("words", func(b *testing.B) {
		var w memo.Words[int]
		for i, s := range list {
			v, _ := w.At(s)
			*v = i
		}
		i := 0
		for b.Loop() {
			v, _ := w.Get(list[i])
			sink += v
			i = (i*5 + 7) % len(list)
		}
	})
}
