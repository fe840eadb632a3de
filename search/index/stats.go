package index

import (
	"context"
	"errors"
	"time"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/search"
)

// Stats reads what there is to know of the index without reading its texts.
func (db *DB) Stats(ctx context.Context) (search.Stats, error) {
	out := search.Stats{Analyzer: db.analysis()}
	collections, err := db.Collections(ctx)
	if err != nil {
		return out, err
	}
	err = db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		out.Collections = nil
		if err := tx.QueryRow(`SELECT page_count * page_size FROM pragma_page_count, pragma_page_size`).Scan(&out.Bytes); err != nil {
			return err
		}
		for _, c := range collections {
			s := search.CollectionStats{Collection: c}
			if err := readStats(&s, tx, db.analysis()); errors.Is(err, search.ErrNotIndexed) {
				continue // it was dropped meanwhile
			} else if err != nil {
				return err
			}
			out.Collections = append(out.Collections, s)
		}
		return nil
	})
	return out, err
}

// readStats reads the statistics of a collection from its manifest.
func readStats(s *search.CollectionStats, tx *sqlite.Tx, analysis string) error {
	var m manifest
	if err := m.read(tx, s.Root, analysis); err != nil {
		return err
	}
	s.Segments = len(m.segments)
	var changed int64
	if err := tx.QueryRow(`SELECT changed, (SELECT count(*) FROM files WHERE collection = c.id AND version > ?2 AND chunks > 0) FROM collections c WHERE id = ?1`,
		m.collection, m.published()).Scan(&changed, &s.Pending); err != nil {
		return err
	}
	if changed > 0 {
		s.Changed = time.Unix(0, changed).UTC()
	}
	if s.Segments == 0 {
		return nil
	}
	return tx.QueryRow(`SELECT sum(length(body)), (SELECT count(*) FROM dead d WHERE d.collection = s.collection AND d.version <= ?2)
		FROM segments s WHERE collection = ?1`, m.collection, m.published()).Scan(&s.SegmentBytes, &s.Dead)
}
