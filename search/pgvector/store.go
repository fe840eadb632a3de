package pgvector

import (
	"context"
	"hash/fnv"
	"math"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"example.com/ragflow/internal/remote"
	"example.com/ragflow/search"
)

func (s *store) Roots(ctx context.Context) (out []remote.Root, err error) {
	var r remote.Root
	var name []byte
	err = s.each(ctx, `SELECT name, generation, chunking, embedder FROM roots`, nil, []any{&name, &r.Generation, &r.Chunking, &r.Embedder}, func() error {
		r.Name = string(name)
		out = append(out, r)
		return nil
	})
	return out, err
}

func (s *store) Files(ctx context.Context, roots []string, each func(remote.File) error) error {
	var f remote.File
	return s.each(ctx, `SELECT id::text, root::text, source, data, version, chunks FROM files WHERE root = ANY($1::text[]::uuid[])`,
		[]any{roots}, []any{&f.ID, &f.Root, &f.Source, &f.Data, &f.Version, &f.Chunks}, func() error { return each(f) })
}

func (s *store) Terms(ctx context.Context, root string) (terms []byte, err error) {
	err = s.each(ctx, `SELECT terms FROM roots WHERE id = $1::text::uuid`, []any{root}, []any{&terms}, func() error { return nil })
	return terms, err
}

func (s *store) PutRoot(ctx context.Context, r remote.Root) error {
	_, err := s.exec(ctx, `INSERT INTO roots(id, name, generation, chunking, embedder, lengths)
		SELECT $1::text::uuid, $2, $3, $4, $5, coalesce(sum(length), 0) FROM files WHERE root = $1::text::uuid
		ON CONFLICT (id) DO UPDATE SET generation = excluded.generation, chunking = excluded.chunking, embedder = excluded.embedder, lengths = excluded.lengths`,
		remote.ID(r.Name), []byte(r.Name), r.Generation, r.Chunking, r.Embedder)
	return err
}

// PutTerms also flushes the pending list of the GIN index and analyzes the tables, because the
// server is searched next.
func (s *store) PutTerms(ctx context.Context, root string, terms []byte) error {
	_, err := s.exec(ctx, `UPDATE roots SET terms = $2 WHERE id = $1::text::uuid`, root, terms)
	if err == nil {
		_, err = s.exec(ctx, `SELECT gin_clean_pending_list(c.oid) FROM pg_class c JOIN pg_am a ON a.oid = c.relam
			WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'i' AND a.amname = 'gin'`, pgx.Identifier{s.schema}.Sanitize())
	}
	if err == nil {
		_, err = s.exec(ctx, `ANALYZE files, chunks`)
	}
	return err
}

// number returns the number of a term. Two terms seldom have the same one.
func number(term string) int32 {
	h := fnv.New32a()
	h.Write([]byte(term))
	return int32(h.Sum32()) //nolint:gosec // all bits count
}

// numbers counts terms that are separated by spaces.
func numbers(terms string) (each []int32, counts []int16, length int) {
	place := map[int32]int{}
	for term := range strings.FieldsSeq(terms) {
		n := number(term)
		at, ok := place[n]
		if !ok {
			at = len(each)
			place[n], each, counts = at, append(each, n), append(counts, 0)
		}
		counts[at] = min(counts[at], math.MaxInt16-1) + 1
		length++
	}
	return append([]int32{}, each...), append([]int16{}, counts...), length // empty, not NULL
}

// send sends statements in one batch.
func (s *store) send(ctx context.Context, b *pgx.Batch) error {
	if b.Len() == 0 {
		return nil
	}
	return s.explain(ctx, s.db(ctx).SendBatch(ctx, b).Close())
}

func (s *store) PutFiles(ctx context.Context, files []remote.File) error {
	var b pgx.Batch
	for _, f := range files {
		terms, counts, length := numbers(f.Terms)
		b.Queue(`INSERT INTO files VALUES($1::text::uuid, $2::text::uuid, $3, $4, $5, $6, $7, $8, $9)
			ON CONFLICT (id) DO UPDATE SET data = excluded.data, version = excluded.version, chunks = excluded.chunks,
			terms = excluded.terms, counts = excluded.counts, length = excluded.length`,
			f.ID, f.Root, f.Source, f.Data, f.Version, f.Chunks, terms, counts, length)
	}
	return s.send(ctx, &b)
}

func (s *store) NoteFile(ctx context.Context, id string, data []byte) error {
	_, err := s.exec(ctx, `UPDATE files SET data = $2 WHERE id = $1::text::uuid`, id, data)
	return err
}

func (s *store) DeleteFiles(ctx context.Context, ids []string) error {
	_, err := s.exec(ctx, `DELETE FROM files WHERE id = ANY($1::text[]::uuid[])`, ids)
	return err
}

func (s *store) PutChunks(ctx context.Context, chunks []remote.Chunk) error {
	var b pgx.Batch
	for _, c := range chunks {
		terms, counts, length := numbers(c.Terms)
		b.Queue(`INSERT INTO chunks VALUES($1::text::uuid, $2::text::uuid, $3::text::uuid, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
			ON CONFLICT (id) DO UPDATE SET version = excluded.version`, // the id covers all else
			c.ID, c.Root, c.File, c.Public, c.Version, c.Ordinal, c.Source, c.Title, c.Headings, c.Text, c.Hash, c.Data,
			strings.ToValidUTF8(c.Terms, "\uFFFD"), terms, counts, length)
	}
	return s.send(ctx, &b)
}

// DeleteChunks also deletes the vectors of the chunks, by the schema.
func (s *store) DeleteChunks(ctx context.Context, f remote.Filter) error {
	var q query
	_, err := s.exec(ctx, `DELETE FROM chunks c WHERE `+q.passing(f), q...)
	return err
}

// query holds the arguments of a statement.
type query []any

// arg adds an argument and returns its placeholder.
func (q *query) arg(value any) string {
	*q = append(*q, value)
	return "$" + strconv.Itoa(len(*q))
}

// ids adds a list of ids.
func (q *query) ids(list []string) string { return "ANY(" + q.arg(list) + "::text[]::uuid[])" }

// passing returns the condition for chunks c that pass a filter.
func (q *query) passing(f remote.Filter) string {
	out := "true"
	for i, list := range [][]string{f.Roots, f.Files, f.IDs} {
		if list != nil {
			out += " AND c." + []string{"root", "file", "id"}[i] + " = " + q.ids(list)
		}
	}
	if f.Publics != nil {
		out += " AND c.public = ANY(" + q.arg(f.Publics) + ")"
	}
	if f.First {
		out += " AND c.ordinal = 0"
	}
	return out
}

// columns returns the columns of chunks c, with a score.
func columns(with remote.Fields, score string) string {
	out := `c.id::text, c.root::text, c.file::text, c.public, c.version, c.ordinal, ` + score
	for _, group := range []struct {
		field       remote.Fields
		names, none string
	}{
		{remote.WithText, `c.source, c.title, c.headings, c.text, c.hash`, `'', '', '', '', ''`},
		{remote.WithTerms, `c.words`, `''`},
		{remote.WithData, `c.data`, `''::bytea`},
	} {
		if with&group.field == 0 {
			group.names = group.none
		}
		out += ", " + group.names
	}
	return out
}

// chunks calls each for the rows of a statement that selects columns.
func (s *store) chunks(ctx context.Context, sql string, args []any, each func(remote.Chunk) error) error {
	var c remote.Chunk
	return s.each(ctx, sql, args, []any{
		&c.ID, &c.Root, &c.File, &c.Public, &c.Version, &c.Ordinal, &c.Score, &c.Source, &c.Title, &c.Headings, &c.Text, &c.Hash, &c.Terms, &c.Data,
	}, func() error { return each(c) })
}

// list returns the rows of a statement that selects columns.
func (s *store) list(ctx context.Context, sql string, args []any) (out []remote.Chunk, err error) {
	err = s.chunks(ctx, sql, args, func(c remote.Chunk) error {
		out = append(out, c)
		return nil
	})
	return out, err
}

func (s *store) Chunks(ctx context.Context, f remote.Filter, with remote.Fields) ([]remote.Chunk, error) {
	var q query
	return s.list(ctx, `SELECT `+columns(with, "0::float8")+` FROM chunks c WHERE `+q.passing(f), q)
}

func (s *store) EachChunk(ctx context.Context, roots []string, with remote.Fields, each func(remote.Chunk) error) error {
	var q query
	return s.chunks(ctx, `SELECT `+columns(with, "0::float8")+` FROM chunks c WHERE `+q.passing(remote.Filter{Roots: roots}), q, each)
}

// Words scores all chunks with a term.
func (s *store) Words(ctx context.Context, w remote.Words) ([]remote.Chunk, error) {
	var terms []int32
	var weights, idf []float64
	for term, weight := range w.Weights {
		n, df := float64(w.Chunks), float64(w.DocFreq(term))
		terms, weights = append(terms, number(term)), append(weights, weight)
		idf = append(idf, math.Log((max(0, n-df)+0.5)/(df+0.5)+1))
	}
	var q query
	r := search.DefaultRanking()
	asked, roots, k1, b := q.arg(terms), q.ids(w.Roots), q.arg(r.K1)+"::float8", q.arg(r.B)+"::float8"
	bm25 := func(table, idf, average string) string { // as search.Ranking describes it
		return `(SELECT sum(a.weight * a.` + idf + ` * t.n * (` + k1 + ` + 1) / (t.n + ` + k1 + ` * (1 - ` + b + ` + ` + b + ` * ` + table + `.length / ` + average + `)))
			FROM asked a, LATERAL (SELECT ` + table + `.counts[array_position(` + table + `.terms, a.term)]::float8 AS n) t)`
	}
	files := q.arg(w.Files) + "::float8"
	sql := `WITH asked AS MATERIALIZED (
			SELECT a.*, ln((greatest(0, ` + files + ` - f.n) + 0.5) / (f.n + 0.5) + 1) AS file_idf
			FROM unnest(` + asked + `::int[], ` + q.arg(weights) + `::float8[], ` + q.arg(idf) + `::float8[]) AS a(term, weight, idf),
			LATERAL (SELECT count(*)::float8 AS n FROM files WHERE root = ` + roots + ` AND terms @> ARRAY[a.term]) AS f
		), average AS MATERIALIZED (SELECT greatest(1, sum(lengths) / greatest(1, ` + files + `)) AS length FROM roots WHERE id = ` + roots + `
		), scored AS MATERIALIZED (
			SELECT f.id, ` + bm25("f", "file_idf", "(SELECT length FROM average)") + ` AS score FROM files f
			WHERE f.root = ` + roots + ` AND f.terms && ` + asked
	if w.Filter.Files != nil {
		sql += ` AND f.id = ` + q.ids(w.Filter.Files)
	}
	sql += `) SELECT ` + columns(w.With, bm25("c", "idf", "greatest(1, "+q.arg(w.Length)+"::float8)")+` + `+q.arg(w.Document)+`::float8 * coalesce(s.score, 0) AS score`) +
		` FROM chunks c LEFT JOIN scored s ON s.id = c.file WHERE c.terms && ` + asked + ` AND c.root = ` + roots + ` AND ` + q.passing(w.Filter) +
		` ORDER BY score DESC, c.id LIMIT ` + q.arg(w.Limit)
	return s.list(ctx, sql, q)
}
