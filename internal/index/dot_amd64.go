package index

import "golang.org/x/sys/cpu"

// dot returns the dot product of two vectors of the same length, with the same bits with AVX and without: see BenchmarkDot.
func dot(a, b []float32) float32 {
	if cpu.X86.HasAVX {
		return dotAVX(a, b[:len(a)])
	}
	return dotGo(a, b)
}

//go:noescape
func dotAVX(a, b []float32) float32
