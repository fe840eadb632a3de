//go:build !cgo

package sqlite

import (
	"database/sql/driver"
	"errors"

	"modernc.org/sqlite" // SQLite translated to Go
)

// openDriver opens a connection.
func openDriver(dsn string) (driver.Conn, error) { return (&sqlite.Driver{}).Open(dsn) }

// codeOf returns SQLite's extended result code, 0 for other errors.
func codeOf(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}
