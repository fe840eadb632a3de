package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/ragflow/internal/sqlite"
)

// When tiers are made and merged.
const (
	// flushBytes is how many bytes of terms are worth a tier; fewer are read from
	// the database by each process, in a few milliseconds.
	flushBytes = 256 << 10
	// mergeFactor is how many times as heavy as all after it a tier must be to be
	// left alone. So their number grows with the logarithm of the collection.
	mergeFactor = 4
	// deadShare is the part of a tier, one in so many, that may be dead before it is
	// merged anew.
	deadShare = 16
)

// Publish makes the newest state of root quick to search for processes to come,
// and saves what that takes beside the database. What it costs goes with what
// changed: a few changes are left as they are, more become a tier, and tiers are
// merged so that each is much larger than the next. A root that has no files
// becomes an empty collection, so that it counts as indexed. progress, which may
// be nil, is told how many files were merged; it must not call the DB.
func (db *DB) Publish(ctx context.Context, root string, progress func(done, total int)) error {
	nothing := func(*sqlite.Tx, int64, int64) (bool, error) { return false, nil }
	if err := db.change(ctx, "publish", root, true, nothing); err != nil {
		return err
	}
	db.publishing.Lock()
	defer db.publishing.Unlock()
	if err := db.publish(ctx, root, nil, progress); err != nil {
		return fmt.Errorf("publish %q: %w", root, err)
	}
	return nil
}

// errOtherTiers tells that another process published meanwhile.
var errOtherTiers = errors.New("another process goes on publishing")

// publish makes the tier that is due, if one is. broken, where not nil, cannot be
// used: it is made anew, and all after it. db.publishing is held.
func (db *DB) publish(ctx context.Context, root string, broken *tierRow, progress func(done, total int)) error {
	for range 4 {
		var m manifest
		var fresh *tier
		err := db.sql.Read(ctx, func(tx *sqlite.Tx) error {
			if err := m.read(tx, root, db.analysis()); err != nil {
				return err
			}
			since, due, err := db.plan(tx, &m, broken)
			if err != nil || !due {
				return err
			}
			fresh, err = db.build(tx, db.stamp(m.collection, tierRow{since, m.generation}), progress)
			return err
		})
		switch {
		case err != nil || fresh == nil:
			return err
		}
		if err := db.commit(ctx, root, fresh, &m); !errors.Is(err, errOtherTiers) {
			return err
		}
	}
	return errOtherTiers
}

// plan says from which version on a tier is to be made now, if one is due.
func (db *DB) plan(tx *sqlite.Tx, m *manifest, broken *tierRow) (since int64, due bool, err error) {
	if broken != nil && slices.Contains(m.tiers, *broken) {
		return broken.since, true, nil
	}
	if len(m.tiers) == 0 {
		return -1, true, nil
	}
	since = m.published()
	pending, err := m.pending(tx)
	if err != nil {
		return 0, false, err
	}
	weights, dead, err := m.weights(tx)
	if err != nil {
		return 0, false, err
	}
	first := len(m.tiers)
	if pending >= db.flush {
		due = true
	}
	for i := range m.tiers {
		if dead[i] > max(db.flush, weights[i]/deadShare) {
			first, due = i, true
			break
		}
	}
	if !due {
		return since, false, nil
	}
	for i := first; i < len(m.tiers); i++ {
		pending += weights[i] - dead[i]
	}
	for first > 0 && weights[first-1]-dead[first-1] < mergeFactor*pending {
		first--
		pending += weights[first] - dead[first]
	}
	if first < len(m.tiers) {
		since = m.tiers[first].since
	}
	return since, true, nil
}

// pending returns the bytes of the terms that no tier holds.
func (m *manifest) pending(tx *sqlite.Tx) (n int64, err error) {
	if m.published() == m.generation {
		return 0, nil
	}
	err = tx.QueryRow(`SELECT coalesce(sum(weight), 0) FROM files WHERE collection = ? AND version > ? AND chunks > 0`, m.collection, m.published()).Scan(&n)
	return n, err
}

// weights returns the bytes of the terms of each tier, and how many of them are
// dead.
func (m *manifest) weights(tx *sqlite.Tx) (all, dead []int64, err error) {
	all, dead = make([]int64, len(m.tiers)), make([]int64, len(m.tiers))
	n := 0
	if err := each(tx, func(r row) error {
		err := r.Scan(&all[n], &dead[n])
		n++
		return err
	}, `SELECT weight, (SELECT coalesce(sum(length(d.body)), 0) FROM dead d WHERE d.collection = t.collection
			AND d.version > t.since AND d.version <= t.generation AND d.died > t.generation)
		FROM tiers t WHERE t.collection = ? ORDER BY t.generation`, m.collection); err != nil {
		return nil, nil, err
	}
	return all, dead, nil
}

// build merges the terms of the files whose versions are greater than s.since
// into a tier.
func (db *DB) build(tx *sqlite.Tx, s stamp, progress func(done, total int)) (*tier, error) {
	// Of a whole collection the index by source gives the order. Of a part, the one
	// by version finds the files, and they are sorted.
	where := `f.collection = ? AND +f.version > ? AND f.chunks > 0`
	if s.since >= 0 {
		where = `f.collection = ? AND f.version > ? AND f.chunks > 0`
	}
	m := merging{db: db, tx: tx, collection: s.collection, builder: newBuilder(), tier: &tier{}, about: attributes{}, progress: progress}
	if progress != nil {
		if err := tx.QueryRow(`SELECT count(*) FROM files f WHERE `+where, s.collection, s.since).Scan(&m.total); err != nil {
			return nil, err
		}
	}
	if err := each(tx, func(rows row) error {
		var f merged
		if err := rows.Scan(&f.id, &f.version, &f.source, &f.title, &f.url, &f.meta, &f.weight); err != nil {
			return err
		}
		m.batch = append(m.batch, f)
		if len(m.batch) < mergedFiles {
			return nil
		}
		return m.flush()
	}, `SELECT f.id, f.version, f.source, f.title, f.url, f.meta, f.weight FROM files f WHERE `+where+` ORDER BY f.source`, s.collection, s.since); err != nil {
		return nil, err
	}
	if err := m.flush(); err != nil {
		return nil, err
	}
	data, err := m.builder.finish(s)
	if err != nil {
		return nil, err
	}
	m.tier.about = m.about.encode()
	m.tier.segment, err = openSegment(data)
	return m.tier, err
}

// mergedFiles is how many files are analyzed at a time, where they have to be.
const mergedFiles = 256

// merging is a tier in the making.
type merging struct {
	db         *DB
	tx         *sqlite.Tx
	collection int64
	builder    *builder
	tier       *tier
	about      attributes

	batch       []merged // by source
	progress    func(done, total int)
	done, total int
}

// merged is a file that goes into a tier.
type merged struct {
	titled

	source, url, meta string
	weight            int64
}

// flush adds the files that wait.
func (m *merging) flush() error {
	files := make([]titled, len(m.batch))
	for i, f := range m.batch {
		files[i] = f.titled
	}
	indexes, err := m.db.fileIndexes(m.tx, files)
	if err != nil {
		return err
	}
	for i, f := range m.batch {
		before := m.builder.files
		if err := m.builder.add(indexes[i]); err != nil {
			return fmt.Errorf("%q: %w", f.source, err)
		}
		if m.builder.files > before {
			m.tier.roster = append(m.tier.roster, rostered{f.id, f.version, f.source})
			if err := m.about.add(before, f.source, f.title, f.url, f.meta); err != nil {
				return fmt.Errorf("%q: %w", f.source, err)
			}
		}
		m.tier.weight += f.weight
		if m.done++; m.progress != nil {
			m.progress(m.done, m.total)
		}
	}
	m.batch = m.batch[:0]
	return nil
}

// commit puts a tier in the place of those of m that it was made of. The error
// is errOtherTiers where these are no longer there.
func (db *DB) commit(ctx context.Context, root string, t *tier, m *manifest) (err error) {
	var file string
	var size int64
	if db.folder != "" {
		if file, size, err = db.write(t); err != nil {
			return err
		}
		defer func() {
			if removeErr := os.Remove(file); !errors.Is(removeErr, fs.ErrNotExist) { // it was renamed
				err = errors.Join(err, removeErr)
			}
		}()
	}
	err = db.sql.Write(ctx, func(tx *sqlite.Tx) error {
		var now manifest
		if err := now.read(tx, root, db.analysis()); err != nil {
			return err
		}
		if now.collection != m.collection || !slices.Equal(now.tiers, m.tiers) {
			return errOtherTiers
		}
		if err := now.replace(tx, t, size); err != nil || file == "" {
			return err
		}
		// While this transaction lasts no other process sweeps the folder.
		if err := os.Rename(file, db.name(t.stamp)); err != nil && !errors.Is(err, fs.ErrNotExist) { // tried before
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	t.published = true
	db.mu.Lock()
	db.tiers[t.stamp] = t
	db.mu.Unlock()
	db.sweep(ctx, m.collection)
	return nil
}

// replace puts the row of a tier in the place of those that it was made of, and
// lets go of what they held dead.
func (m *manifest) replace(tx *sqlite.Tx, t *tier, size int64) error {
	if _, err := tx.Exec(`DELETE FROM tiers WHERE collection = ? AND since >= ?`, m.collection, t.since); err != nil {
		return err
	}
	if _, err := tx.Exec(`INSERT INTO tiers(collection, since, generation, analysis, files, chunks, weight, bytes, made)
		VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		m.collection, t.since, t.generation, t.analysis, t.files, t.chunks, t.weight, size, time.Now().UnixNano()); err != nil {
		return err
	}
	_, err := tx.Exec(`DELETE FROM dead WHERE collection = ? AND version > ? AND died <= ?`, m.collection, t.since, t.generation)
	return err
}

// abandoned is the age at which a temporary file has no process any more that
// writes it.
const abandoned = 10 * time.Minute

// sweep removes the files of a collection that no row of its manifest names, and
// what processes that died left. Who reads an old manifest and finds a file gone
// reads the manifest again. What cannot be removed now, as another program has it
// open, is next time.
func (db *DB) sweep(ctx context.Context, collection int64) {
	if db.folder == "" {
		return
	}
	// As a writer, so that no other process is about to name a file it just made.
	if err := db.sql.Write(ctx, func(tx *sqlite.Tx) error {
		var keep []string
		if err := each(tx, func(r row) error {
			var t tierRow
			err := r.Scan(&t.since, &t.generation)
			keep = append(keep, strings.TrimSuffix(filepath.Base(db.name(db.stamp(collection, t))), ".seg"))
			return err
		}, `SELECT since, generation FROM tiers WHERE collection = ?`, collection); err != nil {
			return err
		}
		entries, err := os.ReadDir(db.folder)
		if err != nil {
			return nil //nolint:nilerr // nothing is there
		}
		for _, e := range entries {
			if name := e.Name(); strings.HasPrefix(name, fmt.Sprintf("%d-", collection)) && !kept(e, keep) {
				if err := os.Remove(filepath.Join(db.folder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
					db.log.WarnContext(ctx, "old segment cannot be removed", "error", err)
				}
			}
		}
		return nil
	}); err != nil {
		db.log.WarnContext(ctx, "old segments cannot be removed", "error", err)
	}
}

// kept reports whether a file in the folder of segments stays: that of a tier,
// what belongs to it, and what is just being written.
func kept(e fs.DirEntry, tiers []string) bool {
	if strings.HasSuffix(e.Name(), ".tmp") {
		info, err := e.Info()
		return err != nil || time.Since(info.ModTime()) < abandoned
	}
	return slices.ContainsFunc(tiers, func(t string) bool {
		return e.Name() == t+".seg" || strings.HasPrefix(e.Name(), t+"-")
	})
}
