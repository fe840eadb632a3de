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

// openIndex opens the index. One that is damaged, or of an earlier version, is moved aside, never deleted, and a
// new one takes its place: all it holds can be read again from the documents.
func (a *Assistant) openIndex(ctx context.Context) error {
	path := a.config.indexPath()
	o := index.Options{Ranking: a.config.Retrieval.Ranking, Logger: a.config.Logger, Access: a.config.access()}
	var err error
	a.index, err = index.Open(ctx, path, o)
	earlier := errors.Is(err, index.ErrEarlier)
	if path == "" || a.config.ReadOnly || !earlier && !errors.Is(err, ErrDamaged) {
		return err
	}
	kind, what := "damaged", "was damaged"
	if earlier {
		kind, what = "earlier", "was made by an earlier version"
	}
	aside, moveErr := setAside(path, kind)
	if moveErr != nil {
		return errors.Join(err, moveErr)
	}
	a.repaired = fmt.Sprintf("it %s; it is kept as %s, and built again from the documents", what, filepath.Base(aside))
	a.config.Logger.WarnContext(ctx, "the index is built again from the documents", "reason", what, "kept_as", aside)
	a.index, err = index.Open(ctx, path, o)
	return err
}

// setAside renames a database, with its write-ahead log, to the first free name.
func setAside(path, kind string) (string, error) {
	for i := 1; ; i++ {
		aside := fmt.Sprintf("%s.%s-%d", path, kind, i)
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
