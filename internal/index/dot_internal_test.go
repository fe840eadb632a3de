package index

import (
	"math/rand/v2"
	"testing"
)

// TestDot compares the kernel of this processor with the Go loop, bit by bit.
func TestDot(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 70 {
		a, b := make([]float32, n), make([]float32, n)
		for i := range a {
			a[i], b[i] = random.Float32()-0.5, random.Float32()-0.5
		}
		if got, want := dot(a, b), dotGo(a, b); got != want {
			t.Errorf("%d dimensions: got %v, want %v", n, got, want)
		}
	}
}

func BenchmarkDot(b *testing.B) {
	x, y := make([]float32, 384), make([]float32, 384)
	for b.Loop() {
		dot(x, y)
	}
}
