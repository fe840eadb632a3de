package checkpoint

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"

	"example.com/ragflow/graph"
)

// Encoded values of a column. An unencrypted text is a string. Other values are
// bytes that begin with one of these marks; sealedMark is followed by the length
// of the id of the key, the id, the nonce, and the output of AES-256-GCM.
const (
	plainMark  = 1
	sealedMark = 2
)

// sealer encrypts the contents of a store and decrypts them. A nil sealer leaves
// them as they are. Nonces are random, of 96 bits. The place of a value is its
// additional data, so a value decrypts at its own place only. Safe for concurrent
// use.
type sealer struct {
	ring   Keyring
	strict bool // everything is encrypted; an unencrypted value was written by somebody else

	mu    sync.Mutex
	aeads map[string]cipher.AEAD
}

// aead returns the cipher of a key.
func (s *sealer) aead(id string) (cipher.AEAD, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.aeads[id]; a != nil {
		return a, nil
	}
	if s.ring.Key == nil {
		return nil, errors.New("there is no function that returns it")
	}
	key, err := s.ring.Key(id)
	if err != nil {
		return nil, err
	}
	if len(key) != keyBytes {
		return nil, fmt.Errorf("it has %d bytes, want %d", len(key), keyBytes)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	a, err := cipher.NewGCM(block)
	if err == nil {
		if s.aeads == nil {
			s.aeads = map[string]cipher.AEAD{}
		}
		s.aeads[id] = a
	}
	return a, err
}

// seal encodes a text for its column: NULL for none.
func (s *sealer) seal(place, column string, text []byte) (any, error) {
	switch {
	case len(text) == 0:
		return nil, nil // NULL
	case s == nil:
		return string(text), nil
	}
	return s.sealBytes(place+column, text)
}

// sealBytes encodes bytes for a column.
func (s *sealer) sealBytes(place string, body []byte) ([]byte, error) {
	if s == nil {
		return append([]byte{plainMark}, body...), nil
	}
	id := s.ring.Current
	a, err := s.aead(id)
	if err != nil {
		return nil, fmt.Errorf("key %q: %w", id, err)
	}
	nonce := make([]byte, a.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	return a.Seal(append(sealedPrefix(id), nonce...), nonce, body, []byte(place)), nil
}

// sealedPrefix begins every value that is encrypted with a key.
func sealedPrefix(id string) []byte { return append([]byte{sealedMark, byte(len(id))}, id...) }

// open decodes the value of a column with the key that it names.
func (s *sealer) open(place string, value any) ([]byte, error) {
	var body []byte
	switch value := value.(type) {
	case nil:
		return nil, nil
	case string:
		body = []byte(value)
	case []byte:
		if len(value) > 0 && value[0] == sealedMark {
			return s.unseal(place, value)
		}
		if len(value) == 0 || value[0] != plainMark {
			return nil, errors.New("the record is damaged")
		}
		body = value[1:]
	default:
		return nil, fmt.Errorf("the record is damaged: it is a %T", value)
	}
	if s != nil && s.strict {
		return nil, errors.New("it is not encrypted, but everything in this store is: it was not written by this store")
	}
	return body, nil
}

func (s *sealer) unseal(place string, value []byte) ([]byte, error) {
	if s == nil {
		return nil, errors.New("it is encrypted")
	}
	if len(value) < 2 || len(value) < 2+int(value[1]) {
		return nil, errors.New("the encrypted record is cut short")
	}
	end := 2 + int(value[1])
	id, sealed := string(value[2:end]), value[end:]
	a, err := s.aead(id)
	if err != nil {
		return nil, fmt.Errorf("key %q: %w", id, err)
	}
	if len(sealed) < a.NonceSize() {
		return nil, errors.New("the encrypted record is cut short")
	}
	body, err := a.Open(nil, sealed[:a.NonceSize()], sealed[a.NonceSize():], []byte(place))
	if err != nil {
		return nil, fmt.Errorf("key %q does not decrypt it: it was changed, or moved from another place", id)
	}
	return body, nil
}

// The places of values; empty if nothing is encrypted. Quoting keeps parts apart.

func (s *sealer) place(format string, parts ...any) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf(format, parts...)
}

func (s *sealer) deltaPlace(thread string, at graph.CommitID, n int) string {
	return s.place("delta %q %d %d", thread, at, n)
}

func (s *sealer) factsPlace(thread string) string { return s.place("facts %q", thread) }

func (s *sealer) textPlace(thread string, at graph.CommitID) string {
	return s.place("text %q %d", thread, at)
}

func (s *sealer) snapshotPlace(thread string, at graph.CommitID) string {
	return s.place("snapshot %q %d", thread, at)
}

func (s *sealer) errorPlace(thread string, at graph.CommitID) string {
	return s.place("commit %q %d error", thread, at)
}

func (s *sealer) pendingPlace(thread string, r graph.TaskResult) string {
	return s.place("pending %q %q %d %d %d %q %q", thread, r.Run, r.Step, r.Attempt, r.Delta.Rank, r.Delta.Path, r.Delta.Node)
}
