//go:build !amd64

package index

func greatestOf(scores, out []float64) (most float64) { return greatestPlain(scores, out) }
