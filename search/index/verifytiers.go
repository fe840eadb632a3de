package index

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"example.com/ragflow/internal/sqlite"
)

// verifyTiers compares the files of the published tiers with what a fresh merge
// makes of the same versions of the same files, and the files that a search
// counts with those that there are: none is lost, none counts twice. A tier that
// is missing, or of another analyzer, is no fault: it is made anew when it is
// needed.
func (db *DB) verifyTiers(ctx context.Context, root string) (found []Finding, err error) {
	err = db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		found = nil
		bad := func(source, what string) { found = append(found, Finding{root, source, what}) }
		var m manifest
		if err := m.read(tx, root, db.analysis()); errors.Is(err, ErrNotIndexed) {
			return nil // it was dropped meanwhile
		} else if err != nil {
			return err
		}
		counted := map[string]int{} // by source: tiers that hold it as it is now
		for _, r := range m.tiers {
			t, err := db.load(db.stamp(m.collection, r))
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				bad("", fmt.Sprintf("segment: %v", err))
				return nil
			}
			if err := db.verifyTier(tx, t, counted, bad); err != nil {
				return err
			}
		}
		return verifyCounted(tx, &m, counted, bad)
	})
	return found, err
}

// verifyTier merges the files of a tier again.
func (db *DB) verifyTier(tx *sqlite.Tx, t *tier, counted map[string]int, bad func(source, what string)) error {
	b := newBuilder()
	for some := range slices.Chunk(t.roster, mergedFiles) {
		known, err := db.rosterTerms(tx, t, some)
		if err != nil {
			return err
		}
		for i, f := range some {
			if known[i].live {
				counted[f.source]++
			}
			if known[i].index == nil {
				bad(f.source, "the segment holds a version of it that nothing tells of")
				return nil
			}
			if err := b.add(known[i].index); err != nil {
				bad(f.source, fmt.Sprintf("merge: %v", err))
				return nil
			}
		}
	}
	fresh, err := b.finish(t.stamp)
	if err == nil && !bytes.Equal(fresh, t.data) {
		bad("", "the segment is not what a fresh merge makes")
	}
	return err
}

// rosterTerm are the terms of a file of a tier, nil where nothing tells of it.
type rosterTerm struct {
	index *fileIndex
	live  bool // the index holds this version still
}

// rosterTerms returns the terms of some files of a tier.
func (db *DB) rosterTerms(tx *sqlite.Tx, t *tier, files []rostered) ([]rosterTerm, error) {
	out := make([]rosterTerm, len(files))
	var live []titled
	var places []int
	for i, f := range files {
		now := titled{id: f.id, version: f.version}
		err := tx.QueryRow(`SELECT title FROM files WHERE id = ? AND version = ? AND collection = ? AND source = ?`,
			f.id, f.version, t.collection, f.source).Scan(&now.title)
		switch {
		case err == nil:
			out[i].live = true
			live, places = append(live, now), append(places, i)
		case errors.Is(err, sql.ErrNoRows):
			var body []byte
			err := tx.QueryRow(`SELECT body FROM dead WHERE collection = ? AND version = ? AND file = ? AND died > ?`,
				t.collection, f.version, f.id, t.generation).Scan(&body)
			if err == nil {
				out[i].index, err = decodeFileIndex(body)
			}
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return nil, err
			}
		default:
			return nil, err
		}
	}
	indexes, err := db.fileIndexes(tx, live)
	for n, i := range places {
		if err == nil {
			out[i].index = indexes[n]
		}
	}
	return out, err
}

// verifyCounted looks for files that are in no tier although they were published,
// or in two.
func verifyCounted(tx *sqlite.Tx, m *manifest, counted map[string]int, bad func(source, what string)) error {
	return each(tx, func(r row) error {
		var source string
		err := r.Scan(&source)
		if n := counted[source]; n != 1 {
			bad(source, fmt.Sprintf("%d segments hold it, not 1", n))
		}
		return err
	}, `SELECT source FROM files WHERE collection = ? AND version <= ? AND chunks > 0 ORDER BY source`, m.collection, m.published())
}
