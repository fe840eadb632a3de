package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/bits-and-blooms/bitset"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/search"
)

// snapshot is the state of a collection at one moment. It is immutable.
type snapshot struct {
	db       *DB
	root     string
	manifest manifest
	maxRev   int64  // greatest rev in the table chunks at that moment
	parts    []part // by version; the last one may be only in memory
	all      totals // of the live files

	reading sync.Mutex // held while the documents are read
	docs    *documents // nil: not read yet
}

// part is a segment of a snapshot, with its live files.
type part struct {
	*segment

	root     string
	snapshot int            // its number in the searcher
	maxRev   int64          // of the snapshot
	dead     *bitset.BitSet // files that changed or were deleted since; nil means none
	shown    *bitset.BitSet // files that may be found; nil means all
}

// live reports whether a file has not changed and was not deleted since.
func (p *part) live(file int) bool { return p.dead == nil || !p.dead.Test(uint(file)) }

// find looks up a term, without dead files and their chunks.
func (p *part) find(name string) entry {
	e := p.segment.find(name)
	if p.dead == nil || e.chunks == 0 {
		return e
	}
	for c := newCursor(p.segment, e); c.chunk != noChunk; {
		file := next(p.dead, p.fileOf(int(c.chunk)))
		if file >= len(p.Files) {
			break
		}
		first, end := p.chunksOf(file)
		if c.seek(uint32(first)); uint64(c.chunk) >= uint64(end) {
			continue // the file does not have the term
		}
		e.files--
		if c.title > 0 { // all its chunks have the term
			e.chunks -= end - first
			c.seek(uint32(end))
		}
		for ; uint64(c.chunk) < uint64(end); c.next() {
			e.chunks--
		}
	}
	return e
}

// next returns the lowest member of a set that is at least i; its length if there is none.
func next(set *bitset.BitSet, i int) int {
	if n, ok := set.NextSet(uint(i)); ok {
		return int(n)
	}
	return int(set.Len())
}

// shows reports whether the chunks of a file may be found.
func (p *part) shows(file int) bool { return p.shown == nil || p.shown.Test(uint(file)) }

// manifest lists the published segments of a collection.
type manifest struct {
	collection int64
	generation int64        // of the collection now
	segments   []segmentRow // by generation: each begins at the end of the previous one, the first at -1
}

// segmentRow is a row of the table segments.
type segmentRow struct {
	since, generation int64
	weight            int64 // of the segment
	dead              int64 // weight of its dead files
}

func (m *manifest) key(r segmentRow) segmentKey {
	return segmentKey{m.collection, r.since, r.generation}
}

// published returns the newest version in a segment, or -1.
func (m *manifest) published() int64 {
	if len(m.segments) == 0 {
		return -1
	}
	return m.segments[len(m.segments)-1].generation
}

// read reads the manifest of root. If segments were made by another analyzer, it has none.
func (m *manifest) read(tx *sqlite.Tx, root, analysis string) error {
	*m = manifest{}
	err := tx.QueryRow(`SELECT id, generation FROM collections WHERE root = ?`, root).Scan(&m.collection, &m.generation)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: %s", search.ErrNotIndexed, root)
	}
	if err != nil {
		return err
	}
	foreign := false
	err = each(tx, func(r row) error {
		var s segmentRow
		var by string
		err := r.Scan(&s.since, &s.generation, &s.weight, &by, &s.dead)
		foreign = foreign || by != analysis || s.since != m.published()
		m.segments = append(m.segments, s)
		return err
	}, `SELECT since, generation, weight, analysis, (SELECT coalesce(sum(d.weight), 0) FROM dead d WHERE d.collection = t.collection
			AND d.version > t.since AND d.version <= t.generation AND d.died > t.generation)
		FROM segments t WHERE collection = ? ORDER BY generation`, m.collection)
	if foreign {
		m.segments = nil
	}
	return err
}

// snapshots returns the snapshots of roots, all of one moment.
func (db *DB) snapshots(ctx context.Context, roots []string) (out []*snapshot, err error) {
	err = db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		db.mu.Lock()
		defer db.mu.Unlock()
		out = nil
		for _, root := range roots {
			v, err := db.snapshot(ctx, tx, root)
			if err != nil {
				return fmt.Errorf("search %q: %w", root, err)
			}
			out = append(out, v)
		}
		return nil
	})
	return out, err
}

// snapshot returns the snapshot of root: the cached one, or one of its segments and a new one
// in memory with all other files. db.mu is held.
func (db *DB) snapshot(ctx context.Context, tx *sqlite.Tx, root string) (*snapshot, error) {
	v := &snapshot{db: db, root: root}
	m := &v.manifest
	if err := m.read(tx, root, db.analysis()); err != nil {
		return nil, err
	}
	if seen := db.seen[m.collection]; seen != nil && seen.manifest.generation == m.generation && slices.Equal(seen.manifest.segments, m.segments) {
		return seen, nil
	}
	if err := tx.QueryRow(`SELECT coalesce(max(rev), 0) FROM chunks`).Scan(&v.maxRev); err != nil {
		return nil, err
	}
	since := int64(-1)
	add := func(s *segment) {
		v.parts = append(v.parts, part{segment: s, root: root, maxRev: v.maxRev})
		v.all.add(s.Totals, 1)
		since = s.Generation
	}
	for _, r := range m.segments[:db.usable(ctx, tx, m)] {
		add(db.segments[m.key(r)])
	}
	if since < m.generation {
		rest, err := db.build(tx, segmentKey{m.collection, since, m.generation})
		if err != nil {
			return nil, err
		}
		if len(rest.Files) > 0 || len(v.parts) == 0 {
			add(rest)
		}
	}
	if err := v.bury(tx); err != nil {
		return nil, err
	}
	db.seen[m.collection] = v
	db.forget(m)
	return v, nil
}

// usable loads the segments of a manifest and returns the number of those, from the first one
// on, that can be used. db.mu is held.
func (db *DB) usable(ctx context.Context, tx *sqlite.Tx, m *manifest) int {
	for i, r := range m.segments {
		k := m.key(r)
		if db.segments[k] != nil {
			continue
		}
		s, err := loadSegment(tx, k)
		if err != nil {
			if ctx.Err() == nil {
				db.log.WarnContext(ctx, "segment is made again", "collection", k.collection, "generation", k.generation, "error", err)
			}
			return i
		}
		db.segments[k] = s
	}
	return len(m.segments)
}

// loadSegment reads a segment of the manifest.
func loadSegment(tx *sqlite.Tx, k segmentKey) (*segment, error) {
	var body []byte
	if err := tx.QueryRow(`SELECT body FROM segments WHERE collection = ? AND generation = ?`, k.collection, k.generation).Scan(&body); err != nil {
		return nil, err
	}
	return decodeSegment(body)
}

// forget drops segments in memory that are not in the newest manifest. Searchers that use them
// keep them. db.mu is held.
func (db *DB) forget(m *manifest) {
	for k := range db.segments {
		if k.collection == m.collection && !slices.ContainsFunc(m.segments, func(r segmentRow) bool { return m.key(r) == k }) {
			delete(db.segments, k)
		}
	}
}

// graves are the versions of files that are dead.
type graves map[[2]int64]bool

func (g graves) hold(f segmentFile) bool { return g[[2]int64{f.ID, f.Version}] }

// gravesOf reads the graves of a collection.
func gravesOf(tx *sqlite.Tx, collection int64) (graves, error) {
	g := graves{}
	err := each(tx, func(r row) error {
		var id, version int64
		err := r.Scan(&id, &version)
		g[[2]int64{id, version}] = true
		return err
	}, `SELECT file, version FROM dead WHERE collection = ?`, collection)
	return g, err
}

// bury marks the dead files of the parts, and subtracts them from the statistics.
func (v *snapshot) bury(tx *sqlite.Tx) error {
	graves, err := gravesOf(tx, v.manifest.collection)
	if err != nil || len(graves) == 0 {
		return err
	}
	for i := range v.parts {
		p := &v.parts[i]
		for n, f := range p.Files {
			if !graves.hold(f) {
				continue
			}
			if p.dead == nil {
				p.shown, p.dead = bitset.New(uint(len(p.Files))).SetAll(), bitset.New(uint(len(p.Files)))
			}
			p.shown.Clear(uint(n))
			p.dead.Set(uint(n))
			v.all.add(p.totalsOf(n), -1)
		}
	}
	return nil
}
