package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/stored"
)

// infoColumns begins a query of threads t whose rows scanInfo reads. Argument 1 is a text; empty: none. EXISTS would
// read the texts of all threads first.
const infoColumns = `SELECT t.id, t.active, t.name, t.owner, t.title, t.metadata, t.created, t.touched, t.status,
	(SELECT min(id) FROM entries WHERE thread = t.id), t.head, t.inputs, t.bytes,
	$1 <> '' AND (SELECT true FROM entries e WHERE e.thread = t.id AND e.text <> '' AND position($1 IN e.text) > 0 LIMIT 1) IS NOT NULL
	FROM threads t WHERE t.head <> 0`

// listed is a thread of a list.
type listed struct {
	graph.ThreadInfo
	id, active int64
	said       bool // a text of its log contains argument 1
}

func scanInfo(row pgx.CollectableRow) (l listed, err error) {
	err = row.Scan(&l.id, &l.active, &l.Thread, &l.Owner, &l.Title, &l.Metadata, &l.Created, &l.Touched, &l.Status, &l.First, &l.Head, &l.Inputs, &l.Bytes, &l.said)
	l.Created, l.Touched = l.Created.UTC(), l.Touched.UTC()
	if len(l.Metadata) == 0 {
		l.Metadata = nil
	}
	return l, err
}

// Threads implements [graph.Lister].
func (s *Store) Threads(ctx context.Context, q graph.ThreadQuery) (graph.ThreadPage, error) {
	p, err := stored.NewPager(ctx, q)
	if err != nil {
		return graph.ThreadPage{}, err
	}
	checked := *p
	err = s.do(ctx, func() error {
		*p = checked
		query, args, err := s.listing(ctx, p.ThreadQuery)
		if err != nil {
			return err
		}
		rows, err := s.pool.Query(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			l, err := scanInfo(rows)
			if err != nil {
				return err
			}
			more, err := p.Take(l.ThreadInfo, l.id, l.active, func() (bool, error) { return l.said, nil })
			if !more || err != nil {
				return err
			}
		}
		return rows.Err()
	})
	return p.ThreadPage, err
}

// listing returns the statement that reads the threads of a query in order, and its arguments.
func (s *Store) listing(ctx context.Context, q graph.ThreadQuery) (query string, args []any, err error) {
	query, args = infoColumns, []any{q.Text}
	condition := func(text string, value any) {
		args = append(args, value)
		query += " AND " + text + " ($" + strconv.Itoa(len(args)) + ")"
	}
	key, beyond, order := "t.active", " <", " DESC"
	if q.Order == graph.ByCreation {
		key = "t.id"
	}
	if q.OldestFirst {
		beyond, order = " >", ""
	}
	if q.Owner != "" {
		condition("t.owner =", q.Owner)
	}
	if q.Status != "" {
		condition("t.status =", string(q.Status))
	}
	if len(q.Metadata) > 0 {
		const many = 1000
		ids, err := column[int64](ctx, s.pool, `SELECT id FROM threads WHERE metadata @> $1 LIMIT $2`, q.Metadata, many)
		if err != nil {
			return "", nil, err
		}
		condition("t.metadata @>", q.Metadata)
		if len(ids) < many { // sorting them is faster than looking for them in order
			condition("t.id = ANY", ids)
		}
	}
	if q.After != 0 {
		condition(key+beyond, q.After)
	}
	limit := q.Limit + 1
	if q.Text != "" {
		limit = stored.MaxRead + 1
	}
	return query + " ORDER BY " + key + order + " LIMIT " + strconv.Itoa(limit), args, nil
}

// Info implements [graph.Lister].
func (s *Store) Info(ctx context.Context, thread string) (graph.ThreadInfo, error) {
	l, err := get(ctx, s, func() (listed, error) { return info(ctx, s.pool, thread) })
	return l.ThreadInfo, err
}

// info returns the entry of one thread.
func info(ctx context.Context, q queryer, thread string) (listed, error) {
	rows, err := q.Query(ctx, infoColumns+` AND t.name = $2 AND $3 IN ('', t.owner)`, "", thread, graph.OwnerOf(ctx))
	if err != nil {
		return listed{}, err
	}
	l, err := pgx.CollectExactlyOneRow(rows, scanInfo)
	if errors.Is(err, pgx.ErrNoRows) {
		err = stored.NotFound("thread %q", thread)
	}
	return l, err
}

// Describe implements [graph.Lister].
func (s *Store) Describe(ctx context.Context, thread string, f graph.ThreadFacts) error {
	f, err := stored.AddFacts(graph.ThreadFacts{}, f)
	if err == nil {
		err = s.do(ctx, func() error {
			tag, err := s.pool.Exec(ctx, `UPDATE threads SET title = coalesce(nullif($3, ''), title), metadata = metadata || coalesce($4::jsonb, '{}')
				WHERE name = $1 AND head <> 0 AND $2 IN ('', owner)`, thread, graph.OwnerOf(ctx), f.Title, f.Metadata)
			if err == nil && tag.RowsAffected() == 0 {
				return graph.ErrNotFound
			}
			return tooLarge(err)
		})
	}
	if err != nil {
		return fmt.Errorf("describe thread %q: %w", thread, err)
	}
	return nil
}

// tooLarge returns the error of a store for metadata that does not fit its column.
func tooLarge(err error) error {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.ConstraintName == "threads_metadata_size" {
		return &graph.EntryError{Field: "metadata", Reason: "more than 16 KiB in all"}
	}
	return err
}
