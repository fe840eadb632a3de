package checkpoint

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// keyBytes is the length of a key: AES-256.
const keyBytes = 32

// Keyring gives the keys of an encrypted store.
type Keyring struct {
	// Current is the id of the key that new records are sealed with: 1 to 32 ASCII
	// letters, digits, dots, dashes and underscores. It stands in every record.
	Current string
	// Key returns the 32 bytes of a key by its id. It is called when the store is
	// opened, for Current and for every other key that records still need.
	Key func(id string) ([]byte, error)
}

// ErrKey matches every *KeyError.
var ErrKey = errors.New("the key of the store is missing or wrong")

// KeyError tells that a store cannot be opened with the keys given. Nothing in
// it was changed.
type KeyError struct {
	Path   string
	ID     string // of the key; empty where none is named
	Reason string // what is wrong, and what to do
}

func (e *KeyError) Error() string {
	if e.ID == "" {
		return fmt.Sprintf("store %s: %s", e.Path, e.Reason)
	}
	return fmt.Sprintf("store %s: key %q: %s", e.Path, e.ID, e.Reason)
}

// Is reports whether target is ErrKey.
func (*KeyError) Is(target error) bool { return target == ErrKey }

// ParseKeyring reads keys from a text such as an environment variable: entries
// ID:KEY, separated by spaces or commas, the current key first and then those
// that older records still need. KEY is 32 bytes in base64, as
// `openssl rand -base64 32` writes them. An empty text gives nil: no encryption.
// Errors name the entry by its position or id, never the key.
func ParseKeyring(text string) (*Keyring, error) {
	entries := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' || r == '\r' })
	if len(entries) == 0 {
		return nil, nil //nolint:nilnil // no keys, no encryption, no error
	}
	keys := map[string][]byte{}
	var first string
	for i, e := range entries {
		id, encoded, ok := strings.Cut(e, ":")
		if !ok || !keyID.MatchString(id) {
			return nil, fmt.Errorf("key %d: want ID:KEY, the id of letters, digits, '.', '-' and '_'", i+1)
		}
		key, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "="))
		if err != nil || len(key) != keyBytes {
			return nil, fmt.Errorf("key %q: want %d bytes in base64, as openssl rand -base64 %d writes them", id, keyBytes, keyBytes)
		}
		if _, twice := keys[id]; twice {
			return nil, fmt.Errorf("key %q is given twice", id)
		}
		keys[id] = key
		if i == 0 {
			first = id
		}
	}
	return &Keyring{Current: first, Key: func(id string) ([]byte, error) {
		if key, ok := keys[id]; ok {
			return key, nil
		}
		return nil, fmt.Errorf("it is not among those given (%s)", strings.Join(slices.Sorted(maps.Keys(keys)), ", "))
	}}, nil
}

var keyID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,32}$`)
