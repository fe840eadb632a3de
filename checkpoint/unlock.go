package checkpoint

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"example.com/ragflow/internal/sqlite"
)

// What an encrypted store keeps in the table meta. The row of a key proves that
// it is the right one; there is one for every key that a record may need.
const (
	sealingKey  = "sealing"  // "all" records are sealed, or "some"
	hashKeyKey  = "hash key" // of the blobs, as hex, sealed
	keyPrefix   = "key:"     // and the id: a known text, sealed
	keyWitness  = "ragflow threads"
	sealingAll  = "all"
	sealingSome = "some"
)

// lock is what a store's file says of its keys.
type lock struct {
	sealing, hashKey string
	witnesses        map[string]string // by the id of the key
}

func readLock(tx *sqlite.Tx) (lock, error) {
	l := lock{witnesses: map[string]string{}}
	for row := range tx.Query(`SELECT key, value FROM meta WHERE key IN ('` + sealingKey + `', '` + hashKeyKey + `') OR substr(key, 1, 4) = '` + keyPrefix + `'`) {
		var key, value string
		if err := row.Scan(&key, &value); err != nil {
			return l, err
		}
		switch id, isKey := strings.CutPrefix(key, keyPrefix); {
		case isKey:
			l.witnesses[id] = value
		case key == sealingKey:
			l.sealing = value
		default:
			l.hashKey = value
		}
	}
	return l, nil
}

// unlock makes ready to read what is sealed and to seal what is written. A
// store without keys gets its first one here; what it holds already stays
// readable and is sealed by Rotate.
func (s *SQLite) unlock(ctx context.Context, ring *Keyring) error {
	var l lock
	if err := s.db.Read(ctx, func(tx *sqlite.Tx) (err error) {
		l, err = readLock(tx)
		return err
	}); err != nil {
		return err
	}
	switch {
	case ring == nil && l.sealing == "":
		return nil
	case ring == nil:
		return &KeyError{Path: s.path, Reason: "it is encrypted: give its keys"}
	case !keyID.MatchString(ring.Current):
		return &KeyError{Path: s.path, ID: ring.Current, Reason: "the id of a key is 1 to 32 letters, digits, '.', '-' and '_'"}
	}
	seal := &sealer{ring: *ring, strict: l.sealing == sealingAll}
	if _, err := seal.aead(ring.Current); err != nil {
		return &KeyError{s.path, ring.Current, err.Error()}
	}
	if _, known := l.witnesses[ring.Current]; !known && !s.db.ReadOnly() {
		return s.addKey(ctx, seal)
	}
	return s.openLock(seal, l)
}

// openLock checks the keys that a store needs.
func (s *SQLite) openLock(seal *sealer, l lock) error {
	for id, witness := range l.witnesses {
		if _, err := seal.aead(id); err != nil {
			return &KeyError{s.path, id, fmt.Sprintf("records still need it, and %v: give it beside the current one until they are sealed anew", err)}
		}
		if text, err := seal.open(keyPrefix+id, witness); err != nil || text != keyWitness {
			return &KeyError{s.path, id, "it is not the key that the store was encrypted with: give the right one"}
		}
	}
	if l.sealing == "" { // a plain store, opened for reading only
		return nil
	}
	text, err := seal.open(hashKeyKey, l.hashKey)
	if err == nil {
		seal.hashKey, err = hex.DecodeString(text)
	}
	if err != nil || len(seal.hashKey) != keyBytes {
		return &KeyError{Path: s.path, Reason: "its table of keys is damaged: restore the file from a backup"}
	}
	s.sealer = seal
	return nil
}

// addKey makes the current key one of the store's, its first one perhaps.
func (s *SQLite) addKey(ctx context.Context, seal *sealer) error {
	return s.db.Write(ctx, func(tx *sqlite.Tx) error {
		l, err := readLock(tx) // another process may have been first
		if err != nil {
			return err
		}
		seal.strict = l.sealing == sealingAll
		if l.sealing == "" {
			if l, err = firstLock(tx, seal); err != nil {
				return err
			}
		}
		if err := s.openLock(seal, l); err != nil {
			return err
		}
		return putWitness(tx, seal)
	})
}

// firstLock marks a store as encrypted.
func firstLock(tx *sqlite.Tx, seal *sealer) (l lock, err error) {
	var one int
	l.sealing = sealingSome
	if err := tx.QueryRow(`SELECT 1 FROM threads LIMIT 1`).Scan(&one); errors.Is(err, sql.ErrNoRows) {
		l.sealing, seal.strict = sealingAll, true
	} else if err != nil {
		return l, err
	}
	key := make([]byte, keyBytes)
	_, _ = rand.Read(key) // never fails
	if l.hashKey, err = seal.seal(hashKeyKey, hex.EncodeToString(key)); err != nil {
		return l, err
	}
	return l, errors.Join(putMeta(tx, sealingKey, l.sealing), putMeta(tx, hashKeyKey, l.hashKey))
}

func putWitness(tx *sqlite.Tx, seal *sealer) error {
	id := seal.ring.Current
	witness, err := seal.seal(keyPrefix+id, keyWitness)
	if err != nil {
		return err
	}
	return putMeta(tx, keyPrefix+id, witness)
}

func putMeta(tx *sqlite.Tx, key, value string) error {
	_, err := tx.Exec(`INSERT INTO meta VALUES(?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`, key, value)
	return err
}
