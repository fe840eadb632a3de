package index

// plainWidest is plainSlow for sixteen postings at once.
//
//go:noescape
func plainWidest(b *plainBlock) (n int)
