package index

import (
	"encoding/binary"
	"math"
	"runtime"
	"slices"
	"strings"

	"example.com/ragflow/internal/parallel"
)

// finish returns the segment.
func (b *builder) finish(s stamp) ([]byte, error) {
	terms := b.sorted()
	runs := b.encode(terms)
	blocks := make([]byte, 0, (len(terms)+blockTerms-1)/blockTerms*blockWidth)
	dict, post := 0, 0
	for i := range runs {
		r := &runs[i]
		if r.tooLarge {
			return nil, errTooLarge
		}
		for at := 0; at < len(r.blocks); at += blockWidth {
			blocks = appendU32(blocks, uint32(dict)+binary.LittleEndian.Uint32(r.blocks[at:])) //nolint:gosec // checked below
			blocks = binary.LittleEndian.AppendUint64(blocks, uint64(post)+binary.LittleEndian.Uint64(r.blocks[at+4:]))
		}
		dict += len(r.dict)
		post += len(r.post)
	}
	if uint64(dict) > math.MaxUint32 {
		return nil, errTooLarge
	}
	tables := [][]byte{b.fileTab, b.chunkTab, b.ids, blocks}
	room := segmentHead + 256 + dict + post
	for _, table := range tables {
		room += len(table)
	}
	out := make([]byte, segmentHead, room)
	out = appendString(out, s.database)
	out = binary.AppendUvarint(out, uint64(s.collection))
	out = binary.AppendUvarint(out, uint64(s.since+1))
	out = binary.AppendUvarint(out, uint64(s.generation))
	out = appendString(out, s.analysis)
	for _, n := range []int{b.files, b.chunks, len(terms), b.body, b.heading, b.chunkTitles, b.titles} {
		out = binary.AppendUvarint(out, uint64(n))
	}
	for _, table := range tables {
		out = binary.AppendUvarint(out, uint64(len(table)))
	}
	out = binary.AppendUvarint(binary.AppendUvarint(out, uint64(dict)), uint64(post))
	for _, table := range tables {
		out = append(out, table...)
	}
	for i := range runs {
		out = append(out, runs[i].dict...)
	}
	for i := range runs {
		out = append(out, runs[i].post...)
	}
	seal(out)
	return out, nil
}

// encodedTerms are a run of terms as a segment has them. What blocks point to counts from
// the run's own first byte.
type encodedTerms struct {
	blocks, dict, post []byte
	tooLarge           bool
}

// leastRun is how many terms are worth a run of their own, which is whole blocks.
const leastRun = 64 * blockTerms

// encode writes the terms, given by their places, in runs, on all cores.
func (b *builder) encode(terms []int32) []encodedTerms {
	waiting, only := b.ordered(), b.onlyChunks()
	most := 4 * runtime.GOMAXPROCS(0) // several for each: some hold more than others
	size := max(b.leastRun, (len(terms)/most+blockTerms)/blockTerms*blockTerms)
	runs := make([]encodedTerms, (len(terms)+size-1)/size)
	parallel.Each(len(runs), func(i int) { runs[i] = b.encodeRun(terms[i*size:min((i+1)*size, len(terms))], waiting, only) })
	return runs
}

// encodeRun writes a run of terms, which begins with a block.
func (b *builder) encodeRun(terms []int32, waiting *orderedPostings, only []uint32) (r encodedTerms) {
	size := 0
	for _, place := range terms {
		size += waitingBytes * int(b.waits[place])
		if int(place) < len(b.settled) {
			size += len(b.settled[place].list)
		}
	}
	r.post, r.dict = make([]byte, 0, size+size/4), make([]byte, 0, 12*len(terms))
	r.blocks = make([]byte, 0, (len(terms)+blockTerms-1)/blockTerms*blockWidth)
	bounds := bounder{b: b, score: newScorer(DefaultRanking(), b.totals), only: only}
	var list []posting
	before := ""
	for i, place := range terms {
		if i%blockTerms == 0 {
			before = ""
			r.blocks = appendU32(r.blocks, uint32(len(r.dict))) //nolint:gosec // finish checks the sum
			r.blocks = binary.LittleEndian.AppendUint64(r.blocks, uint64(len(r.post)))
		}
		list = list[:0]
		if int(place) < len(b.settled) {
			list = b.settled[place].read(list)
		}
		list = waiting.append(list, place)
		start := len(r.post)
		r.post = appendPostings(r.post, list, bounds.of(list))
		r.dict = appendTerm(r.dict, before, b.names[place])
		for _, n := range [...]int{bounds.chunkDF, bounds.fileDF, len(list), len(r.post) - start} {
			r.dict = binary.AppendUvarint(r.dict, uint64(n)) //nolint:gosec // a count
		}
		r.tooLarge = r.tooLarge || len(r.post)-start > math.MaxUint32
		before = b.names[place]
	}
	return r
}

// begunTerm is a term by its place, with the bytes it begins with, as a number in their
// order.
type begunTerm struct {
	first uint64
	place int32
}

// sorted returns the places of the terms, these in ascending order.
func (b *builder) sorted() []int32 {
	list := make([]begunTerm, len(b.names))
	for i, name := range b.names {
		list[i] = begunTerm{headOf(name), int32(i)} //nolint:gosec // memory does not hold more
	}
	list = sortedByFirst(list)
	out := make([]int32, len(list))
	for i := 0; i < len(list); {
		end := i + 1
		for end < len(list) && list[end].first == list[i].first {
			end++
		}
		if end > i+1 {
			slices.SortFunc(list[i:end], func(x, y begunTerm) int { return strings.Compare(b.names[x.place], b.names[y.place]) })
		}
		for ; i < end; i++ {
			out[i] = list[i].place
		}
	}
	return out
}

// sortedByFirst sorts by first, eleven bits at a time, the lowest first. It may give back
// other memory than that of list.
func sortedByFirst(list []begunTerm) []begunTerm {
	const radix = 1 << 11
	spare := make([]begunTerm, len(list))
	for shift := 0; shift < 64; shift += 11 {
		var at [radix]int32 // where those of each digit go
		for i := range list {
			at[list[i].first>>shift%radix]++
		}
		sum := int32(0)
		for digit, n := range at {
			at[digit] = sum
			sum += n
		}
		for i := range list {
			digit := list[i].first >> shift % radix
			spare[at[digit]] = list[i]
			at[digit]++
		}
		list, spare = spare, list
	}
	return list
}
