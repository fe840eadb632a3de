package index

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.com/ragflow/internal/sqlite"
)

// Limits for publishing and merging segments.
const (
	// flushBytes is the weight of files from which a segment is made. Lighter files are indexed
	// in memory by each process, in a few milliseconds.
	flushBytes = 256 << 10
	// mergeFactor is the ratio of a segment's weight to that of all later segments below which
	// they are merged. So the number of segments grows with the logarithm of the collection.
	mergeFactor = 4
	// A segment is merged again if more than one in deadShare of it is dead.
	deadShare = 16
)

// Publish makes the current state of root fast to search for new processes. The cost depends on
// the changes: a few are left alone, more become a segment, and segments are merged so that
// each is much larger than the next. The words of texts that were deleted or replaced leave the
// file, except from segments heavier than 16 MiB, which keep them until a sixteenth of their
// weight is dead, and the write-ahead log, if no other process reads. A root without files becomes an empty collection, so that
// it counts as indexed.
func (db *DB) Publish(ctx context.Context, root string) error {
	nothing := func(*sqlite.Tx, int64, int64) (bool, error) { return false, nil }
	if err := db.change(ctx, "publish", root, true, nothing); err != nil {
		return err
	}
	db.publishing.Lock()
	defer db.publishing.Unlock()
	err := db.publish(ctx, root)
	if err == nil {
		err = db.purge(ctx, root)
	}
	if err == nil && db.erased.Swap(false) {
		err = db.sql.Checkpoint(ctx) // the log has what was erased
	}
	if err != nil {
		return fmt.Errorf("publish %q: %w", root, err)
	}
	return nil
}

// publish publishes a segment if one is due. db.publishing is held.
func (db *DB) publish(ctx context.Context, root string) error {
	var m manifest
	var fresh *segment
	err := db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		if err := m.read(tx, root, db.analysis()); err != nil {
			return err
		}
		since, due, err := db.plan(ctx, tx, &m)
		if err == nil && due {
			fresh, err = db.build(tx, segmentKey{m.collection, since, m.generation})
		}
		return err
	})
	if err != nil || fresh == nil {
		return err
	}
	return db.commit(ctx, root, fresh, &m)
}

// plan reports whether a segment is due, and the version after which it begins.
func (db *DB) plan(ctx context.Context, tx *sqlite.Tx, m *manifest) (since int64, due bool, err error) {
	db.mu.Lock()
	keep := db.usable(ctx, tx, m) // segments that stay
	db.mu.Unlock()
	pending := int64(0) // weight of the new segment
	if err := tx.QueryRow(`SELECT coalesce(sum(weight), 0) FROM files WHERE collection = ? AND version > ? AND chunks > 0`,
		m.collection, m.published()).Scan(&pending); err != nil {
		return 0, false, err
	}
	due = pending >= db.flush || keep == 0 || keep < len(m.segments)
	for i, s := range m.segments[:keep] {
		if s.dead > max(db.flush, s.weight/deadShare) {
			keep, due = i, true
			break
		}
	}
	if !due {
		return 0, false, nil
	}
	for _, s := range m.segments[keep:] {
		pending += s.weight - s.dead
	}
	for ; keep > 0; keep-- {
		before := m.segments[keep-1].weight - m.segments[keep-1].dead
		if before >= mergeFactor*pending || before+pending > maxSegment {
			break
		}
		pending += before
	}
	if keep == 0 {
		return -1, true, nil
	}
	return m.segments[keep-1].generation, true, nil
}

// analyzedAtOnce is the number of files that build analyzes at once.
const analyzedAtOnce = 256

// build makes a segment of the files of a collection with versions greater than k.since.
func (db *DB) build(tx *sqlite.Tx, k segmentKey) (*segment, error) {
	weight := int64(0)
	b := newBuilder()
	var batch []fileVersion
	flush := func() error {
		indexes, err := db.analyzeFiles(tx, batch)
		if err != nil {
			return err
		}
		for i, f := range batch {
			b.add(segmentFile{ID: f.id, Version: f.version, Source: f.source}, indexes[i])
		}
		batch = batch[:0]
		return nil
	}
	err := each(tx, func(r row) error {
		var f fileVersion
		var bytes int64
		if err := r.Scan(&f.id, &f.version, &f.source, &f.title, &bytes); err != nil {
			return err
		}
		batch, weight = append(batch, f), weight+bytes
		if len(batch) < analyzedAtOnce {
			return nil
		}
		return flush()
	}, `SELECT id, version, source, title, weight FROM files
		WHERE collection = ? AND version > ? AND chunks > 0 ORDER BY source`, k.collection, k.since)
	if err == nil {
		err = flush()
	}
	if err != nil {
		return nil, err
	}
	s, err := b.finish()
	if err != nil {
		return nil, err
	}
	s.Weight, s.Collection, s.Since, s.Generation = weight, k.collection, k.since, k.generation
	return s, nil
}

// commit replaces the segments of m that a new one was made of, and deletes their tombstones.
// If another process has published meanwhile, nothing changes: it did the work.
func (db *DB) commit(ctx context.Context, root string, s *segment, m *manifest) error {
	body, err := s.encode()
	if err != nil {
		return err
	}
	if len(body) > maxSegment {
		return errTooLarge
	}
	overtaken := false
	err = db.sql.Write(ctx, func(tx *sqlite.Tx) error {
		var now manifest
		if err := now.read(tx, root, db.analysis()); err != nil {
			return err
		}
		same := func(a, b segmentRow) bool { return now.key(a) == m.key(b) }
		if overtaken = now.collection != m.collection || !slices.EqualFunc(now.segments, m.segments, same); overtaken {
			return nil
		}
		return errors.Join(
			tx.Do(`DELETE FROM segments WHERE collection = ? AND since >= ?`, s.Collection, s.Since),
			tx.Do(`INSERT INTO segments(collection, since, generation, analysis, weight, body) VALUES(?, ?, ?, ?, ?, ?)`,
				s.Collection, s.Since, s.Generation, db.analysis(), s.Weight, body),
			tx.Do(`DELETE FROM dead WHERE collection = ? AND version > ? AND died <= ?`, s.Collection, s.Since, s.Generation),
		)
	})
	if err != nil || overtaken {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.segments[s.key()] = s
	return nil
}
