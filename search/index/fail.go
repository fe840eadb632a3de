package index

import (
	"context"
	"fmt"

	"example.com/ragflow/internal/sqlite"
)

// Fail notes that files could not be read, and why: File.Error. What the index
// holds of them stays and is found as before. A file the index does not know
// becomes one without chunks.
func (db *DB) Fail(ctx context.Context, root string, files ...File) error {
	return db.change(ctx, "note failures of", root, true, func(tx *sqlite.Tx, collection, _ int64) (bool, error) {
		cut := cutters{}
		for _, f := range files {
			by, err := cut.row(tx, cutter{chunker: f.Chunker})
			if err != nil {
				return false, fmt.Errorf("%q: %w", f.Source, err)
			}
			hash, digest := splitHash(f.Hash)
			meta, err := f.encodeMeta()
			if err != nil {
				return false, fmt.Errorf("%q: %w", f.Source, err)
			}
			if _, err := tx.Exec(`INSERT INTO files(collection, source, size, mtime, hash, digest, title, chunker, meta, error, chunks, cutter)
				VALUES(?, ?, ?, ?, ?, ?, ?, '', ?, ?, 0, ?)
				ON CONFLICT(collection, source) DO UPDATE SET error = excluded.error`,
				collection, f.Source, f.Size, f.ModTime.UnixNano(), hash, digest, f.Title, string(meta), f.Error, by); err != nil {
				return false, fmt.Errorf("%q: %w", f.Source, err)
			}
		}
		return false, nil
	})
}
