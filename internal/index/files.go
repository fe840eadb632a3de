package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// Collections returns all collections by root.
func (db *DB) Collections(ctx context.Context) ([]search.Collection, error) {
	var out []search.Collection
	err := db.sql.Read(ctx, func(tx *sqlite.Tx) (err error) {
		out, err = collect(tx, func(r row, c *search.Collection) error {
			var changed int64
			err := r.Scan(&c.Root, &c.Generation, &changed, &c.Files, &c.Indexed, &c.Chunks)
			if changed > 0 {
				c.Changed = time.Unix(0, changed).UTC()
			}
			return err
		},
			`SELECT c.root, c.generation, c.changed, count(f.id), count(nullif(f.chunks, 0)), coalesce(sum(f.chunks), 0)
			FROM collections c LEFT JOIN files f ON f.collection = c.id GROUP BY c.id ORDER BY c.root`)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list collections: %w", err)
	}
	return out, nil
}

// Stats returns the size of the index.
func (db *DB) Stats(ctx context.Context) (search.Stats, error) {
	out := search.Stats{Analyzer: db.analysis()}
	err := db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		return tx.QueryRow(`SELECT page_count * page_size FROM pragma_page_count, pragma_page_size`).Scan(&out.Bytes)
	})
	return out, err
}

// Files returns the files of root by source. A root that was never indexed has none.
func (db *DB) Files(ctx context.Context, root string) (map[string]search.File, error) {
	var out map[string]search.File
	err := db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		out = map[string]search.File{}
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

// selectFiles selects the columns for scanFile.
const selectFiles = `SELECT f.source, f.size, f.mtime, f.hash, f.title, f.chunker, f.meta, f.url, f.error, f.chunks, f.cut_by FROM files f `

// scanFile reads a row of selectFiles.
func scanFile(r row) (search.File, error) {
	var f search.File
	var mtime int64
	var meta []byte
	if err := r.Scan(&f.Source, &f.Size, &mtime, &f.Hash, &f.Title, &f.Chunker, &meta, &f.URL, &f.Error, &f.Chunks, &f.CutBy); err != nil {
		return f, err
	}
	f.ModTime = time.Unix(0, mtime).UTC()
	switch string(meta) { // the values of most files
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

// encodeMeta returns the value of the column meta: a JSON object, or null.
func encodeMeta(f *search.File) ([]byte, error) {
	if f.Metadata != nil {
		return json.Marshal(f.Metadata)
	}
	return json.Marshal(f.Meta)
}

// Touch saves size and time of files with unchanged content, and ignores unknown files.
func (db *DB) Touch(ctx context.Context, root string, files ...search.File) error {
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

// Fail saves the errors of files that could not be read. Their chunks stay. An unknown file
// becomes one without chunks.
func (db *DB) Fail(ctx context.Context, root string, files ...search.File) error {
	return db.change(ctx, "note failures of", root, true, func(tx *sqlite.Tx, collection, _ int64) (bool, error) {
		for _, f := range files {
			meta, err := encodeMeta(&f)
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

// Delete deletes files with all their chunks, and ignores unknown files.
func (db *DB) Delete(ctx context.Context, root string, sources ...string) error {
	return db.change(ctx, "delete from", root, false, func(tx *sqlite.Tx, collection, next int64) (bool, error) {
		changed := false
		for _, s := range sources {
			var id int64
			err := tx.QueryRow(`SELECT id FROM files WHERE collection = ? AND source = ?`, collection, s).Scan(&id)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err == nil {
				err = bury(tx, collection, id, next)
			}
			if err == nil {
				_, err = tx.Exec(`DELETE FROM files WHERE id = ?`, id)
			}
			if err != nil {
				return false, fmt.Errorf("%q: %w", s, err)
			}
			changed = true
			db.erased.Store(true)
		}
		return changed, nil
	})
}

// change runs fn in a transaction on the collection of root, and increments its generation to
// next if fn reports a change. If the collection does not exist, create makes it; else nothing
// happens.
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

// Chunking returns the text that SetChunking saved for a root, or "".
func (db *DB) Chunking(ctx context.Context, root string) (note string, err error) {
	err = db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		return tx.QueryRow(`SELECT coalesce(max(chunking), '') FROM collections WHERE root = ?`, root).Scan(&note)
	})
	if err != nil {
		return "", fmt.Errorf("chunking of %q: %w", root, err)
	}
	return note, nil
}

// SetChunking saves a text that describes how the documents of a root are cut. No chunk
// changes.
func (db *DB) SetChunking(ctx context.Context, root, note string) error {
	return db.change(ctx, "note the chunking of", root, true, func(tx *sqlite.Tx, collection, _ int64) (bool, error) {
		_, err := tx.Exec(`UPDATE collections SET chunking = ? WHERE id = ?`, note, collection)
		return false, err
	})
}
