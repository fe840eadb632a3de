package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"example.com/ragflow/internal/sqlite"
)

// Publish makes the newest state of root quick to search, and saves what that
// takes beside the database. A root that has no files becomes an empty
// collection, so that it counts as indexed. progress, which may be nil, is told
// how many files were merged; it must not call the DB.
func (db *DB) Publish(ctx context.Context, root string, progress func(done, total int)) error {
	nothing := func(*sqlite.Tx, int64) (bool, error) { return false, nil }
	if err := db.change(ctx, "publish", root, true, nothing); err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	s, err := db.segment(ctx, root, progress)
	if err == nil {
		err = db.save(s)
	}
	if err != nil {
		return fmt.Errorf("publish %q: %w", root, err)
	}
	return nil
}

// segment returns the segment of root's newest generation: one seen before, the
// one in its file, or one made anew. db.mu is held.
func (db *DB) segment(ctx context.Context, root string, progress func(done, total int)) (*segment, error) {
	want := stamp{database: db.id, analysis: db.analysis()}
	err := db.sql.Read(ctx, func(tx *sqlite.Tx) error { return want.read(tx, root) })
	if err != nil {
		return nil, err
	}
	if s := db.segments[want.collection]; s != nil && s.fits(want) {
		return s, nil
	}
	s := db.load(want)
	if s == nil {
		if s, err = db.build(ctx, root, progress); err != nil {
			return nil, err
		}
	}
	db.segments[s.collection] = s
	return s, nil
}

// read fills in collection and generation.
func (s *stamp) read(tx *sqlite.Tx, root string) error {
	err := tx.QueryRow(`SELECT id, generation FROM collections WHERE root = ?`, root).Scan(&s.collection, &s.generation)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: %s", ErrNotIndexed, root)
	}
	return err
}

// fits reports whether a segment is what is wanted.
func (s stamp) fits(want stamp) bool {
	want.maxRev = s.maxRev
	return s == want
}

// build makes the segment of root from the terms of its files.
func (db *DB) build(ctx context.Context, root string, progress func(done, total int)) (*segment, error) {
	if err := db.reanalyze(ctx, root); err != nil {
		return nil, err
	}
	var data []byte
	err := db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		s := stamp{database: db.id, analysis: db.analysis()}
		if err := s.read(tx, root); err != nil {
			return err
		}
		var total int
		if err := tx.QueryRow(`SELECT (SELECT count(*) FROM files WHERE collection = ?1), (SELECT coalesce(max(rev), 0) FROM chunks)`,
			s.collection).Scan(&total, &s.maxRev); err != nil {
			return err
		}
		b, err := merge(tx, s, total, progress)
		if err != nil {
			return err
		}
		data, err = b.finish(s)
		return err
	})
	if err != nil {
		return nil, err
	}
	return openSegment(data)
}

// merge reads the terms of all files in order of their sources.
func merge(tx *sqlite.Tx, s stamp, total int, progress func(done, total int)) (*builder, error) {
	b := newBuilder()
	done := 0
	err := each(tx, func(rows row) error {
		var source, analysis string
		var body sql.RawBytes
		if err := rows.Scan(&source, &analysis, &body); err != nil {
			return err
		}
		if analysis != s.analysis {
			return fmt.Errorf("%q was just written by a program with another analyzer (%s, here %s)", source, analysis, s.analysis)
		}
		if err := b.add(body); err != nil {
			return fmt.Errorf("%q: %w", source, err)
		}
		done++
		if progress != nil {
			progress(done, total)
		}
		return nil
	}, `SELECT f.source, t.analysis, t.body FROM files f JOIN terms t ON t.file = f.id
		WHERE f.collection = ? ORDER BY f.source`, s.collection)
	return b, err
}

// name returns the file of a segment.
func (db *DB) name(s stamp) string {
	return filepath.Join(db.folder, fmt.Sprintf("%d-%d.seg", s.collection, s.generation))
}

// load opens the segment in its file. It returns nil where there is none, or
// none that can be used.
func (db *DB) load(want stamp) *segment {
	if db.folder == "" {
		return nil
	}
	data, err := os.ReadFile(db.name(want))
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			db.log.Warn("segment cannot be read and is made anew", "error", err)
		}
		return nil
	}
	s, err := openSegment(data)
	if err != nil {
		db.log.Warn("segment is made anew", "file", db.name(want), "error", err)
		return nil
	}
	if !s.fits(want) {
		return nil
	}
	s.saved = true
	return s
}

// save writes a segment to its file, aside first and then renamed, and removes
// older ones. db.mu is held.
func (db *DB) save(s *segment) error {
	if db.folder == "" || s.saved || db.ReadOnly() {
		return nil
	}
	if err := os.MkdirAll(db.folder, 0o700); err != nil {
		return err
	}
	name := db.name(s.stamp)
	f, err := os.CreateTemp(db.folder, fmt.Sprintf("%d-*.tmp", s.collection))
	if err != nil {
		return err
	}
	_, err = f.Write(s.data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	s.saved = true
	db.sweep(s.collection, filepath.Base(name))
	return nil
}

// abandoned is the age at which a temporary file has no process any more that
// writes it.
const abandoned = 10 * time.Minute

// sweep removes the segments of a collection but the one to keep, and what
// processes that died left. What cannot be removed now is next time.
func (db *DB) sweep(collection int64, keep string) {
	if db.folder == "" {
		return
	}
	entries, err := os.ReadDir(db.folder)
	if err != nil {
		return
	}
	prefix := fmt.Sprintf("%d-", collection)
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, prefix) || name == keep {
			continue
		}
		if strings.HasSuffix(name, ".tmp") {
			info, err := e.Info()
			if err != nil || time.Since(info.ModTime()) < abandoned {
				continue
			}
		}
		if err := os.Remove(filepath.Join(db.folder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			db.log.Warn("old segment cannot be removed", "error", err)
		}
	}
}
