package checkpoint

import (
	"errors"
	"fmt"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/seal"
)

// plainMark is the first byte of an unencrypted value that is no text: an unencrypted text is a
// string, and encrypted values are those of package seal.
const plainMark = 1

// sealer encrypts the contents of a store and decrypts them. A nil sealer leaves
// them as they are. The place of a value is its additional data, so a value decrypts
// at its own place only. Safe for concurrent use.
type sealer struct {
	*seal.Sealer

	strict bool // everything is encrypted; an unencrypted value was written by somebody else
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
	return s.Seal(place, body)
}

// open decodes the value of a column with the key that it names.
func (s *sealer) open(place string, value any) ([]byte, error) {
	var body []byte
	switch value := value.(type) {
	case nil:
		return nil, nil
	case string:
		body = []byte(value)
	case []byte:
		switch {
		case len(value) > 0 && value[0] == seal.Mark && s == nil:
			return nil, errors.New("it is encrypted")
		case len(value) > 0 && value[0] == seal.Mark:
			return s.Open(place, value)
		case len(value) == 0 || value[0] != plainMark:
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
