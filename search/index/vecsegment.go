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
	"slices"
)

// A vector segment holds the vectors of a collection beside its segment. It is
// one run of bytes, all numbers little-endian:
//
//	8 bytes   magic, with the version of the format
//	head      length of the id of the database (2 bytes) and the id; collection,
//	          since, generation, embedder, mark (8 bytes each); dimension, chunks,
//	          chunks without a vector, rows (4 each)
//	chunks    of each row, by its number in the segment, ascending (4 bytes)
//	vectors   of each row, of length 1 (32-bit floats)
//	4 bytes   CRC-32C of all that precedes
//
// Chunks without a vector have no row.

// vectorNumbers is how many bytes the numbers of the head take.
const vectorNumbers = 5*8 + 4*4

const vectorMagic = "rfvec\x00\x00\x07"

// vectorStamp says what a vector segment was made of.
type vectorStamp struct {
	database   string
	collection int64
	since      int64
	generation int64
	embedder   int64
	mark       int64 // the greatest id of a vector at that moment
}

// vectorSegment is an opened vector segment. It is immutable.
type vectorSegment struct {
	vectorStamp

	dimension int
	chunks    int       // of the tier
	lacking   int       // chunks without a vector, of those that had not changed before
	rows      []uint32  // chunk of each vector, ascending
	data      []float32 // dimension numbers a row
}

// row returns the vector of a row.
func (v *vectorSegment) row(i int) []float32 { return v.data[i*v.dimension : (i+1)*v.dimension] }

// complete reports whether all chunks have the vectors they can have: then nothing
// can be added.
func (v *vectorSegment) complete() bool { return v.lacking == 0 }

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
	head = appendU32(head, uint32(v.dimension), uint32(v.chunks), uint32(v.lacking), uint32(len(v.rows)))
	head = appendU32(head, v.rows...)
	_, err := c.Write(head)
	if err == nil {
		err = writeFloats(c, v.data)
	}
	if err != nil {
		return err
	}
	if _, err := buffered.Write(binary.LittleEndian.AppendUint32(nil, c.crc.Sum32())); err != nil {
		return err
	}
	return buffered.Flush()
}

// writeFloats writes a run of 32-bit floats.
func writeFloats(out io.Writer, numbers []float32) error {
	buf := make([]byte, 0, vectorBuffer)
	for part := range slices.Chunk(numbers, vectorBuffer/4) {
		buf = buf[:0]
		for _, n := range part {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(n))
		}
		if _, err := out.Write(buf); err != nil {
			return err
		}
	}
	return nil
}

// readVectorSegment reads a segment of size bytes and checks all of it.
func readVectorSegment(in io.Reader, size int64) (*vectorSegment, error) {
	c := &checked{r: bufio.NewReaderSize(in, vectorBuffer), crc: crc32.New(castagnoli)}
	v, rows, err := readVectorHead(c)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	head := int64(len(vectorMagic) + 2 + len(v.database) + vectorNumbers)
	if want := head + 4*int64(rows)*int64(1+v.dimension) + 4; want != size {
		return nil, fmt.Errorf("%w: it has %d bytes instead of %d", errDamaged, size, want)
	}
	v.rows, v.data = make([]uint32, rows), make([]float32, rows*v.dimension)
	err = readNumbers(c, v.rows, func(n uint32) uint32 { return n })
	if err == nil {
		err = readNumbers(c, v.data, math.Float32frombits)
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
		if int64(chunk) >= int64(v.chunks) || i > 0 && chunk <= v.rows[i-1] {
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
	for i, n := range []*int{&v.dimension, &v.chunks, &v.lacking, &rows} {
		*n = int(binary.LittleEndian.Uint32(numbers[5*8+4*i:]))
	}
	if v.dimension < 1 || v.dimension > maxDimension || v.chunks < 0 || v.lacking < 0 || rows < 0 || rows > v.chunks-v.lacking {
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

// loadVectors reads a vector segment from a file.
func loadVectors(name string) (v *vectorSegment, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return readVectorSegment(f, info.Size())
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
