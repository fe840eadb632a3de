package index

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"
	"sort"
	"sync"

	"example.com/ragflow/search"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli) //nolint:gochecknoglobals // a constant table

var (
	// errDamaged is the error of a segment that cannot be used. It is rebuilt from the texts.
	errDamaged  = errors.New("segment is damaged")
	errTooLarge = errors.New("more than fits one segment (1 GB)")
)

// maxSegment is the maximum size of a segment: SQLite's limit for a value.
const maxSegment = 1_000_000_000

// segmentKey names a segment: the files of a collection whose versions lie in
// (since, generation].
type segmentKey struct{ collection, since, generation int64 }

// segmentFile is a file of a segment: one version of a row of the table files.
type segmentFile struct {
	ID, Version int64
	Source      string
	Chunk       uint32 // number of its first chunk
	Body, Title uint32 // terms of all its texts, and of its title
}

// totals are the sums behind averages. Those of several segments add up.
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

// segment is the inverted index of some files. It is immutable but for purged. A table with "End" in its name
// has the offsets of the ends of items in another table; an item begins at the end of the
// previous one.
//
// Package gob encodes the exported fields. A change of the fields needs another termsFormat.
type segment struct {
	Collection, Since, Generation int64
	Weight                        int64 // sum of the column weight of its files
	Totals                        totals
	Files                         []segmentFile

	// By chunk, ordered by file, then ordinal.
	ChunkFile               []uint32 // number of its file
	ChunkBody, ChunkHeading []uint32 // terms of its text and of its heading path
	IDEnd                   []uint32
	// By term, ordered by name.
	NameEnd, BlockEnd     []uint32
	TermChunks, TermFiles []uint32 // that hold it in any field
	// By block of postings, ordered by term, then chunk.
	BlockLast, PostingsEnd []uint32 // its last chunk, and its end in Postings
	MaxChunkTF, MaxFileTF  []uint32 // see bound; bits of a float32

	IDs      []byte // of the chunks
	Names    []byte // of the terms
	Postings []byte // see appendPosting

	made scorer // of the bounds

	purged int // number of its files that the database has no more; DB.publishing guards it

	once   sync.Once
	places map[string]int // chunks by id; filled by place
}

func (s *segment) key() segmentKey { return segmentKey{s.Collection, s.Since, s.Generation} }

// item returns the item i of a table, given the offsets of its ends.
func item(table []byte, ends []uint32, i int) []byte {
	if i == 0 {
		return table[:ends[0]]
	}
	return table[ends[i-1]:ends[i]]
}

func (s *segment) fileOf(chunk int) int { return int(s.ChunkFile[chunk]) }

// source returns the path of the file of a chunk.
func (s *segment) source(chunk int) string { return s.Files[s.fileOf(chunk)].Source }

// chunksOf returns the chunks of a file: first to end-1.
func (s *segment) chunksOf(file int) (first, end int) {
	if file+1 < len(s.Files) {
		return int(s.Files[file].Chunk), int(s.Files[file+1].Chunk)
	}
	return int(s.Files[file].Chunk), len(s.ChunkFile)
}

// totalsOf returns the sums of one file.
func (s *segment) totalsOf(file int) totals {
	first, end := s.chunksOf(file)
	f, n := &s.Files[file], end-first
	t := totals{Files: 1, Chunks: n, Body: int(f.Body), Titles: int(f.Title), ChunkTitles: n * int(f.Title)}
	for _, terms := range s.ChunkHeading[first:end] {
		t.Heading += int(terms)
	}
	return t
}

// id returns the id of a chunk.
func (s *segment) id(chunk int) string { return string(item(s.IDs, s.IDEnd, chunk)) }

// place returns the chunk with an id.
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

// entry is the position of a term in a segment, or zero if no chunk has the term.
type entry struct {
	chunks, files int // numbers of chunks and files with the term
	from, to      int // its blocks of postings
}

func (s *segment) name(term int) []byte { return item(s.Names, s.NameEnd, term) }

// firstTerm returns the first term that is not less than name.
func (s *segment) firstTerm(name string) int {
	return sort.Search(len(s.NameEnd), func(t int) bool { return string(s.name(t)) >= name })
}

// find looks up a term.
func (s *segment) find(name string) entry {
	t := s.firstTerm(name)
	if t == len(s.NameEnd) || string(s.name(t)) != name {
		return entry{}
	}
	e := entry{chunks: int(s.TermChunks[t]), files: int(s.TermFiles[t]), to: int(s.BlockEnd[t])}
	if t > 0 {
		e.from = int(s.BlockEnd[t-1])
	}
	return e
}

// encode returns a segment in the form of the table segments.
func (s *segment) encode() ([]byte, error) {
	var out bytes.Buffer
	if err := gob.NewEncoder(&out).Encode(s); err != nil {
		return nil, err
	}
	return binary.LittleEndian.AppendUint32(out.Bytes(), crc32.Checksum(out.Bytes(), castagnoli)), nil
}

// decodeSegment is the inverse of encode. The error matches errDamaged.
func decodeSegment(body []byte) (*segment, error) {
	end := max(0, len(body)-crc32.Size)
	if end == 0 || binary.LittleEndian.Uint32(body[end:]) != crc32.Checksum(body[:end], castagnoli) {
		return nil, fmt.Errorf("%w: wrong checksum", errDamaged)
	}
	s := &segment{}
	if err := gob.NewDecoder(bytes.NewReader(body[:end])).Decode(s); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	s.made = newScorer(search.DefaultRanking(), s.Totals)
	return s, nil
}
