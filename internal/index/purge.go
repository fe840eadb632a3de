package index

import (
	"context"
	"slices"

	"example.com/ragflow/internal/sqlite"
)

// purgeBytes is the maximum weight of a segment that is saved again without its dead files when
// its collection is published. Heavier ones keep them until they are merged; see deadShare.
const purgeBytes = 16 << 20

// purge saves the segments of a root again without their dead files, whose words are thus
// erased. Segments in memory stay, also those of other processes, which need the tombstones.
// db.publishing is held.
func (db *DB) purge(ctx context.Context, root string) error {
	var due []*segment
	var dead graves
	err := db.sql.Read(ctx, func(tx *sqlite.Tx) (err error) {
		due = nil
		var m manifest
		if err := m.read(tx, root, db.analysis()); err != nil {
			return err
		}
		buried := func(r segmentRow) bool { return r.dead > 0 && r.weight <= purgeBytes }
		if !slices.ContainsFunc(m.segments, buried) {
			return nil
		}
		if dead, err = gravesOf(tx, m.collection); err != nil {
			return err
		}
		db.mu.Lock()
		defer db.mu.Unlock()
		for _, r := range m.segments[:db.usable(ctx, tx, &m)] {
			if buried(r) {
				due = append(due, db.segments[m.key(r)])
			}
		}
		return nil
	})
	for _, s := range due {
		if err == nil {
			err = db.purgeSegment(ctx, s, dead)
		}
	}
	return err
}

// purgeSegment saves a segment without its dead files, unless that was done or it was merged
// meanwhile. db.publishing is held.
func (db *DB) purgeSegment(ctx context.Context, s *segment, dead graves) error {
	n := 0
	for _, f := range s.Files {
		if dead.hold(f) {
			n++
		}
	}
	if n == s.purged {
		return nil
	}
	rest, err := s.without(dead)
	if err != nil {
		return err
	}
	body, err := rest.encode()
	if err != nil {
		return err
	}
	if err := db.sql.Write(ctx, func(tx *sqlite.Tx) error {
		return tx.Do(`UPDATE segments SET body = ? WHERE collection = ? AND since = ? AND generation = ?`, body, s.Collection, s.Since, s.Generation)
	}); err != nil {
		return err
	}
	s.purged = n
	return nil
}

// without returns the segment without dead files, as build would make it.
func (s *segment) without(dead graves) (*segment, error) {
	b := newBuilder()
	number := make([]uint32, len(s.ChunkFile)) // of each chunk in the new segment, or noChunk
	for n, f := range s.Files {
		gone, live := dead.hold(f), &fileTerms{title: f.Title}
		first, end := s.chunksOf(n)
		for c := first; c < end; c++ {
			if number[c] = noChunk; !gone {
				number[c] = uint32(b.s.Totals.Chunks + c - first)
				live.chunks = append(live.chunks, chunkLengths{id: s.id(c), body: s.ChunkBody[c], heading: s.ChunkHeading[c]})
			}
		}
		f.Body = 0 // counted again
		b.add(f, live)
	}
	for t := range s.NameEnd {
		name, live := string(s.name(t)), &termPostings{}
		for c := newCursor(s, s.find(name)); c.chunk != noChunk; c.next() {
			if p := c.posting; number[p.chunk] != noChunk {
				p.chunk = number[p.chunk]
				live.append(p)
			}
		}
		if len(live.data) > 0 {
			b.terms[name] = live
		}
	}
	out, err := b.finish()
	if err == nil {
		out.Collection, out.Since, out.Generation, out.Weight = s.Collection, s.Since, s.Generation, s.Weight
	}
	return out, err
}
