package checkpoint

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow/internal/seal"
	"example.com/ragflow/internal/sqlite"
)

// Keyring has the keys of an encrypted store.
type Keyring struct {
	// Current is the id of the key that encrypts new records: 1 to 32 ASCII
	// letters, digits, dots, dashes and underscores. Every record names its key.
	Current string
	// Key returns the 32 bytes of a key by its id. It is called when the store is
	// opened, for Current and for every other key that records still need.
	Key func(id string) ([]byte, error)
}

// ErrKey is the error of a store whose keys are missing or wrong. Nothing in it was changed.
var ErrKey = errors.New("the key of the store is missing or wrong")

// keyError is an [ErrKey] with the path of the store, the id of the key, and what to do.
func (s *SQLite) keyError(id, reason string) error {
	return fmt.Errorf("store %s: %w: key %q: %s", s.path, ErrKey, id, reason)
}

var keyID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,32}$`)

// ParseKeyring reads keys from a text such as an environment variable: entries
// ID:KEY, separated by spaces or commas, the current key first and then those
// that older records still need. KEY is 32 bytes in base64, as
// `openssl rand -base64 32` writes them. An empty text gives nil: no encryption.
// Errors name an entry by its position or id, never the key.
func ParseKeyring(text string) (*Keyring, error) {
	entries := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) })
	if len(entries) == 0 {
		return nil, nil //nolint:nilnil // no keys, no encryption, no error
	}
	keys := map[string][]byte{}
	current, _, _ := strings.Cut(entries[0], ":")
	for i, e := range entries {
		id, encoded, ok := strings.Cut(e, ":")
		if !ok || !keyID.MatchString(id) {
			return nil, fmt.Errorf("key %d: want ID:KEY, the id of letters, digits, '.', '-' and '_'", i+1)
		}
		key, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "="))
		if err != nil || len(key) != seal.KeyBytes {
			return nil, fmt.Errorf("key %q: want %d bytes in base64, as openssl rand -base64 %d writes them", id, seal.KeyBytes, seal.KeyBytes)
		}
		if _, twice := keys[id]; twice {
			return nil, fmt.Errorf("key %q is given twice", id)
		}
		keys[id] = key
	}
	return &Keyring{Current: current, Key: func(id string) ([]byte, error) {
		if key, ok := keys[id]; ok {
			return key, nil
		}
		return nil, fmt.Errorf("it is not among those given (%s)", strings.Join(slices.Sorted(maps.Keys(keys)), ", "))
	}}, nil
}

// Values of the meta key sealingKey.
const (
	sealingAll  = "all"  // everything is encrypted
	sealingSome = "some" // there are records from before the store had a key
)

// keyWitness is the text whose encryption proves that a key is the right one. The
// table meta has one for each key that a record may need.
const keyWitness = "ragflow threads"

// unlock prepares to read what is encrypted and to encrypt what is written. A
// store without keys gets its first key here. Rotate encrypts its older records.
func (s *SQLite) unlock(ctx context.Context, ring *Keyring) error {
	var known []string
	load := func(tx *sqlite.Tx) (err error) {
		known, err = column[string](tx, `SELECT substr(key, 5) FROM meta WHERE substr(key, 1, 4) = '`+keyPrefix+`'`)
		return err
	}
	if err := s.db.Read(ctx, load); err != nil {
		return err
	}
	switch {
	case ring == nil && len(known) == 0:
		return nil
	case ring == nil:
		return fmt.Errorf("store %s: %w: it is encrypted: give its keys", s.path, ErrKey)
	case !keyID.MatchString(ring.Current):
		return s.keyError(ring.Current, "the id of a key is 1 to 32 letters, digits, '.', '-' and '_'")
	}
	keys := &sealer{Sealer: seal.New(seal.Keys(*ring))}
	if err := keys.Check(ring.Current); err != nil {
		return s.keyError(ring.Current, err.Error())
	}
	if slices.Contains(known, ring.Current) || s.db.ReadOnly() {
		return s.db.Read(ctx, func(tx *sqlite.Tx) error { return s.useKeys(tx, keys, known) })
	}
	return s.db.Write(ctx, func(tx *sqlite.Tx) error {
		if err := load(tx); err != nil { // another process may have been first
			return err
		}
		if len(known) == 0 {
			if err := tx.Do(`INSERT INTO meta SELECT ?, CASE WHEN EXISTS(SELECT 1 FROM threads) THEN ? ELSE ? END`,
				sealingKey, sealingSome, sealingAll); err != nil {
				return err
			}
		}
		if err := s.useKeys(tx, keys, known); err != nil {
			return err
		}
		witness, err := keys.sealBytes(keyPrefix+ring.Current, []byte(keyWitness))
		if err != nil {
			return err
		}
		return putMeta(tx, keyPrefix+ring.Current, witness)
	})
}

// useKeys checks the keys that records may need.
func (s *SQLite) useKeys(tx *sqlite.Tx, keys *sealer, known []string) error {
	for _, id := range known {
		if err := keys.Check(id); err != nil {
			return s.keyError(id, fmt.Sprintf("records still need it, and %v: give it together with the current key until they are encrypted again", err))
		}
		var witness any
		if err := tx.QueryRow(`SELECT value FROM meta WHERE key = ?`, keyPrefix+id).Scan(&witness); err != nil {
			return err
		}
		if text, err := keys.open(keyPrefix+id, witness); err != nil || string(text) != keyWitness {
			return s.keyError(id, "it is not the key that the store was encrypted with: give the right one")
		}
	}
	if err := tx.QueryRow(`SELECT coalesce((SELECT value FROM meta WHERE key = ?), '') = ?`, sealingKey, sealingAll).Scan(&keys.strict); err != nil {
		return err
	}
	s.sealer = keys
	return nil
}
