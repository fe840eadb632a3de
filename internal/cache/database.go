package cache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"example.com/ragflow/internal/seal"
	"example.com/ragflow/internal/sqlite"
)

// applicationID marks the files of this package ("rfCa").
const applicationID = 0x72664361

// overhead is about how many bytes a row takes beside its body.
const overhead = 300

const schema = `
CREATE TABLE entries(
	key   BLOB PRIMARY KEY,
	near  BLOB,             -- of values that are alike; null: none
	run   TEXT NOT NULL,    -- that made it
	made  INTEGER NOT NULL, -- microseconds since 1970
	used  INTEGER NOT NULL, -- when it was last returned, or made
	bytes INTEGER NOT NULL,
	body  BLOB NOT NULL
) STRICT;
CREATE INDEX entries_near ON entries(near, made) WHERE near IS NOT NULL;
CREATE INDEX entries_run ON entries(run);
CREATE INDEX entries_used ON entries(used, key, bytes, made);
CREATE TABLE counts(outcome TEXT PRIMARY KEY, n INTEGER NOT NULL) STRICT;`

func options(access sqlite.Access) sqlite.Options {
	return sqlite.Options{Migrations: []string{schema}, ApplicationID: applicationID, Patience: patience, Erase: true, Access: access}
}

// openDatabase opens the file to write. sealed deletes the values from before there was a key.
func openDatabase(ctx context.Context, path string, sealed bool) (*sqlite.DB, error) {
	db, err := sqlite.Open(ctx, path, options(sqlite.ReadWrite))
	if err != nil || !sealed {
		return db, err
	}
	err = remove(ctx, db, `DELETE FROM entries WHERE substr(body, 1, 1) <> ?`, []byte{seal.Mark})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// remove runs a statement that deletes values.
func remove(ctx context.Context, db *sqlite.DB, statement string, args ...any) error {
	deleted := int64(0)
	err := db.Write(ctx, func(tx *sqlite.Tx) error {
		r, err := tx.Exec(statement, args...)
		if err == nil {
			deleted, err = r.RowsAffected()
		}
		return err
	})
	if err == nil && deleted > 0 {
		err = db.Checkpoint(ctx) // the write-ahead log has what was deleted
	}
	return err
}

// count saves look-ups and uses.
func count(tx *sqlite.Tx, counts map[Outcome]int64, used map[Key]time.Time) error {
	for o, n := range counts {
		if err := tx.Do(`INSERT INTO counts VALUES(?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n`, string(o), n); err != nil {
			return err
		}
	}
	for key, at := range used {
		if err := tx.Do(`UPDATE entries SET used = max(used, ?) WHERE key = ?`, at.UnixMicro(), key[:]); err != nil {
			return err
		}
	}
	return nil
}

// prune deletes what was not made between two times, and the least recently used values as far as all
// have more than maxBytes.
func prune(ctx context.Context, db *sqlite.DB, oldest, newest time.Time, maxBytes int64) error {
	return remove(ctx, db, `DELETE FROM entries WHERE made <= ? OR made > ? OR key IN (
		SELECT key FROM (SELECT key, sum(bytes) OVER (ORDER BY used DESC, key) AS newer FROM entries) WHERE newer > ?)`,
		oldest.UnixMicro(), newest.UnixMicro(), maxBytes)
}

// Stats describe a cache file.
type Stats struct {
	Values int   `json:"values"`
	Bytes  int64 `json:"bytes"`

	// Look-ups since the file was made.
	Hits    int64 `json:"hits"`
	Similar int64 `json:"similar"`
	Misses  int64 `json:"misses"`
}

// Read returns what a file holds, also values that are too old. One that does not exist holds nothing.
func Read(ctx context.Context, path string) (s Stats, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	db, err := sqlite.Open(ctx, path, options(sqlite.ReadOnly))
	if err != nil {
		return s, err
	}
	defer func() { _ = db.Close() }() // it was only read
	err = db.Read(ctx, func(tx *sqlite.Tx) error {
		if err := tx.QueryRow(`SELECT count(*), coalesce(sum(bytes), 0) FROM entries`).Scan(&s.Values, &s.Bytes); err != nil {
			return err
		}
		for row := range tx.Query(`SELECT outcome, n FROM counts`) {
			var o string
			var n int64
			if err := row.Scan(&o, &n); err != nil {
				return err
			}
			switch Outcome(o) {
			case Hit:
				s.Hits = n
			case Similar:
				s.Similar = n
			case Miss:
				s.Misses = n
			}
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("read the cache: %w", err)
	}
	return s, err
}
