package index

// greatestOf puts the greatest of each strip of scores, none of which is below 0, into
// out, and returns the greatest of all: see stripLength. It looks at no bounds.
func greatestOf(scores, out []float64) (most float64) {
	if wide {
		return greatestWide(scores, out)
	}
	return greatestPlain(scores, out)
}

//go:noescape
func greatestWide(scores, out []float64) (most float64)
