package index

import (
	"encoding/binary"
	"math"
)

// bound holds what a term can count for at most, within some postings: the
// greatest normalised occurrences (the tf of [Ranking]) of a chunk, and of a
// document. They are bfloat16, the upper half of a float32, rounded up, whose
// order is that of their bits.
//
// They are made with the numbers of [DefaultRanking] and the averages of the
// segment itself. A search with other numbers, or over several segments whose
// averages differ, stretches them: see stretch.
type bound struct{ chunk, file uint16 }

func (b bound) max(o bound) bound { return bound{max(b.chunk, o.chunk), max(b.file, o.file)} }

func (b bound) append(out []byte) []byte {
	return binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(out, b.chunk), b.file)
}

func readBound(b []byte) bound {
	return bound{binary.LittleEndian.Uint16(b), binary.LittleEndian.Uint16(b[2:])}
}

func maxBound(list []bound) (b bound) {
	for _, o := range list {
		b = b.max(o)
	}
	return b
}

// roundUp is the least bfloat16 that is not below v, a little more for what
// rounding may have taken from v.
func roundUp(v float64) uint16 {
	bits := math.Float32bits(float32(v * (1 + 1e-6)))
	if bits&0xffff != 0 {
		bits += 1 << 16
	}
	return uint16(bits >> 16) //nolint:gosec // the upper half
}

// value is the number that a bfloat16 stands for.
func value(b uint16) float64 { return float64(math.Float32frombits(uint32(b) << 16)) }

// bounder makes the bounds of postings while a segment is built.
type bounder struct {
	b      *builder
	score  scorer
	bounds []bound

	chunkDF, fileDF int // of the term last asked for: chunks that hold it in any field, and files
}

// of returns the bounds of a term's postings, valid until the next call, and counts
// what holds it.
func (m *bounder) of(list []posting) []bound {
	m.bounds, m.chunkDF, m.fileDF = m.bounds[:0], 0, 0
	for i := 0; i < len(list); {
		file := m.b.chunkField(list[i].chunk, 0)
		end := i + 1
		for end < len(list) && m.b.chunkField(list[end].chunk, 0) == file {
			end++
		}
		m.file(file, list[i:end])
		m.fileDF++
		if list[i].title > 0 { // all chunks hold it
			m.chunkDF += m.b.chunksOf(file)
		} else {
			m.chunkDF += end - i
		}
		i = end
	}
	return m.bounds
}

// file appends the bounds of a file's postings.
func (m *bounder) file(file uint32, list []posting) {
	titleLength := m.b.fileField(file, 2)
	inTitle := list[0].title
	total := uint32(0)
	for _, p := range list {
		total += p.body
	}
	whole := roundUp(m.score.fileTF(total, m.b.fileField(file, 1), inTitle, titleLength))
	for _, p := range list {
		tf := m.score.chunkTF(p.body, m.b.chunkField(p.chunk, 1), p.heading, m.b.chunkField(p.chunk, 2), inTitle, titleLength)
		m.bounds = append(m.bounds, bound{roundUp(tf), whole})
	}
}

// stretch is how many times greater normalised occurrences can be for s than
// for the scorer that bounds were made with: once among chunks and once among
// documents.
func (s *scorer) stretch(made *scorer) (chunk, file float64) {
	chunk = max(
		grown(made.body, s.body, 1),
		grown(made.heading, s.heading, s.ranking.Heading/made.ranking.Heading),
		grown(made.title, s.title, s.ranking.Title/made.ranking.Title),
	)
	file = max(
		grown(made.fileBody, s.fileBody, 1),
		grown(made.fileTitle, s.fileTitle, s.ranking.Title/made.ranking.Title),
	)
	return chunk, file
}

// grown is the greatest ratio of was.of(length) to is.of(length), for lengths
// from 1 on, times weight. A ratio of two straight lines is greatest at an end.
func grown(was, is lengths, weight float64) float64 {
	if weight == 0 {
		return 0
	}
	r := was.of(1) / is.of(1)
	switch {
	case is.slope > 0:
		r = max(r, was.slope/is.slope)
	case was.slope > 0:
		r = math.Inf(1) // long texts were marked down, and are not any more
	}
	if math.IsNaN(r) {
		return math.Inf(1)
	}
	return r * weight
}
