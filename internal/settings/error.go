package settings

import (
	"errors"
	"fmt"
	"io/fs"
)

// Notice is a warning about what is configured.
type Notice string

// Error is a setting that cannot be used, and what to do about it.
type Error struct {
	Err  error
	Hint string // may be empty
	// Conflict is true if no setting is wrong, but a file that is already there is in the way.
	Conflict bool
}

func (e *Error) Error() string { return e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

func errorf(format string, args ...any) *Error { return &Error{Err: fmt.Errorf(format, args...)} }

func (e *Error) with(hint string) *Error {
	e.Hint = hint
	return e
}

// failed adds what could not be done to an error of the system.
func failed(what string, err error) error {
	if _, ok := errors.AsType[*Error](err); ok || err == nil {
		return err
	}
	if file, ok := err.(*fs.PathError); ok { //nolint:errorlint // an error around it says more
		err = fmt.Errorf("%s: %w", file.Path, file.Err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
