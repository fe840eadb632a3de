//go:build !amd64

package index

func greatestOf(scores, out []float64) { greatestPlain(scores, out) }

func greatestWide(_, _ []float64) { panic("index: this processor has no wide registers") }
