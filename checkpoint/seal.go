package checkpoint

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// sealMark begins every sealed record: the mark, the id of the key, a colon, and
// the nonce and what AES-256-GCM made of the text, in base64 but for snapshots. No
// JSON text begins with it.
const sealMark = "\x02"

// sealer encrypts the texts of a store and opens them. A nil sealer leaves them
// as they are. Nonces are random, of 96 bits, so that one key is good for four
// thousand million records. What a record is authenticated with besides is its
// place, so that none can be put in another's. Safe for concurrent use.
type sealer struct {
	ring    Keyring
	hashKey []byte // what equal texts are found by; the same under every key
	strict  bool   // every record is sealed; one that is not was put there

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
	if !keyID.MatchString(id) || s.ring.Key == nil {
		return nil, errors.New("the id of the key is not one, or there is no function that gives it")
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
	if err != nil {
		return nil, err
	}
	if s.aeads == nil {
		s.aeads = map[string]cipher.AEAD{}
	}
	s.aeads[id] = a
	return a, nil
}

// sealBytes encrypts a body under the current key.
func (s *sealer) sealBytes(place string, body []byte) ([]byte, error) {
	if s == nil {
		return body, nil
	}
	a, err := s.aead(s.ring.Current)
	if err != nil {
		return nil, fmt.Errorf("key %q: %w", s.ring.Current, err)
	}
	nonce := make([]byte, a.NonceSize(), a.NonceSize()+len(body)+a.Overhead())
	_, _ = rand.Read(nonce) // never fails
	return append([]byte(sealMark+s.ring.Current+":"), a.Seal(nonce, nonce, body, []byte(place))...), nil
}

// seal is sealBytes for a column of texts; an empty one stays empty.
func (s *sealer) seal(place, text string) (string, error) {
	if s == nil || text == "" {
		return text, nil
	}
	sealed, err := s.sealBytes(place, []byte(text))
	if err != nil {
		return "", err
	}
	head := len(sealMark) + len(s.ring.Current) + 1
	return string(sealed[:head]) + base64.RawStdEncoding.EncodeToString(sealed[head:]), nil
}

// sealedBy returns the id of the key of a record, and what follows it; "" for
// a record that is not sealed.
func sealedBy[T string | []byte](record T) (id string, rest T) {
	const longest = 34 // mark, id of 32, colon
	head := string(record[:min(len(record), longest)])
	if !strings.HasPrefix(head, sealMark) {
		return "", record
	}
	id, _, ok := strings.Cut(head[len(sealMark):], ":")
	if !ok || !keyID.MatchString(id) {
		return "", record
	}
	return id, record[len(sealMark)+len(id)+1:]
}

var errNotSealed = errors.New("it is not encrypted, as everything in this store is: somebody put it there")

// openBytes undoes sealBytes, with whatever key the record names.
func (s *sealer) openBytes(place string, record []byte) ([]byte, error) {
	if s == nil {
		return record, nil
	}
	id, sealed := sealedBy(record)
	if id == "" {
		if s.strict && len(record) > 0 {
			return nil, errNotSealed
		}
		return record, nil
	}
	a, err := s.aead(id)
	if err != nil {
		return nil, fmt.Errorf("key %q: %w", id, err)
	}
	if len(sealed) < a.NonceSize() {
		return nil, errors.New("the sealed record is cut short")
	}
	body, err := a.Open(nil, sealed[:a.NonceSize()], sealed[a.NonceSize():], []byte(place))
	if err != nil {
		return nil, fmt.Errorf("key %q does not open it: it was changed, or moved from another place", id)
	}
	return body, nil
}

// open undoes seal.
func (s *sealer) open(place, record string) (string, error) {
	if s == nil || record == "" {
		return record, nil
	}
	if id, encoded := sealedBy(record); id != "" {
		sealed, err := base64.RawStdEncoding.DecodeString(encoded)
		if err != nil {
			return "", errors.New("the sealed record is no base64")
		}
		record = sealMark + id + ":" + string(sealed)
	}
	body, err := s.openBytes(place, []byte(record))
	return string(body), err
}

// hash is what finds a text among the blobs; any 64 bits will do. With a key it
// tells nobody which texts there are.
func (s *sealer) hash(text string) int64 {
	var sum []byte
	if s == nil {
		plain := sha256.Sum256([]byte(text))
		sum = plain[:]
	} else {
		m := hmac.New(sha256.New, s.hashKey)
		m.Write([]byte(text))
		sum = m.Sum(nil)
	}
	return int64(binary.BigEndian.Uint64(sum[:8]))
}

// hashAsKept is the hash of a blob as it was saved: before the store had keys, or
// since.
func (s *sealer) hashAsKept(record, text string) int64 {
	if id, _ := sealedBy(record); s != nil && id == "" {
		return (*sealer)(nil).hash(text)
	}
	return s.hash(text)
}

// Places of records, as they are authenticated. SQL expressions elsewhere give
// the same texts.
const blobPlace = "text"

func deltaPlace(at int64, column string) string {
	return "delta " + strconv.FormatInt(at, 10) + " " + column
}

func snapshotPlace(at int64) string { return "snapshot " + strconv.FormatInt(at, 10) }

func commitPlace(id int64) string { return "commit " + strconv.FormatInt(id, 10) + " error" }

func pendingPlace(run, node, column string) string {
	return "pending " + run + " " + node + " " + column
}
