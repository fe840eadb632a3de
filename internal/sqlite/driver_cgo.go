//go:build cgo

package sqlite

import (
	"database/sql/driver"
	"errors"
	"strings"

	sqlite3 "github.com/mattn/go-sqlite3" // SQLite compiled from C
)

// openDriver opens a connection. Connections have one owner each, so SQLite
// need not lock them; interrupting one from another goroutine is safe all the same.
func openDriver(dsn string) (driver.Conn, error) {
	sep := "?"
	if strings.Contains(dsn, "?") {
		sep = "&"
	}
	return (&sqlite3.SQLiteDriver{}).Open(dsn + sep + "_mutex=no")
}

// codeOf returns SQLite's extended result code, 0 for other errors.
func codeOf(err error) int {
	if e, ok := errors.AsType[sqlite3.Error](err); ok {
		return max(int(e.ExtendedCode), int(e.Code))
	}
	return 0
}
