package checkpoint

import (
	"database/sql"
	"errors"
)

// join saves the strings of a body that are new and puts their ids into it.
func (w *write) join(o outlined) ([]byte, error) {
	ids := make([]int64, len(o.blobs))
	for i, b := range o.blobs {
		var err error
		if ids[i], err = w.blob(b.text); err != nil {
			return nil, err
		}
	}
	return o.join(ids), nil
}

// blob returns the id of a text, saving it where it is new. The hash only
// finds candidates; the texts themselves are compared.
func (w *write) blob(text string) (int64, error) {
	hash := w.sealer.hash(text)
	id, err := w.sameBlob(hash, text)
	if !errors.Is(err, sql.ErrNoRows) {
		return id, err
	}
	sealed, err := w.sealer.seal(blobPlace, text)
	if err != nil {
		return 0, err
	}
	added, err := w.Exec(`INSERT INTO blobs(body) VALUES(?)`, sealed)
	if err == nil {
		id, err = added.LastInsertId()
	}
	if err != nil {
		return 0, err
	}
	return id, w.Do(`INSERT INTO blobkeys(hash, blob) VALUES(?, ?)`, hash, id)
}

// sameBlob finds the text among those of its hash; sql.ErrNoRows where it is not
// there.
func (w *write) sameBlob(hash int64, text string) (id int64, err error) {
	if w.sealer == nil {
		err = w.QueryRow(`SELECT blob FROM blobkeys WHERE hash = ? AND (SELECT body FROM blobs WHERE id = blob) = ?`, hash, text).Scan(&id)
		return id, err
	}
	for row := range w.Query(`SELECT b.id, b.body FROM blobkeys k JOIN blobs b ON b.id = k.blob WHERE k.hash = ?`, hash) {
		var record string
		if err := row.Scan(&id, &record); err != nil {
			return 0, err
		}
		if got, err := w.sealer.open(blobPlace, record); err != nil || got == text {
			return id, err
		}
	}
	return 0, sql.ErrNoRows
}
