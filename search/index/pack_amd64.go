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

// siftEights is sift for some of the first, eight at once. It returns how many it went
// through, too.
func siftEights(to, from []uint32, sums []float64, least float64) (done, kept int) {
	n := len(from) / 8
	if !widest || n == 0 {
		return 0, 0
	}
	_ = to[8*n-1]
	return 8 * n, siftWidest(&to[0], &from[0], n, &sums[0], least)
}

//go:noescape
func siftWidest(to, from *uint32, eights int, sums *float64, least float64) (kept int)

// addEights is addPlains for the first of some packed postings, eight at once, up to those
// of which one is not plain. It returns how many it added, and how many chunks, which it
// lists, had no sum before. Behind the lengths there is room for one more.
func addEights(list []uint32, lengths []uint16, sums []float64, shares *shareTable, g *gains, begun []uint32) (done, news int) {
	n := len(list) / 8
	if !widest || n == 0 {
		return 0, 0
	}
	_ = begun[8*n-1]
	return addWidest(&list[0], n, &lengths[0], &sums[0], shares, g, &begun[0])
}

// addWidest has these numbers written in: another one does not compile.
var _ = [1]int{}[(plainCounts-4)|(plainLengths*plainCounts-4096)|(onlyChunk-0x8000)|(packedCode-24)]

//go:noescape
func addWidest(list *uint32, eights int, lengths *uint16, sums *float64, shares *shareTable, gains *gains, begun *uint32) (done, news int)
