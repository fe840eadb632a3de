package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/state"
)

// File is a file as the index knows it.
type File struct {
	Source  string            // path under the root, with slashes
	Size    int64             // bytes
	ModTime time.Time         // to the nanosecond; the zone is not kept
	Hash    string            // SHA-256 of its bytes, in hex
	Title   string            // of the document
	Chunker string            // fingerprint of what made its chunks; another one means chunking anew
	Meta    map[string]string // front matter and the like
	// Metadata is Meta with its kinds; nil where all of Meta is text. Where it is set, Put
	// takes it and not Meta. It is there again when the file is read from the index.
	Metadata state.Metadata
	URL      string // where the document says it is published, https; empty where it does not
	Error    string // why it could not be read; empty: it could
	Chunks   int    // how many the index holds; Put counts them itself
	CutBy    string // chunker of its chunks, which Put asks them for; empty for a file without, or cut before this was noted
}

// Entry is a file with its chunks, in order of Ordinal.
type Entry struct {
	File   File
	Chunks []state.Chunk
	Links  []state.Link // to other documents
}

// Collection is what the index holds of one root.
type Collection struct {
	Root       string
	Files      int
	Chunks     int
	Generation int64 // moves with every change that a search could see
}

// Collections lists all collections by root.
func (db *DB) Collections(ctx context.Context) ([]Collection, error) {
	var out []Collection
	err := db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		out = nil
		return each(tx, func(rows row) error {
			var c Collection
			err := rows.Scan(&c.Root, &c.Generation, &c.Files, &c.Chunks)
			out = append(out, c)
			return err
		}, `SELECT c.root, c.generation, count(f.id), coalesce(sum(f.chunks), 0)
			FROM collections c LEFT JOIN files f ON f.collection = c.id GROUP BY c.id ORDER BY c.root`)
	})
	if err != nil {
		return nil, fmt.Errorf("list collections: %w", err)
	}
	return out, nil
}

// Files returns the files of root by source, to compare with what is on disk. A
// root that was never indexed has none.
func (db *DB) Files(ctx context.Context, root string) (map[string]File, error) {
	var out map[string]File
	err := db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		out = map[string]File{}
		return each(tx, func(rows row) error {
			f, err := scanFile(rows)
			out[f.Source] = f
			return err
		}, selectFiles+`JOIN collections c ON c.id = f.collection WHERE c.root = ?`, root)
	})
	if err != nil {
		return nil, fmt.Errorf("files of %q: %w", root, err)
	}
	return out, nil
}

// selectFiles reads what scanFile takes.
const selectFiles = `SELECT f.source, f.size, f.mtime, f.hash, f.title, f.chunker, f.meta, f.url, f.error, f.chunks, f.cut_by FROM files f `

// scanFile reads a row of selectFiles.
func scanFile(r row) (File, error) {
	var f File
	var mtime int64
	var meta []byte
	if err := r.Scan(&f.Source, &f.Size, &mtime, &f.Hash, &f.Title, &f.Chunker, &meta, &f.URL, &f.Error, &f.Chunks, &f.CutBy); err != nil {
		return f, err
	}
	f.ModTime = time.Unix(0, mtime).UTC()
	switch string(meta) { // of most files; there may be many
	case "null":
		return f, nil
	case "{}":
		f.Meta, f.Metadata = map[string]string{}, state.Metadata{}
		return f, nil
	}
	if err := json.Unmarshal(meta, &f.Metadata); err != nil {
		return f, fmt.Errorf("metadata of %q: %w", f.Source, err)
	}
	f.Meta = f.Metadata.Strings()
	return f, nil
}

// encodeMeta is what the column meta holds: a JSON object, or null.
func (f *File) encodeMeta() ([]byte, error) {
	if f.Metadata != nil {
		return json.Marshal(f.Metadata)
	}
	return json.Marshal(f.Meta)
}

// Touch saves size and time of files whose content was found unchanged. Files
// the index does not hold are left out.
func (db *DB) Touch(ctx context.Context, root string, files ...File) error {
	return db.change(ctx, "touch files of", root, false, func(tx *sqlite.Tx, collection, _ int64) (bool, error) {
		for _, f := range files {
			if _, err := tx.Exec(`UPDATE files SET size = ?, mtime = ? WHERE collection = ? AND source = ?`,
				f.Size, f.ModTime.UnixNano(), collection, f.Source); err != nil {
				return false, err
			}
		}
		return false, nil
	})
}

// Fail notes that files could not be read, and why: File.Error. What the index
// holds of them stays and is found as before. A file the index does not know
// becomes one without chunks.
func (db *DB) Fail(ctx context.Context, root string, files ...File) error {
	return db.change(ctx, "note failures of", root, true, func(tx *sqlite.Tx, collection, _ int64) (bool, error) {
		for _, f := range files {
			meta, err := f.encodeMeta()
			if err == nil {
				err = tx.Do(`INSERT INTO files(collection, source, size, mtime, hash, title, chunker, meta, error, chunks)
					VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, 0) ON CONFLICT(collection, source) DO UPDATE SET error = excluded.error`,
					collection, f.Source, f.Size, f.ModTime.UnixNano(), f.Hash, f.Title, f.Chunker, string(meta), f.Error)
			}
			if err != nil {
				return false, fmt.Errorf("%q: %w", f.Source, err)
			}
		}
		return false, nil
	})
}

// Delete takes files out, with all their chunks. Files the index does not hold
// are no error.
func (db *DB) Delete(ctx context.Context, root string, sources ...string) error {
	return db.change(ctx, "delete from", root, false, func(tx *sqlite.Tx, collection, next int64) (bool, error) {
		changed := false
		for _, s := range sources {
			var f titled
			var chunks int
			err := tx.QueryRow(`SELECT id, version, title, chunks FROM files WHERE collection = ? AND source = ?`, collection, s).
				Scan(&f.id, &f.version, &f.title, &chunks)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err == nil && chunks > 0 {
				var old *fileIndex
				if old, err = db.oldIndex(tx, f); err == nil {
					err = db.bury(tx, collection, f, next, old)
				}
			}
			if err == nil {
				_, err = tx.Exec(`DELETE FROM files WHERE id = ?`, f.id)
			}
			if err != nil {
				return false, fmt.Errorf("%q: %w", s, err)
			}
			changed = true
		}
		return changed, nil
	})
}

// Drop takes a whole collection out. A root that was never indexed is no error.
func (db *DB) Drop(ctx context.Context, root string) error {
	var id int64
	err := db.sql.Write(ctx, func(tx *sqlite.Tx) error {
		id = 0
		err := tx.QueryRow(`DELETE FROM collections WHERE root = ? RETURNING id`, root).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("drop %q: %w", root, err)
	}
	db.mu.Lock()
	delete(db.seen, id)
	db.forget(&manifest{collection: id})
	db.mu.Unlock()
	db.sweep(ctx, id)
	return nil
}

// change runs fn in a transaction on the collection of root and moves the
// generation to next when fn reports a change. Where there is no such collection
// it is made, or nothing happens.
func (db *DB) change(ctx context.Context, what, root string, create bool, fn func(tx *sqlite.Tx, collection, next int64) (bool, error)) error {
	if root == "" {
		return fmt.Errorf("%s a root without a path", what)
	}
	err := db.sql.Write(ctx, func(tx *sqlite.Tx) error {
		if create {
			if _, err := tx.Exec(`INSERT INTO collections(root) VALUES(?) ON CONFLICT DO NOTHING`, root); err != nil {
				return err
			}
		}
		var id, generation int64
		err := tx.QueryRow(`SELECT id, generation FROM collections WHERE root = ?`, root).Scan(&id, &generation)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		changed, err := fn(tx, id, generation+1)
		if err != nil || !changed {
			return err
		}
		_, err = tx.Exec(`UPDATE collections SET generation = ?, changed = ? WHERE id = ?`, generation+1, time.Now().UnixNano(), id)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s %q: %w", what, root, err)
	}
	return nil
}
