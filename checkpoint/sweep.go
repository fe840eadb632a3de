package checkpoint

import (
	"fmt"

	"example.com/ragflow/internal/sqlite"
)

// sweep drops the blobs that nothing refers to any more. It reads all bodies
// that refer to any, because blobs do not know who needs them: to count that
// would cost every commit something for what is rarely done.
func (s *SQLite) sweep(tx *sqlite.Tx) error {
	used := map[int64]bool{}
	for _, c := range columns() {
		if c.table == "blobs" || c.name == "error" || c.name == "failure" {
			continue
		}
		if err := s.eachBody(tx, c, func(body []byte) error {
			_, err := inline(body, func(id int64) (string, error) {
				used[id] = true
				return "", nil
			})
			return err
		}); err != nil {
			return fmt.Errorf("find unused texts: %w", err)
		}
	}
	type unused struct{ id, hash int64 }
	var drop []unused
	for row := range tx.Query(`SELECT id, body FROM blobs`) {
		var id int64
		var record string
		if err := row.Scan(&id, &record); err != nil {
			return err
		}
		if used[id] {
			continue
		}
		text, err := s.sealer.open(blobPlace, record)
		if err != nil {
			return fmt.Errorf("text %d: %w", id, err)
		}
		drop = append(drop, unused{id, s.sealer.hashAsKept(record, text)})
	}
	for _, d := range drop {
		if _, err := tx.Exec(`DELETE FROM blobkeys WHERE hash = ? AND blob = ?`, d.hash, d.id); err != nil {
			return err
		}
		if _, err := tx.Exec(`DELETE FROM blobs WHERE id = ?`, d.id); err != nil {
			return err
		}
	}
	return nil
}

// eachBody calls f with every body of a column that refers to a blob, or may,
// opened, those of snapshots unpacked.
func (s *SQLite) eachBody(tx *sqlite.Tx, c column, f func([]byte) error) error {
	may := ``
	if c.table != "snapshots" {
		may = ` WHERE instr(` + c.name + `, '` + mark + `') OR substr(` + c.name + `, 1, 1) = char(2)`
	}
	for row := range tx.Query(`SELECT ` + c.place + `, ` + c.name + ` FROM ` + c.table + may) {
		var place string
		var value any
		if err := row.Scan(&place, &value); err != nil {
			return err
		}
		var body []byte
		var err error
		switch value := value.(type) {
		case string:
			var text string
			text, err = s.sealer.open(place, value)
			body = []byte(text)
		case []byte: // deflated; drivers give texts as strings
			if body, err = s.sealer.openBytes(place, value); err == nil {
				body, err = inflate(body)
			}
		}
		if err == nil {
			err = f(body)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
