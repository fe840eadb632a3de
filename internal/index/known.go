package index

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// Known returns the vectors that an embedder made of the passages of chunks, in their order; nil for one that the index
// does not have. The vectors of other collections count too, and those of an embedder that the collection no longer has.
func (s *Searcher) Known(ctx context.Context, e search.VectorSpec, chunks []state.Chunk) ([][]float32, error) {
	e, err := e.WithDefaults()
	if err != nil {
		return nil, err
	}
	out := make([][]float32, len(chunks))
	asked := map[*DB]bool{}
	for _, v := range s.snapshots {
		if asked[v.db] {
			continue
		}
		asked[v.db] = true
		if err := v.db.sql.Read(ctx, func(tx *sqlite.Tx) error { return known(tx, e, chunks, out) }); err != nil {
			return nil, fmt.Errorf("read vectors: %w", err)
		}
	}
	return out, nil
}

// known fills in the vectors that are nil in out.
func known(tx *sqlite.Tx, e search.VectorSpec, chunks []state.Chunk, out [][]float32) error {
	for i, c := range chunks {
		if out[i] != nil {
			continue
		}
		key := sha256.Sum256([]byte(search.Passage(c)))
		var dimension int
		var body []byte
		err := tx.QueryRow(`SELECT e.dimension, v.vector FROM embedders e JOIN vectors v ON v.embedder = e.id
			WHERE e.model = ? AND e.prefix = ? AND e.tokens = ? AND (e.dimension = ?4 OR ?4 = 0) AND v.key = ?5`, e.Model, e.Prefix, e.Tokens, e.Dimension, key[:]).
			Scan(&dimension, &body)
		switch vector, ok := unpack(nil, body, dimension); {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return err
		case ok:
			out[i] = vector
		}
	}
	return nil
}
