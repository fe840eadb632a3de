package sqlite

import (
	"errors"
	"fmt"
	"time"
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

// Facts about the disk; each matches the *DiskError that tells of it. Nothing
// of the write was saved; what was saved before is intact.
var (
	ErrFull     = errors.New("disk is full")
	ErrIO       = errors.New("disk cannot be read or written")
	ErrReadOnly = errors.New("file or folder cannot be written")
)

// DiskError tells that the disk, not the data, stood in the way.
type DiskError struct {
	Path string
	Kind error // ErrFull, ErrIO or ErrReadOnly
	Err  error // what SQLite said
}

func (e *DiskError) Error() string {
	return fmt.Sprintf("database %s: %v (%v)", e.Path, e.Kind, e.Err)
}

// Unwrap returns what SQLite said.
func (e *DiskError) Unwrap() error { return e.Err }

// Is reports whether target is the error's Kind.
func (e *DiskError) Is(target error) bool { return target == e.Kind }

// ErrLocked matches every *LockedError.
var ErrLocked = errors.New("another process holds the database")

// LockedError tells that a lock of others was waited for in vain. Nothing of the
// write was saved.
type LockedError struct {
	Path   string
	Waited time.Duration
	Err    error // what SQLite said
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("database %s: %v, and has for %v (%v)", e.Path, ErrLocked, e.Waited, e.Err)
}

// Unwrap returns what SQLite said.
func (e *LockedError) Unwrap() error { return e.Err }

// Is reports whether target is ErrLocked.
func (*LockedError) Is(target error) bool { return target == ErrLocked }

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

// busy tells whether another connection holds a lock: trying again may work.
func busy(err error) bool {
	code := codeOf(err) & 0xff
	return code == codeBusy || code == codeLocked
}

// explain gives errors of a damaged file and of the disk their types.
func (db *DB) explain(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*DamagedError](err); ok {
		return err
	}
	if _, ok := errors.AsType[*DiskError](err); ok {
		return err
	}
	switch codeOf(err) & 0xff {
	case codeCorrupt, codeNotADB:
		return &DamagedError{Path: db.path, Err: err}
	case codeFull:
		return &DiskError{Path: db.path, Kind: ErrFull, Err: err}
	case codeIO:
		return &DiskError{Path: db.path, Kind: ErrIO, Err: err}
	case codeReadOnly, codePerm, codeCantOpen:
		return &DiskError{Path: db.path, Kind: ErrReadOnly, Err: err}
	}
	return err
}
