package pgvector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"example.com/ragflow/internal/remote"
	"example.com/ragflow/search"
)

// Maximum dimensions of an HNSW index, with 32 and with 16 bits a number.
const (
	indexed     = 2000
	indexedHalf = 4000
)

// distance returns the cosine distance of a column to an argument, in the form of the index.
func distance(e search.VectorSpec, argument string) string {
	kind := "vector"
	if e.Dimension > indexed && e.Dimension <= indexedHalf {
		kind = "halfvec"
	}
	return fmt.Sprintf("v.vector::%s(%d) <=> %s::text::%[1]s(%[2]d)", kind, e.Dimension, argument)
}

func encode(v any) string {
	data, _ := json.Marshal(v) // texts and finite numbers have no error
	return string(data)
}

func (s *store) Embedders(ctx context.Context) (out []search.VectorSpec, err error) {
	var spec string
	err = s.each(ctx, `SELECT spec FROM embedders`, nil, []any{&spec}, func() error {
		var e search.VectorSpec
		if err := json.Unmarshal([]byte(spec), &e); err != nil {
			return fmt.Errorf("embedder %q: %w", spec, err)
		}
		out = append(out, e)
		return nil
	})
	return out, err
}

// table returns the table of the vectors of an embedder, or "".
func (s *store) table(ctx context.Context, e search.VectorSpec) (string, error) {
	var id int
	err := s.db(ctx).QueryRow(ctx, `SELECT id FROM embedders WHERE spec = $1`, encode(e)).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return fmt.Sprint("vectors_", id), s.explain(ctx, err)
}

func (s *store) CountVectors(ctx context.Context, e search.VectorSpec, roots []string) (n int, err error) {
	table, err := s.table(ctx, e)
	if table == "" || err != nil {
		return 0, err
	}
	err = s.each(ctx, `SELECT count(*) FROM `+table+` WHERE root = ANY($1::text[]::uuid[])`, []any{roots}, []any{&n}, func() error { return nil })
	return n, err
}

func (s *store) EachVector(ctx context.Context, e search.VectorSpec, roots []string, each func(id string)) error {
	table, err := s.table(ctx, e)
	if table == "" || err != nil {
		return err
	}
	var id string
	return s.each(ctx, `SELECT id::text FROM `+table+` WHERE root = ANY($1::text[]::uuid[])`, []any{roots}, []any{&id}, func() error {
		each(id)
		return nil
	})
}

// PutVectors implements remote.Store. The first call of an embedder makes its table.
func (s *store) PutVectors(ctx context.Context, e search.VectorSpec, chunks []remote.Chunk, vectors [][]float32) error {
	table, err := s.table(ctx, e)
	if err == nil && table == "" {
		table, err = s.create(ctx, e)
	}
	if err != nil {
		return err
	}
	var b pgx.Batch
	for i, c := range chunks { // a chunk that was deleted meanwhile needs none
		b.Queue(`INSERT INTO `+table+` SELECT id, root, file, $2::text::public.vector FROM chunks WHERE id = $1::text::uuid
			ON CONFLICT (id) DO UPDATE SET vector = excluded.vector`, c.ID, encode(vectors[i]))
	}
	return s.send(ctx, &b)
}

// create makes the table of an embedder.
func (s *store) create(ctx context.Context, e search.VectorSpec) (table string, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var id int
		err := tx.QueryRow(ctx, `INSERT INTO embedders(spec) VALUES($1) ON CONFLICT DO NOTHING RETURNING id`, encode(e)).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) { // another process was first
			table, err = s.table(within(ctx, tx), e)
			return err
		}
		table = fmt.Sprint("vectors_", id)
		sql := fmt.Sprintf(`CREATE TABLE %s (id uuid PRIMARY KEY REFERENCES chunks ON DELETE CASCADE, root uuid NOT NULL, file uuid NOT NULL,
			vector vector(%d) NOT NULL); CREATE INDEX ON %[1]s (root); CREATE INDEX ON %[1]s (file);`, table, e.Dimension)
		switch {
		case e.Dimension <= indexed:
			sql += fmt.Sprintf(`CREATE INDEX ON %s USING hnsw ((vector::vector(%d)) vector_cosine_ops)`, table, e.Dimension)
		case e.Dimension <= indexedHalf:
			sql += fmt.Sprintf(`CREATE INDEX ON %s USING hnsw ((vector::halfvec(%d)) halfvec_cosine_ops)`, table, e.Dimension)
		}
		if err == nil {
			_, err = tx.Exec(ctx, sql)
		}
		return err
	})
	return table, s.explain(ctx, err)
}

func (s *store) DeleteVectors(ctx context.Context, e search.VectorSpec, roots []string, all bool) (int, error) {
	table, err := s.table(ctx, e)
	if table == "" || err != nil {
		return 0, err
	}
	n, err := s.exec(ctx, `DELETE FROM `+table+` WHERE root = ANY($1::text[]::uuid[])`, roots)
	if err == nil && all {
		_, err = s.exec(ctx, `DELETE FROM embedders WHERE spec = $1`, encode(e))
	}
	if err == nil && all {
		_, err = s.exec(ctx, `DROP TABLE `+table)
	}
	return n, err
}

func (s *store) Near(ctx context.Context, e search.VectorSpec, f remote.Filter, vector []float32, limit int) ([]remote.Chunk, error) {
	table, err := s.table(ctx, e)
	if table == "" || err != nil {
		return nil, err
	}
	var q query
	far := distance(e, q.arg(encode(vector)))
	sql := `SELECT v.id, 1 - (` + far + `) AS cosine FROM ` + table + ` v WHERE true`
	if f.Roots != nil {
		sql += ` AND v.root = ` + q.ids(f.Roots)
	}
	if f.Files != nil {
		sql += ` AND v.file = ` + q.ids(f.Files)
	}
	sql += ` ORDER BY ` + far + ` LIMIT ` + q.arg(limit)
	return s.list(ctx, `SELECT `+columns(0, "least(1, greatest(-1, n.cosine))")+` FROM (`+sql+`) n JOIN chunks c ON c.id = n.id`, q)
}
