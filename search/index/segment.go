package index

import (
	"bufio"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"sort"
	"sync"

	"example.com/ragflow/search"
)

// The file of a segment, little-endian:
//
//	8 bytes   magic, with the version of the format
//	4 bytes   CRC-32C of all that follows
//	head      segmentHead, encoded by package gob
//	tables    chunks, terms, blocks, ids, names and postings, one after the other
//
// All of a segment can be built again from the database, so a file that cannot be read or has
// a wrong checksum is not repaired.
const segmentMagic = "rfseg\x00\x00\x05"

var castagnoli = crc32.MakeTable(crc32.Castagnoli) //nolint:gochecknoglobals // a constant table

var (
	// errDamaged is returned for a file that cannot be used. It is made again from the database.
	errDamaged  = errors.New("segment is damaged")
	errTooLarge = errors.New("more than fits one segment (4 GB of postings, names or ids)")
)

// segmentKey names a segment: the files of a collection whose versions lie in
// (since, generation].
type segmentKey struct{ collection, since, generation int64 }

// segmentHead is the head of a segment's file.
type segmentHead struct {
	Database                      string // id of the database that it was built from
	Analysis                      string // see DB.analysis
	Collection, Since, Generation int64
	Weight                        int64 // sum of the column weight of its files
	Totals                        totals
	Files                         []segmentFile
	Tables                        [6]int // lengths of the tables
}

func (h *segmentHead) key() segmentKey { return segmentKey{h.Collection, h.Since, h.Generation} }

// segmentFile is a file of a segment: one version of a row of the table files.
type segmentFile struct {
	ID, Version int64
	Source      string
	Chunk       uint32 // number of its first chunk
	Body, Title uint32 // terms of all its texts, and of its title
}

// totals are the sums that averages are made of. Those of several segments add up.
type totals struct {
	Files, Chunks       int
	Body, Heading       int // terms of all chunks
	ChunkTitles, Titles int // terms of titles, once for each chunk and once for each file
}

// add adds n times o.
func (t *totals) add(o totals, n int) {
	t.Files += n * o.Files
	t.Chunks += n * o.Chunks
	t.Body += n * o.Body
	t.Heading += n * o.Heading
	t.ChunkTitles += n * o.ChunkTitles
	t.Titles += n * o.Titles
}

// segment is the inverted index of some files. It is immutable. A field that ends with "end"
// is the offset where an item ends in another table; it begins where the one before it ends.
type segment struct {
	segmentHead

	chunks   []chunkEntry // by file, then ordinal
	terms    []termEntry  // by name
	blocks   []blockEntry // by term, then chunk
	ids      []byte       // of the chunks
	names    []byte       // of the terms
	postings []byte       // see appendPosting

	made scorer // the scorer that bounds were computed with

	once   sync.Once
	places map[string]int // chunks by id; made by place
}

// chunkEntry is a chunk of a segment.
type chunkEntry struct {
	File          uint32 // number of its file
	Body, Heading uint32 // terms of its text and of its heading path
	IDEnd         uint32
}

// termEntry is a term of a segment. The zero value is a term that no chunk holds.
type termEntry struct {
	NameEnd, BlockEnd uint32
	Chunks, Files     uint32 // that hold it in any field
}

// blockEntry is a block of postings of a term.
type blockEntry struct {
	Last  uint32 // the last chunk
	End   uint32 // in postings
	Bound bound
}

func (s *segment) fileOf(chunk int) int { return int(s.chunks[chunk].File) }

// source returns the path of the file that a chunk is of.
func (s *segment) source(chunk int) string { return s.Files[s.fileOf(chunk)].Source }

// chunksOf returns the chunks of a file: first to end-1.
func (s *segment) chunksOf(file int) (first, end int) {
	if file+1 < len(s.Files) {
		return int(s.Files[file].Chunk), int(s.Files[file+1].Chunk)
	}
	return int(s.Files[file].Chunk), len(s.chunks)
}

// totalsOf returns what a file adds to the sums.
func (s *segment) totalsOf(file int) totals {
	first, end := s.chunksOf(file)
	f, n := &s.Files[file], end-first
	t := totals{Files: 1, Chunks: n, Body: int(f.Body), Titles: int(f.Title), ChunkTitles: n * int(f.Title)}
	for _, c := range s.chunks[first:end] {
		t.Heading += int(c.Heading)
	}
	return t
}

// id returns the id of a chunk.
func (s *segment) id(chunk int) string {
	begin := uint32(0)
	if chunk > 0 {
		begin = s.chunks[chunk-1].IDEnd
	}
	return string(s.ids[begin:s.chunks[chunk].IDEnd])
}

// place returns the chunk that has an id.
func (s *segment) place(id string) (chunk int, ok bool) {
	s.once.Do(func() {
		s.places = make(map[string]int, s.Totals.Chunks)
		for c := range s.Totals.Chunks {
			s.places[s.id(c)] = c
		}
	})
	chunk, ok = s.places[id]
	return chunk, ok
}

// entry says where a term is in a segment. A term that no chunk holds is the zero entry.
type entry struct {
	chunks, files int // that hold it
	from, to      int // its blocks of postings
}

func (s *segment) name(term int) []byte {
	begin := uint32(0)
	if term > 0 {
		begin = s.terms[term-1].NameEnd
	}
	return s.names[begin:s.terms[term].NameEnd]
}

// firstTerm returns the first term that is not before name.
func (s *segment) firstTerm(name string) int {
	return sort.Search(len(s.terms), func(t int) bool { return string(s.name(t)) >= name })
}

// find looks a term up.
func (s *segment) find(name string) entry {
	t := s.firstTerm(name)
	if t == len(s.terms) || string(s.name(t)) != name {
		return entry{}
	}
	e := entry{chunks: int(s.terms[t].Chunks), files: int(s.terms[t].Files), to: int(s.terms[t].BlockEnd)}
	if t > 0 {
		e.from = int(s.terms[t-1].BlockEnd)
	}
	return e
}

// path returns the name of a segment's file.
func (db *DB) path(k segmentKey) string {
	return filepath.Join(db.folder, fmt.Sprintf("%d-%d-%d.seg", k.collection, k.since+1, k.generation))
}

// write writes a segment to a temporary file and returns its name and size.
func (db *DB) write(s *segment) (name string, size int64, err error) {
	s.Tables = [...]int{len(s.chunks), len(s.terms), len(s.blocks), len(s.ids), len(s.names), len(s.postings)}
	return db.writeFile(s.Collection, func(w io.Writer) error {
		err := gob.NewEncoder(w).Encode(&s.segmentHead)
		for _, table := range [][]byte{
			encodeTable(s.chunks, func(c chunkEntry) row4 { return row4{c.File, c.Body, c.Heading, c.IDEnd} }),
			encodeTable(s.terms, func(t termEntry) row4 { return row4{t.NameEnd, t.BlockEnd, t.Chunks, t.Files} }),
			encodeTable(s.blocks, func(b blockEntry) row4 {
				return row4{b.Last, b.End, math.Float32bits(b.Bound.Chunk), math.Float32bits(b.Bound.File)}
			}),
			s.ids, s.names, s.postings,
		} {
			if err == nil {
				_, err = w.Write(table)
			}
		}
		return err
	})
}

// load reads a segment from its file. The error matches fs.ErrNotExist where there is none,
// and errDamaged where it cannot be used.
func (db *DB) load(k segmentKey) (*segment, error) {
	if db.folder == "" {
		return nil, os.ErrNotExist
	}
	s := &segment{}
	err := readFile(db.path(k), func(r *bufio.Reader) error {
		err := gob.NewDecoder(r).Decode(&s.segmentHead)
		next := func(size int) []byte {
			table := make([]byte, size)
			if err == nil {
				_, err = io.ReadFull(r, table)
			}
			return table
		}
		n := s.Tables
		s.chunks = decodeTable(next(rowSize*n[0]), func(r row4) chunkEntry { return chunkEntry{r[0], r[1], r[2], r[3]} })
		s.terms = decodeTable(next(rowSize*n[1]), func(r row4) termEntry { return termEntry{r[0], r[1], r[2], r[3]} })
		s.blocks = decodeTable(next(rowSize*n[2]), func(r row4) blockEntry {
			return blockEntry{r[0], r[1], bound{math.Float32frombits(r[2]), math.Float32frombits(r[3])}}
		})
		s.ids, s.names, s.postings = next(n[3]), next(n[4]), next(n[5])
		return err
	})
	if err != nil {
		return nil, err
	}
	if s.key() != k || s.Database != db.id || s.Analysis != db.analysis() {
		return nil, fmt.Errorf("%w: it is of another database, moment or analyzer", errDamaged)
	}
	s.made = newScorer(search.DefaultRanking(), s.Totals)
	return s, nil
}

// row4 is an entry of a table as the file has it.
type row4 [4]uint32

const rowSize = 16

func encodeTable[T any](table []T, of func(T) row4) []byte {
	out := make([]byte, 0, rowSize*len(table))
	for _, entry := range table {
		for _, n := range of(entry) {
			out = binary.LittleEndian.AppendUint32(out, n)
		}
	}
	return out
}

func decodeTable[T any](data []byte, of func(row4) T) []T {
	out := make([]T, len(data)/rowSize)
	for i := range out {
		b := data[i*rowSize : (i+1)*rowSize]
		out[i] = of(row4{
			binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:]),
		})
	}
	return out
}

// checksumAt is where the checksum of a file begins, after the magic, and checkedFrom where
// what it covers begins.
const (
	checksumAt  = len(segmentMagic)
	checkedFrom = checksumAt + crc32.Size
)

// writeFile writes a temporary file for a collection, with magic and checksum, waits until
// it is on the disk, and returns its name and size.
func (db *DB) writeFile(collection int64, write func(io.Writer) error) (name string, size int64, err error) {
	if err := os.MkdirAll(db.folder, 0o700); err != nil {
		return "", 0, err
	}
	f, err := os.CreateTemp(db.folder, fmt.Sprintf("%d-*.tmp", collection))
	if err != nil {
		return "", 0, err
	}
	sum := crc32.New(castagnoli)
	w := bufio.NewWriterSize(io.MultiWriter(f, sum), 1<<16)
	_, err = f.Write(append([]byte(segmentMagic), 0, 0, 0, 0))
	if err == nil {
		err = write(w)
	}
	err = errors.Join(err, w.Flush())
	if err == nil {
		_, err = f.WriteAt(binary.LittleEndian.AppendUint32(nil, sum.Sum32()), int64(checksumAt))
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		size, err = f.Seek(0, io.SeekEnd)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", 0, errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), size, nil
}

// readFile checks magic and checksum of a file and calls read for what follows them.
func readFile(name string, read func(*bufio.Reader) error) (err error) {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var begin [checkedFrom]byte
	sum := crc32.New(castagnoli)
	if _, err := io.ReadFull(f, begin[:]); err != nil || string(begin[:checksumAt]) != segmentMagic {
		return fmt.Errorf("%w: not a file of this version", errDamaged)
	}
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	if sum.Sum32() != binary.LittleEndian.Uint32(begin[checksumAt:]) {
		return fmt.Errorf("%w: wrong checksum", errDamaged)
	}
	if _, err := f.Seek(int64(checkedFrom), io.SeekStart); err != nil {
		return err
	}
	if err := read(bufio.NewReaderSize(f, 1<<16)); err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return nil
}
