package memo_test

import (
	"encoding/binary"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"example.com/ragflow/internal/memo"
)

// randomWord is short most often, and long, or very long, at times.
func randomWord(r *rand.Rand) string {
	long := []int{12, 12, 12, 12, 12, 12, 12, 70, 300}[r.IntN(9)]
	return strings.Repeat("ab", r.IntN(long)) + strconv.Itoa(r.IntN(1<<(4*r.IntN(4))))
}

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
			word := randomWord(r)
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

// TestShared compares with a map, and asks for what there is and is not.
func TestShared(t *testing.T) {
	var w memo.Shared
	if _, ok := w.Get("nothing"); ok || w.Len() != 0 {
		t.Error("the zero value has a word")
	}
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 3 {
		twin := map[string]uint32{}
		for range 20_000 {
			word, n := randomWord(r), r.Uint32()
			got, ok := w.Get(word)
			want, there := twin[word]
			if got != want || ok != there {
				t.Fatalf("round %d: Get(%q) = %d, %v, want %d, %v", round, word, got, ok, want, there)
			}
			if !there {
				twin[word], want = n, n
			}
			if got := w.Add(word, n); got != want {
				t.Fatalf("round %d: Add(%q, %d) = %d, want %d", round, word, n, got, want)
			}
		}
		if w.Len() != len(twin) {
			t.Errorf("round %d: %d words, want %d", round, w.Len(), len(twin))
		}
		w.Clear()
	}
	if _, ok := w.Get("0"); ok || w.Len() != 0 {
		t.Error("after Clear there is a word")
	}
}

// TestSharedAtOnce adds words from several sides while all of them look up.
func TestSharedAtOnce(t *testing.T) {
	var w memo.Shared
	var group sync.WaitGroup
	for side := range 4 {
		group.Go(func() {
			r := rand.New(rand.NewPCG(5, uint64(side)))
			known := map[string]uint32{}
			for range 10_000 {
				word := randomWord(r)
				n, ok := w.Get(word)
				if was, met := known[word]; met && (!ok || n != was) {
					t.Errorf("Get(%q) = %d, %v, want %d as before", word, n, ok, was)
					return
				}
				known[word] = w.Add(word, r.Uint32())
				if ok && known[word] != n {
					t.Errorf("Add(%q) = %d, want %d, which it had", word, known[word], n)
					return
				}
			}
		})
	}
	group.Wait()
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

// lettersOf returns a word as Letters takes it.
func lettersOf(word string) memo.Word {
	var b [16]byte
	copy(b[:], word)
	return memo.Word{First: binary.LittleEndian.Uint64(b[:]), Second: binary.LittleEndian.Uint64(b[8:])}
}

// TestLetters gives numbers to the same words from several sides at once, and keeps a
// number for each.
func TestLetters(t *testing.T) {
	var l memo.Letters
	var kept memo.Numbers
	var group sync.WaitGroup
	for side := range 4 {
		group.Go(func() {
			r := rand.New(rand.NewPCG(7, uint64(side)))
			for range 20_000 {
				n := r.Uint32() % 9000
				word := strings.Repeat("ab", int(n%7)) + string([]byte{byte('a' + n%26), byte('a' + n/26%26), byte('a' + n/676)})
				asked := []memo.Word{{}, lettersOf(word)}
				l.Get(asked)
				was, about := asked[1].Number, asked[1].About
				number, known := l.Add(asked[1], n)
				if asked[0].Number > 0 {
					t.Error("no word has a number")
				}
				if number == 0 || known != n || was > 0 && (was != number || about != n) {
					t.Errorf("%q: Get = %d, %d, then Add = %d, %d, want the same and %d", word, was, about, number, known, n)
					return
				}
				if got := kept.Get(number); got != 0 && got != n+1 {
					t.Errorf("for %q %d is kept, want %d", word, got, n+1)
					return
				}
				kept.Set(number, n+1)
			}
		})
	}
	group.Wait()
	if n := l.Len(); n < 8000 || n > 9000 {
		t.Errorf("%d words", n)
	}
}

// TestLettersEnd: beyond a bound words have no numbers.
func TestLettersEnd(t *testing.T) {
	var l memo.Letters
	for i := range uint64(memo.MostLetters + 10) {
		if n, about := l.Add(memo.Word{First: i + 1, Second: i}, 7); (n == 0) != (i+1 >= memo.MostLetters) || about != 7 {
			t.Fatalf("word %d has number %d, about %d", i, n, about)
		}
	}
}
