package index

// packSixteens packs entries, sixteen at once, as long as one more stands behind those.
// It returns how many it packed, and whether each of their offsets is below the next.
func packSixteens(out []uint32, offsets, codes []byte, base uint32) (done int, ascend bool) {
	n := (len(codes) - 1) / 16
	if !widest || n == 0 {
		return 0, true
	}
	_, _ = out[16*n-1], offsets[32*n+1]
	return 16 * n, packWidest(&out[0], &offsets[0], &codes[0], n, base)
}

// pickSixteens is packSixteens for those whose chunks are in a set. There must be room
// for all of them.
func pickSixteens(out []uint32, offsets, codes []byte, base uint32, set *onesSet) (done, kept int, ascend bool) {
	n := (len(codes) - 1) / 16
	if !widest || n == 0 {
		return 0, 0, true
	}
	_, _ = out[16*n-1], offsets[32*n+1]
	kept, ascend = pickWidest(&out[0], &offsets[0], &codes[0], n, base, onesChunks-1, set)
	return 16 * n, kept, ascend
}

//go:noescape
func packWidest(out *uint32, offsets, codes *byte, sixteens int, base uint32) (ascend bool)

//go:noescape
func pickWidest(out *uint32, offsets, codes *byte, sixteens int, base, last uint32, set *onesSet) (kept int, ascend bool)
