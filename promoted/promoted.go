// Package promoted keeps answers that somebody found good, and finds them again
// by similar questions.
//
//	s, err := promoted.Open(ctx, "promoted.db", sqlite.ReadIfNeeded)
//	id, replaced, err := s.Put(ctx, promoted.Answer{Question: "How do I back up a volume?", …})
//	all, err := s.All(ctx)
//	for _, m := range promoted.Similar("Can I back up volumes?", all, stats, promoted.Threshold) { … }
//
// It is no cache: what it finds was asked before, and is told as that. Whether it
// still holds, and whether it was the same question, is for the reader to see.
//
// The file has one table, answers: id, time (microseconds since 1970) and body,
// an Answer as JSON. It is plain text.
package promoted

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// ErrNotFound tells that no answer has an id.
var ErrNotFound = errors.New("not found")

// ErrAmbiguous tells that the ids of several answers begin so.
var ErrAmbiguous = errors.New("more than one promoted answer begins with that")

// Answer is a question with an answer that was found good.
type Answer struct {
	ID         string           `json:"id"`       // 12 hexadecimal digits, of the words of Standalone
	Question   string           `json:"question"` // as it was asked
	Standalone string           `json:"standalone"`
	Language   string           `json:"language"` // of the question, ISO 639-1
	Text       string           `json:"answer"`
	Citations  []state.Citation `json:"citations"` // each with the hash of its chunk
	Thread     string           `json:"thread_id"`
	Run        string           `json:"run_id"`
	Promoted   time.Time        `json:"promoted"` // UTC; microseconds are kept
}

// applicationID marks the files of this store: "rflP".
const applicationID = 0x72666c50

// migrations are numbered by position; a released one never changes.
func migrations() []string {
	return []string{`
CREATE TABLE answers(
	id   TEXT PRIMARY KEY,
	time INTEGER NOT NULL, -- microseconds since 1970
	body TEXT NOT NULL     -- an Answer as JSON
) STRICT, WITHOUT ROWID;
`}
}

// Store keeps answers in a file. It is safe for concurrent use, by several
// processes too.
type Store struct{ db *sqlite.DB }

// Open opens or creates the file at path. The caller closes the store.
func Open(ctx context.Context, path string, access sqlite.Access) (*Store, error) {
	db, err := sqlite.Open(ctx, path, sqlite.Options{Migrations: migrations(), ApplicationID: applicationID, Access: access})
	if err != nil {
		return nil, err
	}
	return &Store{db}, nil
}

// Close closes the file.
func (s *Store) Close() error { return s.db.Close() }

// Put keeps an answer under the id that the words of its Standalone give. It
// replaces the answer to the same words, if there is one.
func (s *Store) Put(ctx context.Context, a Answer) (id string, replaced bool, err error) {
	a.ID = ID(a.Standalone)
	body, err := json.Marshal(a)
	if err != nil {
		return "", false, fmt.Errorf("keep answer: %w", err)
	}
	err = s.db.Write(ctx, func(tx *sqlite.Tx) error {
		if err := tx.QueryRow(`SELECT EXISTS(SELECT 1 FROM answers WHERE id = ?)`, a.ID).Scan(&replaced); err != nil {
			return err
		}
		return tx.Do(`INSERT OR REPLACE INTO answers(id, time, body) VALUES (?, ?, ?)`, a.ID, a.Promoted.UnixMicro(), string(body))
	})
	if err != nil {
		return "", false, fmt.Errorf("keep answer: %w", err)
	}
	return a.ID, replaced, nil
}

// Delete drops the answer whose id begins so. The error matches ErrNotFound or
// ErrAmbiguous.
func (s *Store) Delete(ctx context.Context, begin string) (id string, err error) {
	err = s.db.Write(ctx, func(tx *sqlite.Tx) error {
		var ids []string
		for row := range tx.Query(`SELECT id FROM answers WHERE substr(id, 1, length(?)) = ? ORDER BY id LIMIT 2`, begin, begin) {
			if err := row.Scan(&id); err != nil {
				return err
			}
			ids = append(ids, id)
		}
		switch {
		case begin == "" || len(ids) == 0:
			return ErrNotFound
		case len(ids) > 1:
			return ErrAmbiguous
		}
		return tx.Do(`DELETE FROM answers WHERE id = ?`, id)
	})
	if err != nil {
		return "", fmt.Errorf("promoted answer %q: %w", begin, err)
	}
	return id, nil
}

// All returns every answer, the newest first.
func (s *Store) All(ctx context.Context) ([]Answer, error) {
	out := []Answer{}
	err := s.db.Read(ctx, func(tx *sqlite.Tx) error {
		out = out[:0]
		for row := range tx.Query(`SELECT body FROM answers ORDER BY time DESC, id`) {
			var body string
			if err := row.Scan(&body); err != nil {
				return err
			}
			var a Answer
			if err := json.Unmarshal([]byte(body), &a); err != nil {
				return err
			}
			out = append(out, a)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read promoted answers: %w", err)
	}
	return out, nil
}

// ID returns the id of a question: of its words in lower case and NFC, in their
// order, whatever stands between them. A question without words is its own text.
func ID(question string) string {
	words := words(question)
	if len(words) == 0 {
		words = []string{text.Clean(question)}
	}
	sum := sha256.Sum256([]byte(strings.Join(words, " ")))
	return hex.EncodeToString(sum[:6])
}

// words are the runs of letters, digits and what stands within them, such as in
// don't, --mount and v1.2.
func words(s string) []string {
	fields := strings.Fields(strings.ToLower(text.Clean(s)))
	out := fields[:0]
	for _, w := range fields {
		w = strings.TrimFunc(w, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("-+#$/", r)
		})
		if w != "" && strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			out = append(out, w)
		}
	}
	return out
}
