package index

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
)

// A vector segment holds the vectors of a collection beside its segment. It is
// one run of bytes, all numbers little-endian:
//
//	8 bytes   magic, with the version of the format
//	head      length of the id of the database (2 bytes) and the id; collection,
//	          since, generation, embedder, mark (8 bytes each); dimension, kind by
//	          its place in VectorKinds, chunks, texts without a vector, rows, lists
//	          of clusters, lists that a search looks into (4 each)
//	chunks    of each row, by its number in the segment, ascending; where a chunk
//	          has several vectors, their rows follow each other (4 bytes)
//	lengths   of the vector of each row, as the model gave it (32-bit float)
//	clusters  where there are lists: scale of each dimension, centroid of each
//	          list (32-bit floats), end of each list, rows in the order of lists
//	          (4 each), the high halves of their codes and the low ones (4 bits a
//	          dimension, sixteen dimensions in 8 bytes); see clusters and codes
//	vectors   of each row, of length 1 (32-bit floats)
//	4 bytes   CRC-32C of all that precedes
//
// Chunks without a vector have no row.

// vectorNumbers is how many bytes the numbers of the head take.
const vectorNumbers = 5*8 + 7*4

const vectorMagic = "rfvec\x00\x00\x06"

// vectorStamp says what a vector segment was made of.
type vectorStamp struct {
	database   string
	collection int64
	since      int64
	generation int64
	embedder   int64
	kind       string // one of VectorKinds
	mark       int64  // the greatest id of a vector at that moment
}

// vectorSegment is an opened vector segment. It is immutable.
type vectorSegment struct {
	vectorStamp

	dimension int
	chunks    int       // of the tier
	lacking   int       // texts of chunks that had not changed or gone before, without a vector
	rows      []uint32  // chunks of the vectors, ascending
	lengths   []float32 // of the vectors, by row
	even      bool      // all lengths are one
	near      *clusters // nil: all are compared
	data      []float32 // dimension numbers a row; nil: they are read from file
	file      *os.File  // closed when nobody holds the segment any more
	dataAt    int64     // where vectors begin in file
}

// complete reports whether all chunks have the vectors they can have: then nothing
// can be added.
func (v *vectorSegment) complete() bool { return v.lacking == 0 }

// several reports whether a chunk may have more than one row.
func (v *vectorSegment) several() bool { return v.kind == VectorsSentences }

// fits reports whether a vector segment is what is wanted. A complete one stays
// right whatever other collections were given since.
func (v *vectorSegment) fits(want vectorStamp) bool {
	if v.complete() {
		want.mark = v.mark
	}
	return v.vectorStamp == want
}

// checked passes bytes on and sums them up; it writes or reads, not both.
type checked struct {
	w   io.Writer
	r   io.Reader
	crc hash.Hash32
}

func (c *checked) Write(p []byte) (int, error) {
	c.crc.Write(p)
	return c.w.Write(p)
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.crc.Write(p[:n])
	return n, err
}

// vectorBuffer is how many bytes are converted at once; a multiple of 4.
const vectorBuffer = 1 << 16

// writeTo writes the segment as its format says.
func (v *vectorSegment) writeTo(out io.Writer) error {
	buffered := bufio.NewWriterSize(out, vectorBuffer)
	c := &checked{w: buffered, crc: crc32.New(castagnoli)}
	head := append([]byte(vectorMagic), byte(len(v.database)), byte(len(v.database)>>8))
	head = append(head, v.database...)
	for _, n := range []int64{v.collection, v.since, v.generation, v.embedder, v.mark} {
		head = binary.LittleEndian.AppendUint64(head, uint64(n)) //nolint:gosec // read back the same way
	}
	near := v.near
	if near == nil {
		near = &clusters{}
	}
	kind := slices.Index(VectorKinds(), v.kind)
	head = appendU32(head, uint32(v.dimension), uint32(kind), uint32(v.chunks), uint32(v.lacking), uint32(len(v.rows)), uint32(len(near.ends)), uint32(near.probe))
	head = appendU32(head, v.rows...)
	_, err := c.Write(head)
	if err == nil {
		err = writeNumbers(c, v.lengths, math.Float32bits)
	}
	if err == nil {
		err = near.writeTo(c)
	}
	if err == nil {
		err = writeNumbers(c, v.data, math.Float32bits)
	}
	if err != nil {
		return err
	}
	if _, err := buffered.Write(binary.LittleEndian.AppendUint32(nil, c.crc.Sum32())); err != nil {
		return err
	}
	return buffered.Flush()
}

// writeNumbers writes a run of 32-bit numbers.
func writeNumbers[T uint32 | float32](out io.Writer, numbers []T, bits func(T) uint32) error {
	buf := make([]byte, 0, vectorBuffer)
	for part := range slices.Chunk(numbers, vectorBuffer/4) {
		buf = buf[:0]
		for _, n := range part {
			buf = binary.LittleEndian.AppendUint32(buf, bits(n))
		}
		if _, err := out.Write(buf); err != nil {
			return err
		}
	}
	return nil
}

// same is the bits of a whole number.
func same(n uint32) uint32 { return n }

// readVectorSegment reads a segment of size bytes. Nothing is taken on trust. The
// vectors of clusters are read only to be checked, unless keep is set.
func readVectorSegment(in io.Reader, size int64, keep bool) (*vectorSegment, error) {
	c := &checked{r: bufio.NewReaderSize(in, vectorBuffer), crc: crc32.New(castagnoli)}
	v, rows, err := readVectorHead(c)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	head := int64(len(vectorMagic) + 2 + len(v.database) + vectorNumbers)
	v.dataAt = head + 8*int64(rows) + v.near.size(rows, v.dimension)
	if want := v.dataAt + 4*int64(rows)*int64(v.dimension) + 4; want != size {
		return nil, fmt.Errorf("%w: it has %d bytes instead of %d", errDamaged, size, want)
	}
	v.rows, v.lengths = make([]uint32, rows), make([]float32, rows)
	err = readNumbers(c, v.rows, same)
	if err == nil {
		err = readNumbers(c, v.lengths, math.Float32frombits)
	}
	v.even = even(v.lengths)
	if err == nil && v.near != nil {
		err = v.near.read(c, rows, v.dimension)
	}
	if err == nil && (keep || v.near == nil) {
		v.data = make([]float32, rows*v.dimension)
		err = readNumbers(c, v.data, math.Float32frombits)
	} else if err == nil {
		_, err = io.CopyN(io.Discard, c, 4*int64(rows)*int64(v.dimension))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	sum := c.crc.Sum32()
	var stored [4]byte
	if _, err := io.ReadFull(c.r, stored[:]); err != nil || binary.LittleEndian.Uint32(stored[:]) != sum {
		return nil, fmt.Errorf("%w: wrong checksum", errDamaged)
	}
	for i, chunk := range v.rows {
		if int64(chunk) >= int64(v.chunks) || i > 0 && (chunk < v.rows[i-1] || chunk == v.rows[i-1] && !v.several()) {
			return nil, fmt.Errorf("%w: its chunks are out of order", errDamaged)
		}
	}
	return v, nil
}

func readVectorHead(in io.Reader) (v *vectorSegment, rows int, err error) {
	magic := make([]byte, len(vectorMagic)+2)
	if _, err := io.ReadFull(in, magic); err != nil {
		return nil, 0, err
	}
	if string(magic[:len(vectorMagic)]) != vectorMagic {
		return nil, 0, errors.New("not a vector segment of this version")
	}
	database := make([]byte, binary.LittleEndian.Uint16(magic[len(vectorMagic):]))
	if _, err := io.ReadFull(in, database); err != nil {
		return nil, 0, err
	}
	var numbers [vectorNumbers]byte
	if _, err := io.ReadFull(in, numbers[:]); err != nil {
		return nil, 0, err
	}
	v = &vectorSegment{vectorStamp: vectorStamp{database: string(database)}}
	for i, n := range []*int64{&v.collection, &v.since, &v.generation, &v.embedder, &v.mark} {
		*n = int64(binary.LittleEndian.Uint64(numbers[8*i:])) //nolint:gosec // as it was written
	}
	var kind, lists, probe int
	for i, n := range []*int{&v.dimension, &kind, &v.chunks, &v.lacking, &rows, &lists, &probe} {
		*n = int(binary.LittleEndian.Uint32(numbers[5*8+4*i:]))
	}
	if lists < 0 || lists > rows || probe < 0 || probe > lists || probe == 0 && lists > 0 {
		return nil, 0, errors.New("its head makes no sense")
	}
	if lists > 0 {
		v.near = &clusters{probe: probe, ends: make([]uint32, lists)}
	}
	if v.dimension < 1 || v.dimension > maxDimension || kind < 0 || kind >= len(VectorKinds()) || v.chunks < 0 || v.lacking < 0 || rows < 0 {
		return nil, 0, errors.New("its head makes no sense")
	}
	v.kind = VectorKinds()[kind]
	if !v.several() && rows > v.chunks-v.lacking {
		return nil, 0, errors.New("its head makes no sense")
	}
	return v, rows, nil
}

// readNumbers fills out from a run of 32-bit numbers.
func readNumbers[T uint32 | float32](in io.Reader, out []T, of func(uint32) T) error {
	buf := make([]byte, vectorBuffer)
	for len(out) > 0 {
		n := min(len(out), vectorBuffer/4)
		if _, err := io.ReadFull(in, buf[:4*n]); err != nil {
			return err
		}
		for i := range n {
			out[i] = of(binary.LittleEndian.Uint32(buf[4*i:]))
		}
		out = out[n:]
	}
	return nil
}

// loadVectors opens a vector segment in a file. One whose vectors stay there
// keeps it open.
func loadVectors(name string) (v *vectorSegment, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if v == nil || v.file == nil {
			err = errors.Join(err, f.Close())
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	// Windows neither removes nor replaces a file that is open.
	v, err = readVectorSegment(f, info.Size(), runtime.GOOS == "windows")
	if err == nil && v.data == nil && len(v.rows) > 0 {
		v.file = f
	}
	return v, err
}

// size is how many bytes clusters take in a file.
func (c *clusters) size(rows, dimension int) int64 {
	if c == nil {
		return 0
	}
	return 4*int64(dimension)*int64(1+len(c.ends)) + 4*int64(len(c.ends)) + int64(rows)*int64(4+2*8*codeWords(dimension))
}

func (c *clusters) writeTo(out io.Writer) error {
	for _, floats := range [][]float32{c.codes.scale, c.centroids} {
		if err := writeNumbers(out, floats, math.Float32bits); err != nil {
			return err
		}
	}
	for _, numbers := range [][]uint32{c.ends, c.order} {
		if err := writeNumbers(out, numbers, same); err != nil {
			return err
		}
	}
	buf := make([]byte, 0, vectorBuffer)
	for _, words := range [][]uint64{c.codes.high, c.codes.low} {
		for part := range slices.Chunk(words, vectorBuffer/8) {
			buf = buf[:0]
			for _, w := range part {
				buf = binary.LittleEndian.AppendUint64(buf, w)
			}
			if _, err := out.Write(buf); err != nil {
				return err
			}
		}
	}
	return nil
}

// read fills in clusters whose number of lists is known.
func (c *clusters) read(in io.Reader, rows, dimension int) error {
	words := rows * codeWords(dimension)
	c.codes = codes{make([]float32, dimension), make([]uint64, words), make([]uint64, words)}
	c.centroids, c.order = make([]float32, dimension*len(c.ends)), make([]uint32, rows)
	for _, floats := range [][]float32{c.codes.scale, c.centroids} {
		if err := readNumbers(in, floats, math.Float32frombits); err != nil {
			return err
		}
	}
	for _, numbers := range [][]uint32{c.ends, c.order} {
		if err := readNumbers(in, numbers, same); err != nil {
			return err
		}
	}
	buf := make([]byte, vectorBuffer)
	for _, words := range [][]uint64{c.codes.high, c.codes.low} {
		for part := range slices.Chunk(words, vectorBuffer/8) {
			if _, err := io.ReadFull(in, buf[:8*len(part)]); err != nil {
				return err
			}
			for i := range part {
				part[i] = binary.LittleEndian.Uint64(buf[8*i:])
			}
		}
	}
	c.encodeLists(dimension)
	if !slices.IsSorted(c.ends) || int(c.ends[len(c.ends)-1]) != rows {
		return errors.New("its lists make no sense")
	}
	seen := newBitmap(rows)
	for _, row := range c.order {
		if int64(row) >= int64(rows) || seen.has(int(row)) {
			return errors.New("its lists hold other rows")
		}
		seen.set(int(row))
	}
	return nil
}

// encodeVector is a vector as its row holds it.
func encodeVector(v []float32) []byte {
	out := make([]byte, 0, 4*len(v))
	for _, f := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(f))
	}
	return out
}

// appendVector decodes a row that must hold a vector of this dimension.
func appendVector(out []float32, row []byte, dimension int) ([]float32, error) {
	if len(row) != 4*dimension {
		return out, fmt.Errorf("a vector has %d bytes instead of %d", len(row), 4*dimension)
	}
	for i := range dimension {
		out = append(out, math.Float32frombits(binary.LittleEndian.Uint32(row[4*i:])))
	}
	return out, nil
}
