package index

import (
	"database/sql"
	"encoding/json"
	"errors"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/state"
)

// encodeLinks returns the links of a file as the table links keeps them; none is "".
func encodeLinks(links []state.Link) (string, error) {
	if len(links) == 0 {
		return "", nil
	}
	byRelation := map[string][]string{}
	for _, l := range links {
		byRelation[l.Relation] = append(byRelation[l.Relation], l.Target)
	}
	body, err := json.Marshal(byRelation) // keys ascending
	return string(body), err
}

// putLinks saves the links of a file and reports whether they changed.
func putLinks(tx *sqlite.Tx, file int64, links string) (changed bool, err error) {
	var before string
	err = tx.QueryRow(`SELECT body FROM links WHERE file = ?`, file).Scan(&before)
	switch {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return false, err
	case before == links:
		return false, nil
	case links == "":
		_, err = tx.Exec(`DELETE FROM links WHERE file = ?`, file)
	default:
		_, err = tx.Exec(`INSERT OR REPLACE INTO links(file, body) VALUES(?, ?)`, file, links)
	}
	return true, err
}
