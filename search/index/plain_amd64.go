package index

// plainWidest is splitPlain for sixteen postings at once.
//
//go:noescape
func plainWidest(b *plainBlock) (n int)
