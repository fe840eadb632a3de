// Package tokens keeps who may use a server: each token is a file of its own in one folder, so that
// two programs can add and revoke at the same time. A file holds the hash of the secret, which is
// shown once, when the token is made.
package tokens

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Scope is something that a token allows.
type Scope string

// The scopes. Admin includes all others but Speak.
const (
	Ask    Scope = "ask"    // ask questions, and read, continue and delete the threads of the owner
	Read   Scope = "read"   // search and read documents
	Upload Scope = "upload" // add, index and delete documents
	Admin  Scope = "admin"  // make and delete collections, see all jobs and metrics
	Speak  Scope = "speak"  // name another person as the owner of a request
)

// Scopes are all scopes, in the order in which they are listed.
func Scopes() []Scope { return []Scope{Ask, Read, Upload, Admin, Speak} }

// Errors of a folder of tokens; match them with errors.Is.
var (
	ErrName    = errors.New("the name of a token has 1 to 64 of the characters a-z, 0-9, - and _, and begins with a letter or digit")
	ErrExists  = errors.New("there is a token of this name")
	ErrUnknown = errors.New("there is no token of this name")
)

// Token is what a client may do. Its JSON is a file of the folder.
type Token struct {
	Name        string     `json:"name"`
	Owner       string     `json:"owner"` // of the threads that it begins; it sees no others
	Scopes      []Scope    `json:"scopes"`
	Collections []string   `json:"collections"` // that it may use; empty: all
	Created     time.Time  `json:"created"`
	Expires     *time.Time `json:"expires"` // null: never
	Hash        string     `json:"sha256"`  // of the secret, in hexadecimal digits
}

// May reports whether the token has a scope.
func (t *Token) May(s Scope) bool {
	return slices.Contains(t.Scopes, s) || s != Speak && slices.Contains(t.Scopes, Admin)
}

// Uses reports whether the token may use a collection.
func (t *Token) Uses(collection string) bool {
	return len(t.Collections) == 0 || slices.Contains(t.Collections, collection)
}

// Expired reports whether the token has ended at a time.
func (t *Token) Expired(now time.Time) bool { return t.Expires != nil && !now.Before(*t.Expires) }

// Folder is the path of a folder of tokens. It is made with the first one.
type Folder string

// In returns the folder of tokens in a data folder.
func In(dataDir string) Folder { return Folder(filepath.Join(dataDir, "tokens")) }

var names = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

func (f Folder) file(name string) (string, error) {
	if !names.MatchString(name) {
		return "", fmt.Errorf("%q: %w", name, ErrName)
	}
	return filepath.Join(string(f), name+".json"), nil
}

// Prefix begins each secret.
const Prefix = "rag_"

// Add stores a token and returns its secret, which cannot be read again.
func (f Folder) Add(t Token) (secret string, err error) {
	path, err := f.file(t.Name)
	if err != nil {
		return "", err
	}
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails
	secret = Prefix + base64.RawURLEncoding.EncodeToString(random)
	t.Hash = Hash(secret)
	data, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return "", err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%q: %w", t.Name, ErrExists)
	}
	if err != nil {
		return "", err
	}
	_, err = file.Write(append(data, '\n'))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(path))
	}
	return secret, nil
}

// Hash returns the hash of a secret, as a Token has it.
func Hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Revoke deletes a token. The error matches ErrUnknown if there is none.
func (f Folder) Revoke(name string) error {
	path, err := f.file(name)
	if err != nil {
		return err
	}
	if err = os.Remove(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%q: %w", name, ErrUnknown)
	}
	return err
}

// List returns all tokens by name, those that have expired too. A folder that does not exist has
// none. Files that are no tokens are in the error; the other tokens are returned all the same.
func (f Folder) List() ([]Token, error) {
	entries, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []Token
	for _, e := range entries {
		name, isToken := strings.CutSuffix(e.Name(), ".json")
		if !isToken || !names.MatchString(name) {
			continue
		}
		t, fault := read(filepath.Join(string(f), e.Name()))
		if fault != nil {
			if !errors.Is(fault, fs.ErrNotExist) { // revoked meanwhile
				err = errors.Join(err, fault)
			}
			continue
		}
		t.Name = name
		out = append(out, t)
	}
	return out, err
}

func read(path string) (t Token, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return t, err
	}
	if err = json.Unmarshal(data, &t); err == nil && len(t.Hash) != hex.EncodedLen(sha256.Size) {
		err = errors.New("it has no hash")
	}
	if err != nil {
		return t, fmt.Errorf("%s is no token: %w", path, err)
	}
	return t, nil
}
