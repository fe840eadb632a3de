package index

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"example.com/ragflow/internal/parallel"
	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// Put saves files with their chunks, all or none, and replaces what the index held of them.
// Unchanged chunks keep their rows. A batch of some hundred files costs little more than one
// file. Every Searcher made afterwards finds the new chunks.
func (db *DB) Put(ctx context.Context, root string, entries []search.Entry) error {
	encoded := make([]encodedEntry, len(entries))
	faults := make([]error, len(entries))
	parallel.Each(len(entries), func(i int) {
		if encoded[i], faults[i] = encode(&entries[i]); faults[i] != nil {
			faults[i] = fmt.Errorf("%q: %w", entries[i].File.Source, faults[i])
		}
	})
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("put into %q: %w", root, err)
	}
	return db.change(ctx, "put into", root, true, func(tx *sqlite.Tx, collection, next int64) (changed bool, err error) {
		for i := range entries {
			moved, err := db.putFile(tx, collection, next, &entries[i], &encoded[i])
			if err != nil {
				return false, fmt.Errorf("%q: %w", entries[i].File.Source, err)
			}
			changed = changed || moved
		}
		return changed, nil
	})
}

// encodedEntry is an entry as prepared before the transaction.
type encodedEntry struct {
	meta   string
	weight int64 // see weight
	rows   []chunkRow
}

// chunkRow is a chunk's row without its text, which the hash identifies.
type chunkRow struct {
	id                             string
	ordinal                        int
	place, headings, hash, passage string
}

func encode(e *search.Entry) (x encodedEntry, err error) {
	if e.File.Source == "" {
		return x, errors.New("a file without a source")
	}
	meta, err := encodeMeta(&e.File)
	if err != nil {
		return x, err
	}
	x = encodedEntry{meta: string(meta), weight: weight(e.Chunks), rows: make([]chunkRow, len(e.Chunks))}
	for i := range e.Chunks {
		c := &e.Chunks[i]
		if c.ID == "" || c.Text == "" || c.Ordinal != i {
			return x, fmt.Errorf("chunk %d has no id, no text or ordinal %d", i, c.Ordinal)
		}
		if x.rows[i], err = newChunkRow(c, e.File.Title); err != nil {
			return x, err
		}
	}
	return x, nil
}

func newChunkRow(c *state.Chunk, title string) (chunkRow, error) {
	headings, err := json.Marshal(c.Headings)
	if err != nil {
		return chunkRow{}, err
	}
	place, err := encodePlace(c)
	passage := sha256.Sum256([]byte(search.Passage(state.Chunk{Title: title, Headings: c.Headings, Text: c.Text})))
	return chunkRow{c.ID, c.Ordinal, place, string(headings), cmp.Or(c.Hash, textHash(c.Text)), string(passage[:])}, err
}

func textHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// putFile saves one file and reports whether that changes the results of a search. The version
// of a file that changes is next.
func (db *DB) putFile(tx *sqlite.Tx, collection, next int64, e *search.Entry, x *encodedEntry) (changed bool, err error) {
	f, cutBy := &e.File, ""
	if len(e.Chunks) > 0 {
		cutBy = e.Chunks[0].Cut.Chunker
	}
	var id int64
	err = tx.QueryRow(`INSERT INTO files(collection, version, source, size, mtime, hash, title, chunker, cut_by, meta, url, error, chunks, weight)
		VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(collection, source) DO NOTHING RETURNING id`,
		collection, next, f.Source, f.Size, f.ModTime.UnixNano(), f.Hash, f.Title, f.Chunker, cutBy, x.meta, f.URL, f.Error, len(e.Chunks), x.weight).Scan(&id)
	if err == nil { // a new file
		for i := range x.rows {
			if err := putChunk(tx, collection, id, &x.rows[i], e.Chunks[i].Text); err != nil {
				return false, err
			}
		}
		return true, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	var version int64
	var title, url, meta string
	if err := tx.QueryRow(`SELECT id, version, title, url, meta FROM files WHERE collection = ? AND source = ?`, collection, f.Source).
		Scan(&id, &version, &title, &url, &meta); err != nil {
		return false, err
	}
	moved, err := putChunks(tx, collection, id, e, x)
	if err != nil {
		return false, err
	}
	if changed = moved || title != f.Title || url != f.URL || meta != x.meta; changed && version != next {
		if err := bury(tx, collection, id, next); err != nil {
			return false, err
		}
		version = next
	}
	if changed {
		db.erased.Store(true)
	}
	return changed, tx.Do(`UPDATE files SET version = ?, size = ?, mtime = ?, hash = ?, title = ?, chunker = ?, cut_by = ?, meta = ?, url = ?, error = ?, chunks = ?, weight = ?
		WHERE id = ?`, version, f.Size, f.ModTime.UnixNano(), f.Hash, f.Title, f.Chunker, cutBy, x.meta, f.URL, f.Error, len(e.Chunks), x.weight, id)
}

// bury saves that a version of a file is dead from a generation on, so that a search ignores it
// in segments that still hold it.
func bury(tx *sqlite.Tx, collection, file, died int64) error {
	return tx.Do(`INSERT INTO dead(collection, file, version, died, weight) SELECT ?, id, version, ?, weight FROM files WHERE id = ? AND chunks > 0`,
		collection, died, file)
}

// putChunks deletes the changed and removed rows of a file and inserts the new ones.
func putChunks(tx *sqlite.Tx, collection, file int64, e *search.Entry, x *encodedEntry) (changed bool, err error) {
	kept := make([]bool, len(x.rows))
	var gone []int64
	if err := each(tx, func(rows row) error {
		var rev int64
		var r chunkRow
		err := rows.Scan(&rev, &r.id, &r.ordinal, &r.place, &r.headings, &r.hash, &r.passage)
		if i := r.ordinal; i < len(x.rows) && x.rows[i] == r {
			kept[i] = true
		} else {
			gone = append(gone, rev)
		}
		return err
	}, `SELECT rev, id, ordinal, place, headings, hash, passage FROM chunks WHERE file = ?`, file); err != nil {
		return false, err
	}
	for _, rev := range gone {
		if err := tx.Do(`DELETE FROM chunks WHERE rev = ?`, rev); err != nil {
			return false, err
		}
	}
	changed = len(gone) > 0
	for i := range x.rows {
		if kept[i] {
			continue
		}
		changed = true
		if err := putChunk(tx, collection, file, &x.rows[i], e.Chunks[i].Text); err != nil {
			return false, err
		}
	}
	return changed, nil
}

func putChunk(tx *sqlite.Tx, collection, file int64, r *chunkRow, text string) error {
	err := tx.Do(`INSERT INTO chunks(collection, file, id, ordinal, place, headings, hash, passage, text) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		collection, file, r.id, r.ordinal, r.place, r.headings, r.hash, []byte(r.passage), text)
	if err != nil {
		return fmt.Errorf("chunk %s: %w", r.id, err)
	}
	return nil
}
