package sqlite

import (
	"errors"
	"fmt"
)

// ErrClosed is what a DB returns once it was closed.
var ErrClosed = errors.New("database is closed")

// ErrDamaged matches every *DamagedError.
var ErrDamaged = errors.New("database is damaged")

// DamagedError tells that a file is not a database, or no longer a whole one.
// The file was left as it is.
type DamagedError struct {
	Path string
	Err  error // what SQLite said
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("database %s is damaged (%v): restore it from a backup, or move it away to start anew", e.Path, e.Err)
}

// Unwrap returns what SQLite said.
func (e *DamagedError) Unwrap() error { return e.Err }

// Is reports whether target is ErrDamaged.
func (*DamagedError) Is(target error) bool { return target == ErrDamaged }

// NewerError tells that a file was written by a newer version of the program.
type NewerError struct {
	Path    string
	Version int // schema version of the file
	Known   int // newest version this program knows
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("database %s was written by a newer version of this program (schema %d, this one knows %d): update the program",
		e.Path, e.Version, e.Known)
}

// ForeignError tells that a file is a database, but one of another kind.
type ForeignError struct {
	Path      string
	Got, Want int32 // application ids
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("database %s belongs to another program or holds other data (application id %#x, want %#x): name another file",
		e.Path, e.Got, e.Want)
}

// PanicError is a panic of a callback, caught and turned into an error.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("panic in a database callback: %v\n%s", e.Value, e.Stack)
}

// Primary result codes of SQLite that are acted on; see sqlite.org/rescode.html.
const (
	codeBusy    = 5
	codeLocked  = 6
	codeCorrupt = 11
	codeNotADB  = 26
)

// busy tells whether another connection holds a lock: trying again may work.
func busy(err error) bool {
	code := codeOf(err) & 0xff
	return code == codeBusy || code == codeLocked
}

// explain gives errors of a damaged file their type.
func (db *DB) explain(err error) error {
	if code := codeOf(err) & 0xff; code == codeCorrupt || code == codeNotADB {
		if _, ok := errors.AsType[*DamagedError](err); !ok {
			return &DamagedError{Path: db.path, Err: err}
		}
	}
	return err
}
