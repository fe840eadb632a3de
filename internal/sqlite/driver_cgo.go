//go:build cgo

package sqlite

import (
	"errors"

	sqlite3 "github.com/mattn/go-sqlite3" // SQLite compiled from C
)

const driverName = "sqlite3"

// codeOf returns SQLite's extended result code, 0 for other errors.
func codeOf(err error) int {
	if e, ok := errors.AsType[sqlite3.Error](err); ok {
		return max(int(e.ExtendedCode), int(e.Code))
	}
	return 0
}
