package index

import (
	"bufio"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sort"
	"sync"

	"example.com/ragflow/search"
)

// The file of a segment, little-endian:
//
//	8 bytes   magic, with the version of the format
//	head      segmentHead, encoded by package gob
//	tables    see segment.tables, then ids, names and postings
//	4 bytes   CRC-32C of all that precedes
//
// All of a segment can be built again from the database, so a file that cannot be read or has
// a wrong checksum is not repaired.
const segmentMagic = "rfseg\x00\x00\x06"

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
	Lengths                       []int // of the tables, ids, names and postings
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

// segment is the inverted index of some files. It is immutable. A table with "end" in its name
// has the offsets where items end in another table; an item begins where the one before ends.
type segment struct {
	segmentHead

	// By chunk, ordered by file, then ordinal.
	chunkFile               []uint32 // number of its file
	chunkBody, chunkHeading []uint32 // terms of its text and of its heading path
	idEnd                   []uint32
	// By term, ordered by name.
	nameEnd, blockEnd     []uint32
	termChunks, termFiles []uint32 // that hold it in any field
	// By block of postings, ordered by term, then chunk.
	blockLast, postingsEnd []uint32 // its last chunk, and its end in postings
	maxChunkTF, maxFileTF  []uint32 // see bound; bits of a float32

	ids      []byte // of the chunks
	names    []byte // of the terms
	postings []byte // see appendPosting

	made scorer // that bounds were computed with

	once   sync.Once
	places map[string]int // chunks by id; made by place
}

// tables returns the tables of numbers in the order of the file.
func (s *segment) tables() []*[]uint32 {
	return []*[]uint32{
		&s.chunkFile, &s.chunkBody, &s.chunkHeading, &s.idEnd,
		&s.nameEnd, &s.blockEnd, &s.termChunks, &s.termFiles,
		&s.blockLast, &s.postingsEnd, &s.maxChunkTF, &s.maxFileTF,
	}
}

func (s *segment) texts() []*[]byte { return []*[]byte{&s.ids, &s.names, &s.postings} }

// item returns the item i of a table whose items end at the offsets in ends.
func item(table []byte, ends []uint32, i int) []byte {
	if i == 0 {
		return table[:ends[0]]
	}
	return table[ends[i-1]:ends[i]]
}

func (s *segment) fileOf(chunk int) int { return int(s.chunkFile[chunk]) }

// source returns the path of the file that a chunk is of.
func (s *segment) source(chunk int) string { return s.Files[s.fileOf(chunk)].Source }

// chunksOf returns the chunks of a file: first to end-1.
func (s *segment) chunksOf(file int) (first, end int) {
	if file+1 < len(s.Files) {
		return int(s.Files[file].Chunk), int(s.Files[file+1].Chunk)
	}
	return int(s.Files[file].Chunk), len(s.chunkFile)
}

// totalsOf returns what a file adds to the sums.
func (s *segment) totalsOf(file int) totals {
	first, end := s.chunksOf(file)
	f, n := &s.Files[file], end-first
	t := totals{Files: 1, Chunks: n, Body: int(f.Body), Titles: int(f.Title), ChunkTitles: n * int(f.Title)}
	for _, terms := range s.chunkHeading[first:end] {
		t.Heading += int(terms)
	}
	return t
}

// id returns the id of a chunk.
func (s *segment) id(chunk int) string { return string(item(s.ids, s.idEnd, chunk)) }

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

func (s *segment) name(term int) []byte { return item(s.names, s.nameEnd, term) }

// firstTerm returns the first term that is not before name.
func (s *segment) firstTerm(name string) int {
	return sort.Search(len(s.nameEnd), func(t int) bool { return string(s.name(t)) >= name })
}

// find looks a term up.
func (s *segment) find(name string) entry {
	t := s.firstTerm(name)
	if t == len(s.nameEnd) || string(s.name(t)) != name {
		return entry{}
	}
	e := entry{chunks: int(s.termChunks[t]), files: int(s.termFiles[t]), to: int(s.blockEnd[t])}
	if t > 0 {
		e.from = int(s.blockEnd[t-1])
	}
	return e
}

// path returns the name of a segment's file.
func (db *DB) path(k segmentKey) string {
	return filepath.Join(db.folder, fmt.Sprintf("%d-%d-%d.seg", k.collection, k.since+1, k.generation))
}

// write writes a segment to a temporary file, waits until it is on the disk, and returns its
// name and size.
func (db *DB) write(s *segment) (name string, size int64, err error) {
	if err := os.MkdirAll(db.folder, 0o700); err != nil {
		return "", 0, err
	}
	f, err := os.CreateTemp(db.folder, fmt.Sprintf("%d-*.tmp", s.Collection))
	if err != nil {
		return "", 0, err
	}
	sum := crc32.New(castagnoli)
	w := bufio.NewWriterSize(io.MultiWriter(f, sum), 1<<16)
	if err = errors.Join(s.encode(w), w.Flush()); err == nil {
		err = binary.Write(f, binary.LittleEndian, sum.Sum32())
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		size, err = f.Seek(0, io.SeekCurrent)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", 0, errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), size, nil
}

// encode writes all of a segment's file but the checksum.
func (s *segment) encode(w *bufio.Writer) error {
	s.Lengths = nil
	for _, t := range s.tables() {
		s.Lengths = append(s.Lengths, len(*t))
	}
	for _, t := range s.texts() {
		s.Lengths = append(s.Lengths, len(*t))
	}
	_, err := w.WriteString(segmentMagic)
	if err == nil {
		err = gob.NewEncoder(w).Encode(&s.segmentHead)
	}
	for _, t := range s.tables() {
		if err == nil {
			err = binary.Write(w, binary.LittleEndian, *t)
		}
	}
	for _, t := range s.texts() {
		if err == nil {
			_, err = w.Write(*t)
		}
	}
	return err
}

// load reads a segment from its file. The error matches fs.ErrNotExist where there is none,
// and errDamaged where it cannot be used.
func (db *DB) load(k segmentKey) (s *segment, err error) {
	if db.folder == "" {
		return nil, os.ErrNotExist
	}
	f, err := os.Open(db.path(k))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := checkFile(f); err != nil {
		return nil, err
	}
	s = &segment{}
	if err := s.decode(bufio.NewReaderSize(f, 1<<16)); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if s.key() != k || s.Database != db.id || s.Analysis != db.analysis() {
		return nil, fmt.Errorf("%w: it is of another database, moment or analyzer", errDamaged)
	}
	s.made = newScorer(search.DefaultRanking(), s.Totals)
	return s, nil
}

// checkFile checks magic and checksum of a segment's file, and leaves it after the magic.
func checkFile(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	sum, magic := crc32.New(castagnoli), make([]byte, len(segmentMagic))
	content := io.TeeReader(io.LimitReader(f, info.Size()-crc32.Size), sum)
	if _, err := io.ReadFull(content, magic); err != nil || string(magic) != segmentMagic {
		return fmt.Errorf("%w: not a file of this version", errDamaged)
	}
	if _, err := io.Copy(io.Discard, content); err != nil {
		return err
	}
	var want uint32
	if err := binary.Read(f, binary.LittleEndian, &want); err != nil || sum.Sum32() != want {
		return fmt.Errorf("%w: wrong checksum", errDamaged)
	}
	_, err = f.Seek(int64(len(segmentMagic)), io.SeekStart)
	return err
}

// decode reads what encode wrote after the magic.
func (s *segment) decode(r *bufio.Reader) error {
	if err := gob.NewDecoder(r).Decode(&s.segmentHead); err != nil {
		return err
	}
	tables, texts := s.tables(), s.texts()
	if len(s.Lengths) != len(tables)+len(texts) {
		return errors.New("another number of tables")
	}
	for i, t := range tables {
		*t = make([]uint32, s.Lengths[i])
		if err := binary.Read(r, binary.LittleEndian, *t); err != nil {
			return err
		}
	}
	for i, t := range texts {
		*t = make([]byte, s.Lengths[len(tables)+i])
		if _, err := io.ReadFull(r, *t); err != nil {
			return err
		}
	}
	return nil
}
