package ragflow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"example.com/ragflow/search/index"
)

// openIndex opens the index. A damaged one is moved aside, never deleted, and a
// new one takes its place: all it holds can be read again from the documents.
func (a *Assistant) openIndex(ctx context.Context) error {
	path := a.config.indexPath()
	o := index.Options{Ranking: a.config.Retrieval.Ranking, Logger: a.config.Logger, Access: a.config.access()}
	var err error
	a.index, err = index.Open(ctx, path, o)
	if path == "" || a.config.ReadOnly || !errors.Is(err, ErrDamaged) {
		return err
	}
	aside, moveErr := setAside(path)
	if moveErr != nil {
		return errors.Join(err, moveErr)
	}
	a.repaired = fmt.Sprintf("it was damaged; it is kept as %s, and built anew from the documents", filepath.Base(aside))
	a.config.Logger.WarnContext(ctx, "index was damaged and is built anew", "kept_as", aside)
	a.index, err = index.Open(ctx, path, o)
	return err
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
				return "", fmt.Errorf("move the damaged index aside: %w", err)
			}
		}
		if err := os.Rename(path, aside); err != nil {
			return "", fmt.Errorf("move the damaged index aside: %w", err)
		}
		return aside, nil
	}
}
