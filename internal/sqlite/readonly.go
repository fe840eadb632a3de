package sqlite

import (
	"errors"
	"fmt"
)

// Access says what a database is opened for.
type Access int

// The kinds of access.
const (
	// ReadWrite opens for reading and writing; a file or folder that cannot be
	// written is an error that matches [ErrReadOnly].
	ReadWrite Access = iota
	// ReadIfNeeded opens for reading and writing, and where file or folder
	// cannot be written, for reading only.
	ReadIfNeeded
	// ReadOnly opens for reading only, whatever could be done.
	ReadOnly
)

var (
	errOpenedToRead = errors.New("it was opened for reading only")
	errStrandedLog  = errors.New("its write-ahead log cannot be read without writing beside it: copy the folder to where it can be written, and open the copy")
	errOldSchema    = errors.New("it is of an older version of this program and must be brought up to date: open it once where it can be written")
)

// ReadOnly reports whether the database was opened for reading only. Every
// Write then fails with an error that matches [ErrReadOnly].
func (db *DB) ReadOnly() bool { return db.readOnly }

// denied is the error of what a database opened for reading only cannot do.
func (db *DB) denied(why error) error {
	return &DiskError{Path: db.path, Kind: ErrReadOnly, Err: why}
}

// check refuses an access that there is not.
func (a Access) check() error {
	if a < ReadWrite || a > ReadOnly {
		return fmt.Errorf("unknown access %d", a)
	}
	return nil
}
