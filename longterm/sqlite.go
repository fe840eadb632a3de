package longterm

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"example.com/ragflow/internal/sqlite"
)

// applicationID marks the files of this package ("rfLT").
const applicationID = 0x72664c54

const schema = `
CREATE TABLE facts(
	path TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
	created INTEGER NOT NULL, updated INTEGER NOT NULL, expires INTEGER, -- microseconds
	model TEXT NOT NULL, vector BLOB, words INTEGER NOT NULL,
	PRIMARY KEY(path, key)
) WITHOUT ROWID;
CREATE INDEX facts_words ON facts(path, expires, words);
CREATE TABLE terms(
	term TEXT NOT NULL, path TEXT NOT NULL, key TEXT NOT NULL, words INTEGER NOT NULL, -- of the fact
	PRIMARY KEY(term, path, key)
) WITHOUT ROWID;
CREATE INDEX terms_fact ON terms(path, key);
CREATE INDEX facts_expires ON facts(expires) WHERE expires IS NOT NULL;`

// Open opens or makes a store in a SQLite file; ":memory:" keeps the facts in memory. Any
// number of processes may use the file at the same time.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	db, err := sqlite.Open(ctx, path, sqlite.Options{Migrations: []string{schema}, ApplicationID: applicationID})
	if err != nil {
		return nil, fmt.Errorf("open the facts: %w", err)
	}
	return New(sqliteTable{db}, o), nil
}

type sqliteTable struct{ db *sqlite.DB }

func (t sqliteTable) Close() error { return t.db.Close() }

func (t sqliteTable) Put(ctx context.Context, r Row) error {
	var expires any
	if !r.Expires.IsZero() {
		expires = r.Expires.UnixMicro()
	}
	return t.db.Write(ctx, func(tx *sqlite.Tx) error {
		path, terms := r.Namespace.Path(), mustJSON(r.Terms)
		err := tx.Do(`INSERT INTO facts VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT(path, key) DO UPDATE SET value = excluded.value, updated = excluded.updated, expires = excluded.expires,
			model = excluded.model, vector = excluded.vector, words = excluded.words`,
			path, r.Key, string(r.Value), r.Created.UnixMicro(), r.Updated.UnixMicro(), expires, r.Model, EncodeVector(r.Vector), r.Words)
		if err == nil {
			err = tx.Do(`DELETE FROM terms WHERE path = ? AND key = ?`, path, r.Key)
		}
		if err == nil {
			err = tx.Do(`INSERT INTO terms SELECT value, ?, ?, ? FROM json_each(?)`, path, r.Key, r.Words, terms)
		}
		return err
	})
}

// mustJSON returns a list as JSON, for json_each.
func mustJSON(list []string) string {
	body, err := json.Marshal(list)
	if err != nil {
		panic("longterm: JSON of strings: " + err.Error()) // unreachable
	}
	return string(body)
}

const columns = `SELECT path, key, value, created, updated, coalesce(expires, 0), model, vector FROM facts `

// below selects the rows of a range of paths that live at a moment.
const below = `WHERE path >= ? AND path < ? AND (expires IS NULL OR expires > ?) `

func scan(row sqlite.Row) (r Row, err error) {
	var path, value string
	var created, updated, expires int64
	var vector []byte
	if err := row.Scan(&path, &r.Key, &value, &created, &updated, &expires, &r.Model, &vector); err != nil {
		return r, err
	}
	r.Namespace, r.Value, r.Vector = ParsePath(path), []byte(value), DecodeVector(vector)
	r.Created, r.Updated = time.UnixMicro(created).UTC(), time.UnixMicro(updated).UTC()
	if expires != 0 {
		r.Expires = time.UnixMicro(expires).UTC()
	}
	return r, nil
}

func (t sqliteTable) Get(ctx context.Context, path, key string) (r Row, err error) {
	err = t.db.Read(ctx, func(tx *sqlite.Tx) error {
		r, err = scan(tx.QueryRow(columns+`WHERE path = ? AND key = ?`, path, key))
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return r, err
}

func (t sqliteTable) Delete(ctx context.Context, path, key string) error {
	return t.db.Write(ctx, func(tx *sqlite.Tx) error {
		err := tx.Do(`DELETE FROM terms WHERE path = ? AND key = ?`, path, key)
		if err == nil {
			err = tx.Do(`DELETE FROM facts WHERE path = ? AND key = ?`, path, key)
		}
		return err
	})
}

func (t sqliteTable) Scan(ctx context.Context, prefix string, now time.Time, visit func(Row) error) error {
	return t.db.Read(ctx, func(tx *sqlite.Tx) error {
		for row := range tx.Query(columns+below+`ORDER BY path, key`, prefix, After(prefix), now.UnixMicro()) {
			r, err := scan(row)
			if err == nil {
				err = visit(r)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (t sqliteTable) Find(ctx context.Context, prefix string, terms []string, now time.Time, limit int) (rows []Row, all Totals, err error) {
	err = t.db.Read(ctx, func(tx *sqlite.Tx) error {
		rows = nil
		place := []any{prefix, After(prefix), now.UnixMicro()}
		if err := tx.QueryRow(`SELECT count(*), coalesce(sum(words), 0) FROM facts `+below, place...).Scan(&all.Rows, &all.Words); err != nil {
			return err
		}
		for row := range tx.Query(columns+below+`AND (path, key) IN (
			WITH found AS (SELECT * FROM terms WHERE term IN (SELECT value FROM json_each(?)) AND path >= ? AND path < ?),
			rarity AS (SELECT term, 1.0 / count(*) AS weight FROM found GROUP BY term)
			SELECT path, key FROM found JOIN rarity USING(term) GROUP BY path, key ORDER BY sum(weight) DESC, min(words) LIMIT ?)
			ORDER BY path, key`, append(place, mustJSON(terms), prefix, After(prefix), limit)...) {
			r, err := scan(row)
			if err != nil {
				return err
			}
			rows = append(rows, r)
		}
		return nil
	})
	return rows, all, err
}

func (t sqliteTable) Sweep(ctx context.Context, now time.Time) (n int, err error) {
	err = t.db.Write(ctx, func(tx *sqlite.Tx) error {
		if err := tx.Do(`DELETE FROM terms WHERE (path, key) IN (SELECT path, key FROM facts WHERE expires <= ?)`, now.UnixMicro()); err != nil {
			return err
		}
		result, err := tx.Exec(`DELETE FROM facts WHERE expires <= ?`, now.UnixMicro())
		if err != nil {
			return err
		}
		rows, err := result.RowsAffected()
		n = int(rows)
		return err
	})
	return n, err
}

// After returns the least text above all texts that begin with prefix, which is "" or ends
// with the separator of paths. It is for a [Table] that compares bytes.
func After(prefix string) string {
	if prefix == "" {
		return "\U0010FFFF"
	}
	return prefix[:len(prefix)-1] + " " // the byte after the separator
}

// EncodeVector writes a vector as little-endian 32-bit floats; nil for none.
func EncodeVector(v []float32) []byte {
	if v == nil {
		return nil
	}
	out := make([]byte, 0, 4*len(v))
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

// DecodeVector is the inverse of [EncodeVector].
func DecodeVector(b []byte) []float32 {
	if len(b) == 0 {
		return nil
	}
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}
