//go:build !cgo

package sqlite

import (
	"errors"

	"modernc.org/sqlite" // SQLite translated to Go
)

const driverName = "sqlite"

// codeOf returns SQLite's extended result code, 0 for other errors.
func codeOf(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}
