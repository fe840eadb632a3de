package sqlite

import (
	"errors"
	"fmt"
)

// ErrClosed is returned by a DB after Close.
var ErrClosed = errors.New("database is closed")

// Kinds of an [*Error]. In every case the failed operation has changed nothing,
// and what was committed before is intact unless the file is damaged.
var (
	ErrDamaged  = errors.New("database is damaged")
	ErrFull     = errors.New("disk is full")
	ErrIO       = errors.New("disk cannot be read or written")
	ErrReadOnly = errors.New("file or folder cannot be written")
	ErrLocked   = errors.New("another process holds the database")
	ErrNewer    = errors.New("database was written by a newer version of this program")
	ErrGone     = errors.New("database file was deleted or replaced")
	ErrForeign  = errors.New("database belongs to another program or holds other data")
)

// Error is a failure of a database file. It matches its Kind.
type Error struct {
	Path string
	Kind error // ErrDamaged, ErrFull, …
	Err  error // details: what SQLite reported, or what was expected
}

// Error says what is wrong with which file and, if possible, what to do.
func (e *Error) Error() string {
	advice := ""
	switch {
	case errors.Is(e.Kind, ErrDamaged):
		advice = ": restore it from a backup, or move it away to start with an empty one"
	case errors.Is(e.Kind, ErrNewer):
		advice = ": update the program"
	case errors.Is(e.Kind, ErrGone):
		advice = ": start the program again, with the file in its place"
	case errors.Is(e.Kind, ErrForeign):
		advice = ": name another file"
	}
	return fmt.Sprintf("%s: %v (%v)%s", e.Path, e.Kind, e.Err, advice)
}

// Unwrap returns the details.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the error's Kind.
func (e *Error) Is(target error) bool { return target == e.Kind }

// Primary result codes of SQLite; see sqlite.org/rescode.html.
const (
	codePerm     = 3
	codeBusy     = 5
	codeLocked   = 6
	codeReadOnly = 8
	codeIO       = 10
	codeCorrupt  = 11
	codeFull     = 13
	codeCantOpen = 14
	codeNotADB   = 26
)

// isBusy reports whether another connection holds a lock, so that a second try
// may succeed.
func isBusy(err error) bool {
	code := codeOf(err) & 0xff
	return code == codeBusy || code == codeLocked
}

// explain turns errors of the file or the disk into an *Error.
func (db *DB) explain(err error) error {
	if _, ok := errors.AsType[*Error](err); ok || err == nil {
		return err
	}
	kind := map[int]error{
		codeCorrupt: ErrDamaged, codeNotADB: ErrDamaged, codeFull: ErrFull, codeIO: ErrIO,
		codeReadOnly: ErrReadOnly, codePerm: ErrReadOnly, codeCantOpen: ErrReadOnly,
	}[codeOf(err)&0xff]
	if kind == nil {
		return err
	}
	return &Error{Path: db.path, Kind: kind, Err: err}
}

// readOnlyError returns the error of an operation that needs a writable database.
func (db *DB) readOnlyError(reason string) error {
	return &Error{Path: db.path, Kind: ErrReadOnly, Err: errors.New(reason)}
}
