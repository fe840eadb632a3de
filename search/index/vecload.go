package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/ragflow/internal/sqlite"
)

// vectorSegment returns the vectors of a part: those seen before, those in its
// file, or put together from the cache. Those of a part that was not published
// have no file. db.vectorsMu is held.
func (db *DB) vectorSegment(ctx context.Context, p *part, want vectorStamp, dimension int) (*vectorSegment, error) {
	if v := db.vectors[p.stamp]; v != nil && v.fits(want) {
		return v, nil
	}
	name := strings.TrimSuffix(db.name(p.stamp), ".seg") + fmt.Sprintf("-%d.vec", want.embedder)
	if db.folder != "" && p.published {
		v, err := loadVectors(name)
		switch {
		case err == nil && v.fits(want) && v.dimension == dimension && v.chunks == p.chunks:
			db.vectors[p.stamp] = v
			return v, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			db.log.WarnContext(ctx, "vectors are put together anew", "file", name, "error", err)
		}
	}
	v := &vectorSegment{vectorStamp: want, dimension: dimension, chunks: p.chunks}
	if err := db.sql.Read(ctx, func(tx *sqlite.Tx) error { return v.gather(tx, p) }); err != nil {
		return nil, err
	}
	if db.folder != "" && p.published && !db.ReadOnly() {
		if err := db.saveVectors(v, name); err != nil { // the search works without
			db.log.WarnContext(ctx, "vectors cannot be saved", "file", name, "error", err)
		}
	}
	db.vectors[p.stamp] = v
	return v, nil
}

// gather fills in the vectors of a part's chunks. Chunks that changed since the
// part was made are left out, as they are by Searcher.Chunks.
func (v *vectorSegment) gather(tx *sqlite.Tx, p *part) error {
	have, err := keys(tx, v.embedder)
	if err != nil {
		return err
	}
	type vector struct {
		chunk int
		id    int64
	}
	var found []vector
	place := make(map[string]int, p.chunks)
	for c := range p.chunks {
		place[p.id(c)] = c
	}
	if err := eachChunk(tx, p.root, func(id string, rev int64, k key) error {
		c, ok := place[id]
		if !ok || rev > p.maxRev {
			return nil
		}
		if have[k] == 0 {
			v.lacking++
			return nil
		}
		found = append(found, vector{c, have[k]})
		return nil
	}); err != nil {
		return err
	}
	slices.SortFunc(found, func(a, b vector) int { return cmp.Compare(a.chunk, b.chunk) })
	v.rows, v.data = make([]uint32, 0, len(found)), make([]float32, 0, len(found)*v.dimension)
	for _, f := range found {
		var body []byte
		if err = tx.QueryRow(`SELECT vector FROM vectors WHERE id = ?`, f.id).Scan(&body); err == nil {
			v.data, err = appendVector(v.data, body, v.dimension)
		}
		if err != nil {
			return fmt.Errorf("vector %d: %w", f.id, err)
		}
		v.rows = append(v.rows, uint32(f.chunk)) //nolint:gosec // chunks of a segment fit 32 bits
	}
	return nil
}

// saveVectors writes vectors to their file, aside first and then renamed, and
// removes those of other embedders.
func (db *DB) saveVectors(v *vectorSegment, name string) error {
	if err := os.MkdirAll(db.folder, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(db.folder, fmt.Sprintf("%d-*.vec.tmp", v.collection))
	if err != nil {
		return err
	}
	err = v.writeTo(f)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return db.sweepVectors(name)
}

// sweepVectors removes the vectors that other embedders made of a tier, but for
// the file to keep. All else is left to sweep.
func (*DB) sweepVectors(keep string) error {
	others, err := filepath.Glob(keep[:strings.LastIndexByte(keep, '-')] + "-*.vec")
	if err != nil {
		return nil //nolint:nilerr // a folder with the signs of a pattern in its name
	}
	for _, name := range others {
		if name != keep {
			if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}
