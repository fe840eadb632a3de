package cache

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// database is where a cache keeps its values: a file or a PostgreSQL server, which the same statements work on. In both
// one change is made at a time.
type database interface {
	// read calls each with the scanner of each row that a statement finds; after restart once more from the first row.
	read(ctx context.Context, statement string, args []any, restart func(), each func(scan func(...any) error) error) error
	// write makes changes as one.
	write(ctx context.Context, change func(do statementFunc) error) error
	// remove runs a statement that deletes values for good.
	remove(ctx context.Context, statement string, args ...any) error
	close()
}

// statementFunc runs a statement that returns no rows.
type statementFunc func(statement string, args ...any) error

// overhead is about how many bytes a row takes beside its body.
const overhead = 300

const (
	columns = `SELECT key, near, run, made, body FROM cache_entries `
	byKey   = columns + `WHERE key = $1`
	byNear  = columns + `WHERE near = $1 ORDER BY made DESC LIMIT 4`

	insert = `INSERT INTO cache_entries(key, near, run, made, used, bytes, body) VALUES($1, $2, $3, $4, $4, $5, $6)
		ON CONFLICT(key) DO UPDATE SET near = excluded.near, run = excluded.run,
		made = excluded.made, used = excluded.used, bytes = excluded.bytes, body = excluded.body`
	use   = `UPDATE cache_entries SET used = $1 WHERE key = $2 AND used < $1`
	count = `INSERT INTO cache_counts VALUES($1, $2) ON CONFLICT(outcome) DO UPDATE SET n = cache_counts.n + excluded.n`

	deleteRun   = `DELETE FROM cache_entries WHERE run = $1`
	deletePlain = `DELETE FROM cache_entries WHERE substr(body, 1, 1) <> $1` // from before there was a key
	// prune deletes what was not made between two times, and the least recently used values as far as all have more
	// than some bytes.
	prune = `DELETE FROM cache_entries WHERE made <= $1 OR made > $2 OR key IN (
		SELECT key FROM (SELECT key, sum(bytes) OVER (ORDER BY used DESC, key) AS newer FROM cache_entries) AS sums WHERE newer > $3)`
)

// save adds look-ups and uses to what was counted before.
func save(do statementFunc, counts map[Outcome]int64, used map[Key]time.Time) error {
	for o, n := range counts {
		if err := do(count, string(o), n); err != nil {
			return err
		}
	}
	for key, at := range used {
		if err := do(use, at.UnixMicro(), key[:]); err != nil {
			return err
		}
	}
	return nil
}

// Stats describe a cache.
type Stats struct {
	Values int   `json:"values"`
	Bytes  int64 `json:"bytes"`

	// Look-ups since the cache was made.
	Hits    int64 `json:"hits"`
	Similar int64 `json:"similar"`
	Misses  int64 `json:"misses"`

	Found    int64 `json:"found"`
	NotFound int64 `json:"not_found"`
}

// Read returns what a place holds, also values that are too old. A file that does not exist holds nothing.
func Read(ctx context.Context, p Place) (s Stats, err error) {
	db, err := p.open(ctx, true)
	if errors.Is(err, errNoTables) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	defer db.close() // it was only read
	err = db.read(ctx, `SELECT count(*), CAST(coalesce(sum(bytes), 0) AS bigint) FROM cache_entries`, nil, func() {}, func(scan func(...any) error) error {
		return scan(&s.Values, &s.Bytes)
	})
	counts := map[Outcome]int64{}
	if err == nil {
		err = db.read(ctx, `SELECT outcome, n FROM cache_counts`, nil, func() {}, func(scan func(...any) error) error {
			var o string
			var n int64
			if err := scan(&o, &n); err != nil {
				return err
			}
			counts[Outcome(o)] = n
			return nil
		})
	}
	s.Hits, s.Similar, s.Misses, s.Found, s.NotFound = counts[Hit], counts[Similar], counts[Miss], counts[Found], counts[NotFound]
	if err != nil {
		err = fmt.Errorf("read the cache: %w", err)
	}
	return s, err
}
