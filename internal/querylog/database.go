package querylog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"example.com/ragflow/internal/seal"
	"example.com/ragflow/internal/sqlite"
)

// applicationID marks the files of this package ("rfQL").
const applicationID = 0x7266514c

const schema = `
CREATE TABLE entries(id TEXT PRIMARY KEY, time INTEGER NOT NULL, bytes INTEGER NOT NULL, body ANY NOT NULL) STRICT; -- time in microseconds
CREATE INDEX entries_time ON entries(time, bytes);
CREATE INDEX entries_plain ON entries(id) WHERE typeof(body) = 'text';
CREATE VIEW query_logs AS SELECT
	id, json_extract(body, '$.time') AS time, json_extract(body, '$.kind') AS kind, json_extract(body, '$.thread') AS thread,
	json_extract(body, '$.owner') AS owner, coalesce(json_extract(body, '$.collections[0]'), '') AS collection_id,
	json_extract(body, '$.question') AS query_text, coalesce(json_extract(body, '$.chunks'), '[]') AS retrieved_chunk_ids,
	json_extract(body, '$.answer') AS generated_response, CAST(round(json_extract(body, '$.latency_ms.total')) AS INTEGER) AS latency_ms,
	coalesce(json_extract(body, '$.abstained'), 0) AS abstained, json_extract(body, '$.certainty') AS certainty,
	json_extract(body, '$.hits') AS hits, json_extract(body, '$.model') AS model,
	coalesce(json_extract(body, '$.cost_usd'), 0) AS cost_usd, json_extract(body, '$.error') AS error
FROM entries WHERE CASE WHEN typeof(body) = 'text' THEN json_extract(body, '$.kind') <> 'lost' END;`

// patience is how long a lock of another process is waited for.
const patience = 5 * time.Second

// openDatabase opens the file to write, and encrypts the texts in it if there are keys.
func openDatabase(ctx context.Context, path string, sealer *seal.Sealer) (*sqlite.DB, error) {
	db, err := sqlite.Open(ctx, path, sqlite.Options{Migrations: []string{schema}, ApplicationID: applicationID, Patience: patience, Erase: true})
	if err != nil {
		return nil, err
	}
	if sealer != nil {
		err = sealTexts(ctx, db, sealer)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// insert writes an entry in place of one with the same id.
func insert(tx *sqlite.Tx, e Entry, sealer *seal.Sealer) error {
	text, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("entry %s: %w", e.ID, err)
	}
	body := any(string(text))
	if sealer != nil {
		if body, err = sealer.Seal(place(e.ID, e.Time.UnixMicro()), text); err != nil {
			return err
		}
	}
	return tx.Do(`INSERT OR REPLACE INTO entries VALUES(?, ?, ?, ?)`, e.ID, e.Time.UnixMicro(), len(text), body)
}

// place is where a sealed entry belongs.
func place(id string, micros int64) string { return fmt.Sprintf("query %q %d", id, micros) }

// sealTexts encrypts the entries from before there was a key.
func sealTexts(ctx context.Context, db *sqlite.DB, sealer *seal.Sealer) error {
	for all := 0; ; {
		var some []Entry
		err := db.Write(ctx, func(tx *sqlite.Tx) error {
			some = nil
			for row := range tx.Query(`SELECT body FROM entries WHERE typeof(body) = 'text' LIMIT 500`) {
				var text []byte
				var e Entry
				if err := errors.Join(row.Scan(&text), json.Unmarshal(text, &e)); err != nil {
					return err
				}
				some = append(some, e)
			}
			for _, e := range some {
				if err := insert(tx, e, sealer); err != nil {
					return err
				}
			}
			return nil
		})
		all += len(some)
		switch {
		case err != nil:
			return fmt.Errorf("encrypt earlier entries: %w", err)
		case len(some) == 0 && all == 0:
			return nil
		case len(some) == 0:
			return db.Checkpoint(ctx) // the write-ahead log has the texts, too
		}
	}
}

// prune deletes what is older than a time, and the oldest entries as far as all have more than maxBytes.
func prune(ctx context.Context, db *sqlite.DB, oldest time.Time, maxBytes int64) error {
	deleted := int64(0)
	err := db.Write(ctx, func(tx *sqlite.Tx) error {
		r, err := tx.Exec(`DELETE FROM entries WHERE time < ? OR rowid IN (
			SELECT rowid FROM (SELECT rowid, sum(bytes) OVER (ORDER BY time DESC, rowid DESC) AS newer FROM entries) WHERE newer > ?)`, oldest.UnixMicro(), maxBytes)
		if err == nil {
			deleted, err = r.RowsAffected()
		}
		return err
	})
	if err == nil && deleted > 0 {
		err = db.Checkpoint(ctx) // the write-ahead log has what was deleted
	}
	if err != nil {
		return fmt.Errorf("delete old entries: %w", err)
	}
	return nil
}

// read calls each for every entry from a time on, oldest first; again from the beginning after
// restart if the file was locked. It returns how many cannot be decrypted. A file
// that does not exist has no entries.
func read(ctx context.Context, path string, sealer *seal.Sealer, from time.Time, restart func(), each func(*Entry)) (sealed int, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	db, err := sqlite.Open(ctx, path, sqlite.Options{Migrations: []string{schema}, ApplicationID: applicationID, Patience: patience, Access: sqlite.ReadOnly})
	if err != nil {
		return 0, err
	}
	defer func() { _ = db.Close() }() // it was only read
	err = db.Read(ctx, func(tx *sqlite.Tx) error {
		restart()
		sealed = 0
		for row := range tx.Query(`SELECT id, time, body FROM entries WHERE time >= ? ORDER BY time, id`, from.UnixMicro()) {
			var id string
			var micros int64
			var body any
			if err := row.Scan(&id, &micros, &body); err != nil {
				return err
			}
			e, err := decode(id, micros, body, sealer)
			if err != nil {
				sealed++
				continue
			}
			each(e)
		}
		return nil
	})
	return sealed, err
}

// decode returns the entry of a row. Entries that are not encrypted can always be read.
func decode(id string, micros int64, body any, sealer *seal.Sealer) (e *Entry, err error) {
	text, plain := body.(string)
	sealed, _ := body.([]byte)
	e = &Entry{}
	switch {
	case plain:
		return e, json.Unmarshal([]byte(text), e)
	case sealer == nil:
		return nil, errors.New("the entry is encrypted")
	}
	opened, err := sealer.Open(place(id, micros), sealed)
	if err != nil {
		return nil, err
	}
	return e, json.Unmarshal(opened, e)
}
