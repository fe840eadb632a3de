package index

import (
	"context"
	"fmt"

	"example.com/ragflow/internal/sqlite"
)

// PruneVectors takes vectors out of the cache that no chunk has: those of texts
// that are gone, and those of embedders that were switched away from. It returns
// how many.
func (db *DB) PruneVectors(ctx context.Context) (int, error) {
	collections, err := db.Collections(ctx)
	if err != nil {
		return 0, err
	}
	pruned := 0
	err = db.sql.Write(ctx, func(tx *sqlite.Tx) error {
		used := map[int64]bool{}
		for _, c := range collections {
			id, _, found, err := collectionEmbedder(tx, c.Root)
			if err != nil {
				return err
			}
			if !found {
				continue
			}
			have, err := keys(tx, id)
			if err != nil {
				return err
			}
			if err := eachChunk(tx, c.Root, func(_ string, _ int64, k key) error {
				used[have[k]] = true
				return nil
			}); err != nil {
				return err
			}
		}
		pruned, err = deleteVectors(tx, used)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("prune vectors: %w", err)
	}
	return pruned, nil
}

func deleteVectors(tx *sqlite.Tx, used map[int64]bool) (int, error) {
	var gone []int64
	if err := each(tx, func(rows row) error {
		var id int64
		err := rows.Scan(&id)
		if !used[id] {
			gone = append(gone, id)
		}
		return err
	}, `SELECT id FROM vectors`); err != nil {
		return 0, err
	}
	for _, id := range gone {
		if _, err := tx.Exec(`DELETE FROM vectors WHERE id = ?`, id); err != nil {
			return 0, err
		}
	}
	_, err := tx.Exec(`DELETE FROM embedders WHERE id NOT IN (SELECT embedder FROM vectors)
		AND id NOT IN (SELECT embedder FROM collections WHERE embedder IS NOT NULL)`)
	return len(gone), err
}
