package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"example.com/ragflow/internal/sqlite"
)

// Chunking returns what SetChunking noted of a root: how its documents are to be
// cut. It is empty where nothing was noted, and for a root that was never
// indexed.
func (db *DB) Chunking(ctx context.Context, root string) (string, error) {
	var note string
	err := db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		note = ""
		err := tx.QueryRow(`SELECT chunking FROM collections WHERE root = ?`, root).Scan(&note)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("chunking of %q: %w", root, err)
	}
	return note, nil
}

// SetChunking notes how the documents of a root are to be cut; the text is the
// caller's own. It stays until another one is noted, and goes with the
// collection. No chunk changes.
func (db *DB) SetChunking(ctx context.Context, root, note string) error {
	return db.change(ctx, "note the chunking of", root, true, func(tx *sqlite.Tx, collection, _ int64) (bool, error) {
		_, err := tx.Exec(`UPDATE collections SET chunking = ? WHERE id = ?`, note, collection)
		return false, err
	})
}
