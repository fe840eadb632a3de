// Package seal encrypts records with AES-256-GCM, by keys that have ids. A sealed record names its
// key, so a key can be replaced while older records still need the former one. The place of a
// record is its additional data: it opens at its own place only.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
)

// KeyBytes is the length of a key: AES-256.
const KeyBytes = 32

// Mark is the first byte of a sealed record. It is followed by the length of the id of the key,
// the id, the nonce, and the output of AES-256-GCM.
const Mark = 2

// Keys are the keys of a [Sealer].
type Keys struct {
	Current string                          // the id of the key that encrypts
	Key     func(id string) ([]byte, error) // returns the KeyBytes bytes of a key
}

// Sealer encrypts and decrypts records. Nonces are random, of 96 bits. It is safe for concurrent use.
type Sealer struct {
	keys Keys

	mu    sync.Mutex
	aeads map[string]cipher.AEAD
}

// New makes a sealer. The keys are read when they are first used.
func New(k Keys) *Sealer { return &Sealer{keys: k} }

// Current returns the id of the key that encrypts.
func (s *Sealer) Current() string { return s.keys.Current }

// Check reports whether a key can be used.
func (s *Sealer) Check(id string) error {
	_, err := s.aead(id)
	return err
}

// aead returns the cipher of a key.
func (s *Sealer) aead(id string) (cipher.AEAD, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.aeads[id]; a != nil {
		return a, nil
	}
	if s.keys.Key == nil {
		return nil, errors.New("there is no function that returns it")
	}
	key, err := s.keys.Key(id)
	if err != nil {
		return nil, err
	}
	if len(key) != KeyBytes {
		return nil, fmt.Errorf("it has %d bytes, want %d", len(key), KeyBytes)
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

// Seal encrypts a record for its place with the current key.
func (s *Sealer) Seal(place string, body []byte) ([]byte, error) {
	id := s.keys.Current
	a, err := s.aead(id)
	if err != nil {
		return nil, fmt.Errorf("key %q: %w", id, err)
	}
	nonce := make([]byte, a.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	return a.Seal(append(Prefix(id), nonce...), nonce, body, []byte(place)), nil
}

// Prefix begins every record that is encrypted with a key.
func Prefix(id string) []byte { return append([]byte{Mark, byte(len(id))}, id...) }

// Open decrypts the record of a place with the key that it names.
func (s *Sealer) Open(place string, value []byte) ([]byte, error) {
	if len(value) < 2 || value[0] != Mark || len(value) < 2+int(value[1]) {
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
