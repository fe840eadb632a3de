package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"example.com/ragflow/internal/sqlite"
)

// view is a collection as it was at one moment. It is immutable.
type view struct {
	root     string
	manifest manifest
	maxRev   int64    // greatest rev of a chunk row at that moment
	parts    []part   // by version; the last may be in memory only
	minus    *segment // what parts hold of files that changed or went since; nil: nothing
	all      totals   // of the files that count

	linking sync.Mutex // held while links are read
	links   *linkGraph // made when first asked for
	places  []place    // of its pages: where they lie in parts; part -1: they cannot be found
}

// part is one tier of a view.
type part struct {
	root   string
	maxRev int64  // of the view
	alive  bitmap // files that did not change or go since, by number; nil: all
	shown  bitmap // files that may be found; nil: all that are alive
	only   bitmap // chunks that may be found, of those files; nil: all
	*tier
}

// live reports whether a chunk counts.
func (p *part) live(chunk int) bool {
	return p.alive == nil || p.alive.has(int(p.chunkField(chunk, 0)))
}

// found returns the files that may be found; nil: all.
func (p *part) found() bitmap {
	if p.shown != nil {
		return p.shown
	}
	return p.alive
}

// shows reports whether a chunk may be found.
func (p *part) shows(chunk int) bool {
	if p.only != nil && !p.only.has(chunk) {
		return false
	}
	files := p.found()
	return files == nil || files.has(int(p.chunkField(chunk, 0)))
}

// manifest says what tiers a collection was published in.
type manifest struct {
	collection int64
	generation int64     // of the collection now
	tiers      []tierRow // by generation: each begins where the one before ends, the first at -1
}

// tierRow is a published tier.
type tierRow struct{ since, generation int64 }

// published returns the newest version that a tier holds; -1: there is none.
func (m *manifest) published() int64 {
	if len(m.tiers) == 0 {
		return -1
	}
	return m.tiers[len(m.tiers)-1].generation
}

// read reads the manifest of root. Tiers of another analysis, or whose dead files
// another one counted, count as none.
func (m *manifest) read(tx *sqlite.Tx, root, analysis string) error {
	*m = manifest{}
	err := tx.QueryRow(`SELECT id, generation FROM collections WHERE root = ?`, root).Scan(&m.collection, &m.generation)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: %s", ErrNotIndexed, root)
	}
	if err != nil {
		return err
	}
	foreign := false
	err = each(tx, func(r row) error {
		var t tierRow
		var by string
		err := r.Scan(&t.since, &t.generation, &by)
		foreign = foreign || by != analysis || t.since != m.published()
		m.tiers = append(m.tiers, t)
		return err
	}, `SELECT since, generation, analysis FROM tiers WHERE collection = ? ORDER BY generation`, m.collection)
	if err == nil && !foreign && len(m.tiers) > 0 {
		err = tx.QueryRow(`SELECT EXISTS(SELECT 1 FROM dead WHERE collection = ? AND analysis <> ?)`, m.collection, analysis).Scan(&foreign)
	}
	if foreign {
		m.tiers = nil
	}
	return err
}

// stamp says what the tier of a row was made of.
func (db *DB) stamp(collection int64, t tierRow) stamp {
	return stamp{database: db.id, collection: collection, since: t.since, generation: t.generation, analysis: db.analysis()}
}

// brokenTierError tells that a tier which the manifest names cannot be used.
type brokenTierError struct {
	root string
	row  tierRow
	err  error
}

func (e *brokenTierError) Error() string { return "segment: " + e.err.Error() }

// views returns the views of roots, all of one moment. Tiers that are missing or
// damaged are made anew; where that cannot be saved, in memory.
func (db *DB) views(ctx context.Context, roots []string) (out []*view, err error) {
	for try := range 4 {
		last := try == 3
		err = db.sql.Read(ctx, func(tx *sqlite.Tx) error {
			db.mu.Lock()
			defer db.mu.Unlock()
			out = nil
			for _, root := range roots {
				v, err := db.view(tx, root, last)
				if err != nil {
					return fmt.Errorf("search %q: %w", root, err)
				}
				out = append(out, v)
			}
			return nil
		})
		broken, isBroken := errors.AsType[*brokenTierError](err)
		switch {
		case last || err == nil:
			return out, err
		case isBroken:
			db.mend(ctx, broken)
		default:
			return nil, err
		}
	}
	return out, err
}

// view returns the view of root: the one seen before, or one put together from
// its tiers and what was not published. alone asks to do without tiers that
// cannot be used. db.mu is held.
func (db *DB) view(tx *sqlite.Tx, root string, alone bool) (*view, error) {
	v := &view{root: root}
	if err := v.manifest.read(tx, root, db.analysis()); err != nil {
		return nil, err
	}
	if seen := db.seen[v.manifest.collection]; seen != nil && seen.manifest.equal(&v.manifest) {
		return seen, nil
	}
	if err := tx.QueryRow(`SELECT coalesce(max(rev), 0) FROM chunks`).Scan(&v.maxRev); err != nil {
		return nil, err
	}
	tiers, err := db.tiersOf(&v.manifest, alone)
	if broken, ok := errors.AsType[*brokenTierError](err); ok {
		broken.root = root
	}
	if err != nil {
		return nil, err
	}
	since := int64(-1)
	if len(tiers) > 0 {
		since = tiers[len(tiers)-1].generation
	}
	if since < v.manifest.generation {
		rest, err := db.build(tx, db.stamp(v.manifest.collection, tierRow{since, v.manifest.generation}), nil)
		if err != nil {
			return nil, err
		}
		if rest.files > 0 || len(tiers) == 0 {
			tiers = append(tiers, rest)
		}
	}
	for _, t := range tiers {
		v.parts = append(v.parts, part{root: root, maxRev: v.maxRev, tier: t})
		v.all.add(t.totals)
	}
	if err := v.bury(tx, since); err != nil {
		return nil, err
	}
	db.seen[v.manifest.collection] = v
	db.forget(&v.manifest)
	return v, nil
}

func (m *manifest) equal(o *manifest) bool {
	return m.collection == o.collection && m.generation == o.generation && slices.Equal(m.tiers, o.tiers)
}

// tiersOf returns the tiers that a manifest names: those in memory, or those in
// their files. Those from the first on that cannot be used are left out, or, but
// for alone, the error is a *brokenTierError.
func (db *DB) tiersOf(m *manifest, alone bool) (out []*tier, err error) {
	for _, r := range m.tiers {
		want := db.stamp(m.collection, r)
		t := db.tiers[want]
		if t == nil {
			if t, err = db.load(want); err != nil {
				if alone {
					return out, nil
				}
				return nil, &brokenTierError{row: r, err: err}
			}
			db.tiers[want] = t
		}
		out = append(out, t)
	}
	return out, nil
}

// forget lets go of tiers in memory that the newest manifest does not name. Those
// who still search them keep them. db.mu is held.
func (db *DB) forget(m *manifest) {
	for s := range db.tiers {
		if s.collection == m.collection && !slices.Contains(m.tiers, tierRow{s.since, s.generation}) {
			delete(db.tiers, s)
		}
	}
}

// mend publishes anew what a tier that cannot be used holds, and all after it.
func (db *DB) mend(ctx context.Context, b *brokenTierError) {
	if !errors.Is(b.err, fs.ErrNotExist) {
		db.log.WarnContext(ctx, "segment is made anew", "root", b.root, "error", b.err)
	}
	if db.ReadOnly() {
		return
	}
	db.publishing.Lock()
	defer db.publishing.Unlock()
	if err := db.publish(ctx, b.root, &b.row, nil); err != nil { // the search works without
		db.log.WarnContext(ctx, "segment cannot be saved", "root", b.root, "error", err)
	}
}

// bury marks the files of published parts that changed or went since, and takes
// them out of the sums.
func (v *view) bury(tx *sqlite.Tx, published int64) error {
	type grave struct{ id, version int64 }
	graves := map[grave]bool{}
	b := newBuilder()
	if err := each(tx, func(r row) error {
		var g grave
		var died int64
		var body sql.RawBytes
		if err := r.Scan(&g.id, &g.version, &died, &body); err != nil {
			return err
		}
		for i := range v.parts {
			p := &v.parts[i]
			if g.version > p.since && g.version <= p.generation && died > p.generation {
				graves[g] = false
				x, err := decodeFileIndex(body)
				if err != nil {
					return err
				}
				return b.add(x)
			}
		}
		return nil // it went before it was published
	}, `SELECT file, version, died, body FROM dead WHERE collection = ? AND version <= ?`, v.manifest.collection, published); err != nil {
		return err
	}
	if len(graves) == 0 {
		return nil
	}
	for i := range v.parts {
		p := &v.parts[i]
		for n, f := range p.roster {
			if _, ok := graves[grave{f.id, f.version}]; ok {
				if p.alive == nil {
					p.alive = newBitmap(p.files)
					p.alive.fill(p.files)
				}
				p.alive.unset(n)
				graves[grave{f.id, f.version}] = true
			}
		}
	}
	for g, found := range graves {
		if !found {
			return &brokenTierError{v.root, v.manifest.tiers[0], fmt.Errorf("%w: it lacks version %d of file %d", errDamaged, g.version, g.id)}
		}
	}
	data, err := b.finish(stamp{})
	if err != nil {
		return err
	}
	if v.minus, err = openSegment(data); err != nil {
		return err
	}
	v.all.subtract(v.minus.totals)
	return nil
}
