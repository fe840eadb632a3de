package index

import (
	"context"
	"os"
	"time"

	"example.com/ragflow/internal/sqlite"
)

// Stats tell how large an index is, and how it is made.
type Stats struct {
	Analyzer    string // analyzer and format of the terms
	Bytes       int64  // of the database, its log not counted
	Collections []CollectionStats
}

// CollectionStats tell of one collection.
type CollectionStats struct {
	Collection
	SegmentBytes int64     // of its newest segment file; 0 where there is none
	Published    time.Time // when that was written; zero where there is none
	Current      bool      // the segment is that of the newest generation
}

// Stats reads what there is to know of the index without reading its texts.
func (db *DB) Stats(ctx context.Context) (Stats, error) {
	out := Stats{Analyzer: db.analysis()}
	collections, err := db.Collections(ctx)
	if err != nil {
		return out, err
	}
	ids := map[string]int64{}
	err = db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		var pages, size int64
		if err := tx.QueryRow(`PRAGMA page_count`).Scan(&pages); err != nil {
			return err
		}
		if err := tx.QueryRow(`PRAGMA page_size`).Scan(&size); err != nil {
			return err
		}
		out.Bytes = pages * size
		return each(tx, func(r row) error {
			var id int64
			var root string
			err := r.Scan(&id, &root)
			ids[root] = id
			return err
		}, `SELECT id, root FROM collections`)
	})
	if err != nil {
		return out, err
	}
	for _, c := range collections {
		s := CollectionStats{Collection: c}
		if db.folder != "" {
			if info, err := os.Stat(db.name(stamp{collection: ids[c.Root], generation: c.Generation})); err == nil {
				s.SegmentBytes, s.Published, s.Current = info.Size(), info.ModTime().UTC(), true
			}
		}
		out.Collections = append(out.Collections, s)
	}
	return out, nil
}
