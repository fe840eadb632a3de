package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"example.com/ragflow/internal/sqlite"
)

// Backup writes a consistent copy of the whole store to a new file at path and forces it to
// the disk. The copy includes commits that are still in the write-ahead log. Writers are not
// blocked. An encrypted store stays encrypted. The error
// matches [fs.ErrExist] if the file exists.
func (s *SQLite) Backup(ctx context.Context, path string) error {
	if err := s.backup(ctx, path); err != nil {
		return fmt.Errorf("back up to %s: %w", path, err)
	}
	return nil
}

func (s *SQLite) backup(ctx context.Context, path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fs.ErrExist
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-*.partial") // a name that nobody could prepare
	if err != nil {
		return err
	}
	part := f.Name()
	err = s.db.CopyTo(ctx, part)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		_ = os.Remove(part)
	}
	return err
}

// Restore replaces the content of the store at path by the content of a backup, in one
// transaction. The store is created if it does not exist. The backup is checked first, and
// nothing changes if it is damaged. Other processes may have the store open: their leases
// are lost. If the store is too damaged to be opened, its files are renamed; setAside is
// their new name.
func Restore(ctx context.Context, backup, path string) (setAside string, err error) {
	if err := checkBackup(ctx, backup); err != nil {
		return "", fmt.Errorf("restore %s: %w", backup, err)
	}
	err = restore(ctx, backup, path)
	if errors.Is(err, ErrDamaged) {
		setAside = path + ".damaged-" + time.Now().UTC().Format("20060102-150405")
		// Rename the log first: it must not end up next to a new database file.
		for _, suffix := range []string{"-wal", "-shm", ""} {
			if err := os.Rename(path+suffix, setAside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", fmt.Errorf("set the damaged store aside: %w", err)
			}
		}
		err = restore(ctx, backup, path)
	}
	if err != nil {
		return setAside, fmt.Errorf("restore %s to %s: %w", backup, path, err)
	}
	return setAside, nil
}

func checkBackup(ctx context.Context, path string) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	db, err := openFile(ctx, path, ProcessCrash, ReadOnly)
	if err != nil {
		return err
	}
	found, err := db.Check(ctx)
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("%w: %s", ErrDamaged, found[0])
	}
	return errors.Join(err, db.Close())
}

func restore(ctx context.Context, backup, path string) error {
	db, err := openFile(ctx, path, ProcessCrash, ReadWrite)
	if err != nil {
		return err
	}
	err = db.WriteFrom(ctx, backup, func(tx *sqlite.Tx) error {
		// IDs of commits and tokens of leases are never reused, so that an old writer
		// is rejected.
		const lastToken = `max(coalesce((SELECT max(token) FROM threads), 0), coalesce((SELECT value FROM meta WHERE key = '` + lastTokenKey + `'), 0))`
		var commit, token, restoredCommit, restoredToken int64
		last := `SELECT ` + lastCommit + `, ` + lastToken
		if err := tx.QueryRow(last).Scan(&commit, &token); err != nil {
			return err
		}
		for _, t := range []string{"pending", "deltas", "commits", "tags", "threads", "meta"} {
			where := ""
			if t == "meta" {
				where = ` WHERE key <> '` + viewsKey + `'` // views are not copied
			}
			if err := tx.Do(`DELETE FROM main.` + t + where); err != nil {
				return err
			}
			if err := tx.Do(`INSERT INTO main.` + t + ` SELECT * FROM source.` + t + where); err != nil {
				return err
			}
		}
		// Kinds keep their ids, which other processes know.
		const names = `graph, source, status, frontier, path, node, rank`
		if err := errors.Join(
			tx.Do(`INSERT OR IGNORE INTO main.kinds(`+names+`) SELECT `+names+` FROM source.kinds`),
			tx.Do(`UPDATE main.commits SET kind = (SELECT m.id FROM source.kinds s JOIN main.kinds m USING(`+names+`) WHERE s.id = kind)`),
		); err != nil {
			return err
		}
		if err := tx.QueryRow(last).Scan(&restoredCommit, &restoredToken); err != nil {
			return err
		}
		token = max(token, restoredToken) + 1
		return errors.Join(
			putMeta(tx, lastCommitKey, max(commit, restoredCommit)),
			putMeta(tx, lastTokenKey, token),
			tx.Do(`UPDATE threads SET token = ?, holder = '', until = NULL`, token),
		)
	})
	return errors.Join(err, db.Close())
}
