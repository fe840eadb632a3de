package index

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

	"example.com/ragflow/internal/sqlite"
)

// The vectors of a segment are kept in a file beside it: magic and checksum as in the file
// of a segment, then segmentVectorsHead, encoded by package gob, and the vectors, one after
// the other, in 32-bit floats, little-endian. Like the segment, the file is made again from
// the database where it cannot be used.
const vectorMagic = "rfvec\x00\x00\x08"

// segmentVectors are the vectors of a segment. They are immutable.
type segmentVectors struct {
	segmentVectorsHead

	data []float32 // Dimension numbers for each row
}

type segmentVectorsHead struct {
	Stamp     vectorStamp
	Dimension int
	Lacking   int      // chunks without a vector, of those that had not changed
	Rows      []uint32 // chunk of each vector, ascending
}

// vectorStamp says what vectors were made of.
type vectorStamp struct {
	Database                      string
	Collection, Since, Generation int64
	Embedder                      int64 // row of the table embedders; 0: the collection has no vectors
	Mark                          int64 // the greatest id of a vector at that moment
}

// row returns the vector of a row.
func (v *segmentVectors) row(i int) []float32 { return v.data[i*v.Dimension : (i+1)*v.Dimension] }

// fits reports whether the vectors are what is wanted. Where no chunk lacks one, vectors that
// came since make no difference.
func (v *segmentVectors) fits(want vectorStamp) bool {
	if v.Lacking == 0 {
		want.Mark = v.Stamp.Mark
	}
	return v.Stamp == want
}

// vectorPath returns the name of the file of a segment's vectors.
func (db *DB) vectorPath(k segmentKey) string { return strings.TrimSuffix(db.path(k), ".seg") + ".vec" }

// vectorsOf returns the vectors of a part: those in memory, those in the file, or those that
// it gathers from the database. A segment that is not published has no file.
// db.vectorsMu is held.
func (db *DB) vectorsOf(ctx context.Context, p *part, want vectorStamp, dimension int) (*segmentVectors, error) {
	if v := db.vectors[p.key()]; v != nil && v.fits(want) {
		return v, nil
	}
	name := ""
	if db.folder != "" && p.published {
		name = db.vectorPath(p.key())
		v, err := loadVectors(name)
		switch {
		case err == nil && v.fits(want) && v.Dimension == dimension:
			db.vectors[p.key()] = v
			return v, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			db.log.WarnContext(ctx, "vectors are gathered again", "file", name, "error", err)
		}
	}
	v := &segmentVectors{segmentVectorsHead: segmentVectorsHead{Stamp: want, Dimension: dimension}}
	if err := db.sql.Read(ctx, func(tx *sqlite.Tx) error { return v.gather(tx, p) }); err != nil {
		return nil, err
	}
	if name != "" && !db.ReadOnly() {
		if err := db.saveVectors(v, name); err != nil { // the search works without
			db.log.WarnContext(ctx, "vectors cannot be saved", "file", name, "error", err)
		}
	}
	db.vectors[p.key()] = v
	return v, nil
}

// gather reads the vectors of a part's chunks from the database. Chunks that changed since
// the part was made are left out, as they are by Searcher.Chunks.
func (v *segmentVectors) gather(tx *sqlite.Tx, p *part) error {
	v.Lacking, v.Rows, v.data = 0, nil, nil
	return each(tx, func(r row) error {
		var id string
		var body sql.RawBytes
		if err := r.Scan(&id, &body); err != nil {
			return err
		}
		chunk, ok := p.place(id)
		switch {
		case !ok:
			return nil // of another segment
		case body == nil:
			v.Lacking++
			return nil
		case len(body) != 4*v.Dimension:
			return fmt.Errorf("the vector of chunk %s has %d bytes instead of %d", id, len(body), 4*v.Dimension)
		}
		if v.data == nil {
			v.data = make([]float32, 0, p.Totals.Chunks*v.Dimension)
		}
		v.Rows = append(v.Rows, uint32(chunk))
		for i := range v.Dimension {
			v.data = append(v.data, math.Float32frombits(binary.LittleEndian.Uint32(body[4*i:])))
		}
		return nil
	}, `SELECT c.id, v.vector FROM files f JOIN chunks c ON c.file = f.id LEFT JOIN vectors v ON v.embedder = ? AND v.key = c.passage
		WHERE f.collection = ? AND c.rev <= ? ORDER BY f.source, c.ordinal`, v.Stamp.Embedder, p.Collection, p.maxRev)
}

// encodeVector returns a vector as its row holds it.
func encodeVector(v []float32) []byte {
	out := make([]byte, 0, 4*len(v))
	for _, f := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(f))
	}
	return out
}

// floatsAtOnce is how many numbers are converted at a time.
const floatsAtOnce = 1 << 14

// saveVectors writes vectors to a file, under another name first.
func (db *DB) saveVectors(v *segmentVectors, name string) error {
	file, _, err := db.writeFile(v.Stamp.Collection, vectorMagic, func(w io.Writer) error {
		err := gob.NewEncoder(w).Encode(&v.segmentVectorsHead)
		for some := range slices.Chunk(v.data, floatsAtOnce) {
			if err == nil {
				err = binary.Write(w, binary.LittleEndian, some)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := os.Rename(file, name); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	return nil
}

// loadVectors reads the vectors in a file.
func loadVectors(name string) (*segmentVectors, error) {
	v := &segmentVectors{}
	err := readFile(name, vectorMagic, func(r *bufio.Reader) error {
		if err := gob.NewDecoder(r).Decode(&v.segmentVectorsHead); err != nil {
			return err
		}
		v.data = make([]float32, len(v.Rows)*v.Dimension)
		for some := range slices.Chunk(v.data, floatsAtOnce) {
			if err := binary.Read(r, binary.LittleEndian, some); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return v, nil
}
