package checkpoint

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"example.com/ragflow/internal/sqlite"
)

// rotateStep bounds how many records one transaction of Rotate seals anew, so
// that writers wait for moments only.
const rotateStep = 256

// column is one that holds sealed records.
type column struct {
	table, name string
	keys        [2]string // of a row; the second may be a constant
	place       string    // SQL
}

func columns() []column {
	pair, id := [2]string{"at", "n"}, [2]string{"id", "0"}
	return []column{
		{"commits", "body", id, `'delta ' || id || ' body'`},
		{"commits", "notes", id, `'delta ' || id || ' notes'`},
		{"commits", "failure", id, `'delta ' || id || ' error'`},
		{"deltas", "body", pair, `'delta ' || at || ' body'`},
		{"deltas", "notes", pair, `'delta ' || at || ' notes'`},
		{"deltas", "error", pair, `'delta ' || at || ' error'`},
		{"commits", "error", id, `'commit ' || id || ' error'`},
		{"snapshots", "body", [2]string{"at", "0"}, `'snapshot ' || at`},
		{"pending", "body", id, `'pending ' || run || ' ' || node || ' body'`},
		{"pending", "notes", id, `'pending ' || run || ' ' || node || ' notes'`},
		{"pending", "error", id, `'pending ' || run || ' ' || node || ' error'`},
		{"blobs", "body", id, `'` + blobPlace + `'`},
	}
}

// Rotate seals every record anew that is not under the current key, those too
// that were written before the store had one, and returns how many. It works in
// short transactions beside other writers and may be stopped and begun again; until
// it has ended, the old keys are still needed, and then no more. Other
// processes must write with the new key by then. What was freed keeps old bytes
// until [SQLite.Vacuum]. Without keys it is an error that matches [ErrKey].
func (s *SQLite) Rotate(ctx context.Context) (int, error) {
	if s.sealer == nil {
		return 0, fmt.Errorf("rotate: %w", &KeyError{Path: s.path, Reason: "it was opened without keys: give them"})
	}
	all := 0
	for _, c := range columns() {
		n, err := s.rotate(ctx, c)
		if all += n; err != nil {
			return all, fmt.Errorf("rotate %s.%s: %w", c.table, c.name, err)
		}
	}
	err := s.db.Write(ctx, func(tx *sqlite.Tx) error {
		key, err := s.sealer.seal(hashKeyKey, hex.EncodeToString(s.sealer.hashKey))
		if err != nil {
			return err
		}
		if err := errors.Join(putMeta(tx, hashKeyKey, key), putMeta(tx, sealingKey, sealingAll)); err != nil {
			return err
		}
		_, err = tx.Exec(`DELETE FROM meta WHERE substr(key, 1, 4) = '`+keyPrefix+`' AND key <> ?`, keyPrefix+s.sealer.ring.Current)
		return err
	})
	if err != nil {
		return all, fmt.Errorf("rotate: %w", err)
	}
	return all, nil
}

func (s *SQLite) rotate(ctx context.Context, c column) (all int, err error) {
	at := [2]int64{-1, -1}
	for {
		var seen, n int
		next := at
		err := s.db.Write(ctx, func(tx *sqlite.Tx) error {
			next, n = at, 0
			records, err := c.read(tx, at)
			if err != nil {
				return err
			}
			for _, r := range records {
				next = r.keys
				if id, _ := sealedBy(r.body); id == s.sealer.ring.Current {
					continue
				}
				if err := s.reseal(tx, c, r); err != nil {
					return fmt.Errorf("row %v: %w", r.keys, err)
				}
				n++
			}
			seen = len(records)
			return nil
		})
		if all += n; err != nil || seen < rotateStep {
			return all, err
		}
		at = next
	}
}

// record is one cell to be sealed anew.
type record struct {
	keys  [2]int64
	place string
	body  []byte
	isRaw bool // bytes, not text
}

func (c column) read(tx *sqlite.Tx, after [2]int64) ([]record, error) {
	rows := tx.Query(`SELECT `+c.keys[0]+`, `+c.keys[1]+`, `+c.place+`, `+c.name+` FROM `+c.table+`
		WHERE (`+c.keys[0]+` > ?1 OR `+c.keys[0]+` = ?1 AND `+c.keys[1]+` > ?2) AND `+c.name+` IS NOT NULL
		ORDER BY 1, 2 LIMIT ?3`, after[0], after[1], rotateStep)
	var out []record
	for row := range rows {
		var r record
		var value any
		if err := row.Scan(&r.keys[0], &r.keys[1], &r.place, &value); err != nil {
			return nil, err
		}
		switch value := value.(type) {
		case string:
			r.body = []byte(value)
		case []byte:
			r.body, r.isRaw = value, true
		}
		out = append(out, r)
	}
	return out, nil
}

func (s *SQLite) reseal(tx *sqlite.Tx, c column, r record) error {
	var sealed any
	var text string
	var err error
	if r.isRaw {
		var body []byte
		if body, err = s.sealer.openBytes(r.place, r.body); err == nil {
			sealed, err = s.sealer.sealBytes(r.place, body)
		}
	} else if text, err = s.sealer.open(r.place, string(r.body)); err == nil {
		sealed, err = s.sealer.seal(r.place, text)
	}
	if err != nil {
		return err
	}
	if c.table == "blobs" {
		if _, err := tx.Exec(`UPDATE blobkeys SET hash = ? WHERE hash = ? AND blob = ?`,
			s.sealer.hash(text), s.sealer.hashAsKept(string(r.body), text), r.keys[0]); err != nil {
			return err
		}
	}
	_, err = tx.Exec(`UPDATE `+c.table+` SET `+c.name+` = ?1 WHERE `+c.keys[0]+` = ?2 AND `+c.keys[1]+` = ?3`, sealed, r.keys[0], r.keys[1])
	return err
}
