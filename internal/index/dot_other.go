//go:build !amd64

package index

// dot returns the dot product of two vectors of the same length.
func dot(a, b []float32) float32 { return dotGo(a, b) }
