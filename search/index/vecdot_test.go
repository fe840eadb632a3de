package index

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestDigits compares products of digits and half bytes with the slow way, in each way
// that this processor can multiply them, at their greatest, too.
func TestDigits(t *testing.T) {
	ways := []bool{false}
	if wide {
		ways = append(ways, true)
	}
	if widest {
		ways = append(ways, true)
		t.Cleanup(func() { widest = true })
	}
	const rows = 3
	random := rand.New(rand.NewPCG(5, 6))
	for _, d := range []int{1, 7, 16, 64, 72, 384, 1000, 4096, maxDimension} {
		for _, extreme := range []int64{0, 127, -128} {
			words := codeWords(d)
			half, want := make([]uint64, rows*words), make([]int32, rows)
			list := make([]int64, d)
			for i := range list {
				if list[i] = extreme; extreme == 0 {
					list[i] = random.Int64N(256) - 128
				}
				for row := range rows {
					y := uint64(15)
					if extreme == 0 {
						y = random.Uint64N(16)
					}
					half[row*words+i/halves] |= y << (i % halves * 4)
					want[row] += int32(list[i]) * int32(y)
				}
			}
			for n, wide := range ways {
				widest = n == 2
				var b digits
				b.clear(words, wide)
				for i, x := range list {
					b.set(i, x)
				}
				got := make([]int32, rows)
				if b.dots(half, got); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%d dimensions, extreme %d, way %d: %d, want %d", d, extreme, n, got, want)
				}
				b.dots(nil, nil) // of no row
			}
		}
	}
}

// TestDot: the product of vectors has the same bits whatever the processor can do.
func TestDot(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for d := range 100 {
		for _, scale := range []float64{1, 1e-20, 1e20} { // the products of the second are denormal, of the third infinite
			a, b := make([]float32, d), make([]float32, d+1)
			for i := range a {
				a[i], b[i] = float32(random.NormFloat64()*scale), float32(random.NormFloat64()*scale)
			}
			got, want := dot(a, b), dotPlain(a, b)
			if math.Float32bits(got) != math.Float32bits(want) && !(got != got && want != want) {
				t.Errorf("%d dimensions of %v: %v, want %v", d, scale, got, want)
			}
			if row := dotRow(a, encodeVector(b), make([]float32, d)); math.Float32bits(row) != math.Float32bits(got) && !(row != row && got != got) {
				t.Errorf("%d dimensions of %v, as a file holds them: %v, want %v", d, scale, row, got)
			}
		}
	}
}

// BenchmarkDot multiplies vectors of 384 dimensions.
func BenchmarkDot(b *testing.B) {
	x := make([]float32, 384)
	for i := range x {
		x[i] = float32(i)
	}
	for name, dot := range map[string]func(a, b []float32) float32{"as it can": dot, "plain": dotPlain} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				dot(x, x)
			}
		})
	}
}

// BenchmarkDigits multiplies those of 384 dimensions with the half bytes of 300 rows.
func BenchmarkDigits(b *testing.B) {
	const rows = 300
	words := codeWords(384)
	half, out := make([]uint64, rows*words), make([]int32, rows)
	for name, wide := range map[string]bool{"as it can": wide, "plain": false} {
		b.Run(name, func(b *testing.B) {
			var d digits
			d.clear(words, wide)
			for b.Loop() {
				d.dots(half, out)
			}
		})
	}
}
