package index

import (
	"context"

	"example.com/ragflow/internal/sqlite"
)

// SetFlush sets how many bytes of terms are worth a segment, so that few files make
// several.
func (db *DB) SetFlush(n int64) { db.flush = n }

// Segments returns what the table segments holds.
func (db *DB) Segments(ctx context.Context) (bodies [][]byte, err error) {
	err = db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		bodies, err = collect(tx, func(r row, body *[]byte) error { return r.Scan(body) }, `SELECT body FROM segments ORDER BY collection, generation`)
		return err
	})
	return bodies, err
}

// SetSegments puts one body in the place of that of each segment; nil deletes all.
func (db *DB) SetSegments(ctx context.Context, body []byte) error {
	return db.sql.Write(ctx, func(tx *sqlite.Tx) error {
		if body == nil {
			return tx.Do(`DELETE FROM segments`)
		}
		return tx.Do(`UPDATE segments SET body = ?`, body)
	})
}

// DeadFiles counts the files in segments that changed or were deleted since.
func (db *DB) DeadFiles(ctx context.Context) (n int, err error) {
	err = db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		return tx.QueryRow(`SELECT count(*) FROM dead d WHERE EXISTS
			(SELECT 1 FROM segments s WHERE s.collection = d.collection AND d.version > s.since AND d.version <= s.generation)`).Scan(&n)
	})
	return n, err
}
