package index

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTake compares postings that are taken or packed window by window with those that are
// read one by one, of blocks of all widths; of some that are damaged, all take what ascends.
func TestTake(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for n := range 3000 {
		var list []posting
		gap, chunk := []int{1, 3, 300, 3000}[n%4], uint32(r.IntN(1000))
		for range 1 + r.IntN(400) {
			p := posting{chunk: chunk, body: 1 + uint32(r.IntN(3))}
			if n%3 == 0 && r.IntN(20) == 0 {
				p.heading = 1
			}
			list = append(list, p)
			chunk += 1 + uint32(r.IntN(gap))
		}
		data := appendPostings(nil, list, make([]bound, len(list)))
		if damaged := n%2 == 1; damaged {
			for range 1 + r.IntN(4) {
				data[r.IntN(len(data))] = byte(r.IntN(256))
			}
		}
		e := entry{entries: len(list), postings: data}
		var c, one, all, some cursor
		var l taken
		for _, c := range []*cursor{&c, &one, &all, &some} {
			c.open(e)
		}
		step := uint32(1 + r.IntN(int(min(chunk, onesChunks))))
		var set onesSet
		for i := range set {
			set[i] = r.Uint64() & r.Uint64()
		}
		for from := uint32(0); from < chunk; from += step {
			end := min(from+step, chunk)
			c.take(&l, from, end)
			var got, want []posting
			for i := range l.chunks {
				got = append(got, l.at(i))
			}
			if n%2 == 0 {
				for ; one.chunk < end; one.next() {
					want = append(want, one.posting)
				}
				if d := cmp.Diff(want, got, cmp.AllowUnexported(posting{})); d != "" {
					t.Fatalf("list %d in [%d, %d): (-one by one +taken)\n%s", n, from, end, d)
				}
			}
			if up := slices.IsSortedFunc(l.chunks, func(a, b uint32) int { return int(a) - int(b) - 1 }); !up || len(got) > 0 && (got[0].chunk < from || got[len(got)-1].chunk >= end) {
				t.Fatalf("list %d: in [%d, %d) are %v", n, from, end, l.chunks)
			}
			for set, c := range map[*onesSet]*cursor{nil: &all, &set: &some} {
				want := slices.Clone(got)
				if set != nil {
					want = slices.DeleteFunc(want, func(p posting) bool { return !bitmap(set[:]).has(int(p.chunk - from)) })
				}
				if got := packedOf(c, from, end, set, n%4 < 2); !slices.Equal(got, want) {
					t.Fatalf("list %d: in [%d, %d) are %v, want %v", n, from, end, got, want)
				}
			}
		}
	}
}

// packedOf returns the postings that pack packs, sixteen at once or not.
func packedOf(c *cursor, from, end uint32, set *onesSet, sixteens bool) (out []posting) {
	was := widest
	defer func() { widest = was }()
	widest = widest && sixteens
	var l packed
	c.pack(&l, from, end, set)
	for _, p := range l.list {
		out = append(out, l.at(p, from))
	}
	return out
}

// TestAddPairs compares numbers that are read four at a time with those read one by one.
func TestAddPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	for n := range 2000 {
		offsets := make([]byte, 2*r.IntN(blockEntries+1))
		out, want, at, up := make([]uint32, len(offsets)/2), make([]uint32, len(offsets)/2), -1, true
		for i := range want {
			if at += 1 + r.IntN(400); r.IntN(300) == 0 {
				at = r.IntN(1 << 16)
			}
			at &= 1<<16 - 1
			offsets[2*i], offsets[2*i+1], want[i] = byte(at), byte(at>>8), uint32(at+n)
			up = up && (i == 0 || want[i] > want[i-1])
		}
		if got := addPairs(out, offsets, uint32(n)); got != up || !slices.Equal(out, want) {
			t.Fatalf("%v: %v, %v; want %v, %v", offsets, got, out, up, want)
		}
	}
}
