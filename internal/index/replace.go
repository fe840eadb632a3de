package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"example.com/ragflow/internal/sqlite"
)

// OpenOrReplace is [Open], but renames a damaged index and makes a new one, because everything
// can be read again from the documents. The old file is never deleted; notice names it, and is
// "" if nothing was replaced.
func OpenOrReplace(ctx context.Context, path string, o Options) (db *DB, notice string, err error) {
	db, err = Open(ctx, path, o)
	if path == "" || o.Access == sqlite.ReadOnly || !errors.Is(err, sqlite.ErrDamaged) {
		return db, "", err
	}
	aside, moveErr := setAside(path)
	if moveErr != nil {
		return nil, "", errors.Join(err, moveErr)
	}
	notice = fmt.Sprintf("it was damaged; it is kept as %s, and built again from the documents", filepath.Base(aside))
	db, err = Open(ctx, path, o)
	return db, notice, err
}

// setAside renames a database, with its write-ahead log, to the first free name.
func setAside(path string) (string, error) {
	for i := 1; ; i++ {
		aside := fmt.Sprintf("%s.damaged-%d", path, i)
		if _, err := os.Lstat(aside); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		for _, end := range []string{"-wal", "-shm"} {
			if err := os.Rename(path+end, aside+end); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", fmt.Errorf("move the old index aside: %w", err)
			}
		}
		if err := os.Rename(path, aside); err != nil {
			return "", fmt.Errorf("move the old index aside: %w", err)
		}
		return aside, nil
	}
}
