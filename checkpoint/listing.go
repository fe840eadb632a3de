package checkpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/internal/stored"
)

// infoColumns begins a query of threads t; said ends its columns. scanInfo reads the rows.
const (
	infoColumns = `SELECT t.id, t.active, t.name, t.owner, t.facts, t.created, t.touched, t.status, t.first, t.head, t.inputs, t.bytes, `
	said        = `EXISTS(SELECT 1 FROM commits c WHERE c.thread = t.id AND c.text IS NOT NULL AND instr(c.text, ?))`
)

// listed is a thread of a list.
type listed struct {
	graph.ThreadInfo
	id, active int64
	said       bool // a text of its log contains that of the query; only if the store is not encrypted
}

func (s *SQLite) scanInfo(row sqlite.Row) (l listed, err error) {
	var facts any
	var created, touched int64
	if err := row.Scan(&l.id, &l.active, &l.Thread, &l.Owner, &facts, &created, &touched, &l.Status, &l.First, &l.Head, &l.Inputs, &l.Bytes, &l.said); err != nil {
		return l, err
	}
	l.Created, l.Touched = time.UnixMicro(created).UTC(), time.UnixMicro(touched).UTC()
	l.ThreadFacts, err = s.openFacts(l.Thread, facts)
	return l, err
}

// openFacts decodes the facts of a thread.
func (s *SQLite) openFacts(thread string, value any) (f graph.ThreadFacts, err error) {
	text, err := s.sealer.open(s.sealer.factsPlace(thread), value)
	if err == nil && text != nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		err = fmt.Errorf("thread %q: facts: %w", thread, err)
	}
	return f, err
}

// Threads implements [graph.Lister]. In an encrypted store metadata and texts are decrypted to compare them,
// so that a page may hold fewer threads than in a store that is not.
func (s *SQLite) Threads(ctx context.Context, q graph.ThreadQuery) (graph.ThreadPage, error) {
	p, err := stored.NewPager(ctx, q)
	if err != nil {
		return graph.ThreadPage{}, err
	}
	checked := *p
	err = s.db.Read(ctx, func(tx *sqlite.Tx) error {
		*p = checked
		query, args, err := s.listing(tx, p.ThreadQuery)
		if err != nil {
			return err
		}
		for row := range tx.Query(query, args...) {
			l, err := s.scanInfo(row)
			if err != nil {
				return err
			}
			more, err := p.Take(l.ThreadInfo, l.id, l.active, func() (bool, error) { return s.says(tx, p, l) })
			if !more || err != nil {
				return err
			}
		}
		return nil
	})
	return p.ThreadPage, err
}

// says reports whether a text of a thread's log contains the text of a query.
func (s *SQLite) says(tx *sqlite.Tx, p *stored.Pager, l listed) (bool, error) {
	if s.sealer == nil {
		return l.said, nil
	}
	for row := range tx.Query(`SELECT id, text FROM commits WHERE thread = ? AND text IS NOT NULL ORDER BY id DESC`, l.id) {
		var at graph.CommitID
		var value any
		err := row.Scan(&at, &value)
		var text []byte
		if err == nil {
			text, err = s.sealer.open(s.sealer.textPlace(l.Thread, at), value)
		}
		if err != nil {
			return false, fmt.Errorf("thread %q, commit %d: text: %w", l.Thread, at, err)
		}
		p.Searched += len(text)
		if strings.Contains(string(text), p.Text) {
			return true, nil
		}
	}
	return false, nil
}

// listing returns the statement that reads the threads of a query in order. It leaves titles and all but one tag of the
// metadata to [stored.Pager.Take].
func (s *SQLite) listing(tx *sqlite.Tx, q graph.ThreadQuery) (query string, args []any, err error) {
	key, beyond, order := "t.active", " < ?", " DESC"
	if q.Order == graph.ByCreation {
		key = "t.id"
	}
	if q.OldestFirst {
		beyond, order = " > ?", ""
	}
	columns, from, where := infoColumns+"0", "threads t", " WHERE t.head IS NOT NULL"
	if q.Text != "" && s.sealer == nil {
		columns, args = infoColumns+said, append(args, q.Text)
	}
	condition := func(text string, values ...any) {
		where += " AND " + text
		args = append(args, values...)
	}
	if len(q.Metadata) > 0 && s.sealer == nil {
		const many = 1000
		name, few := "", false
		for key, value := range q.Metadata {
			name = key
			err := tx.QueryRow(`SELECT count(*) < ?1 FROM (SELECT 1 FROM tags WHERE key = ?2 AND value = ?3 LIMIT ?1)`, many, key, value).Scan(&few)
			if err != nil {
				return "", nil, err
			}
			if few {
				break
			}
		}
		if few { // sorting them is faster than looking for them in order
			from = "tags g CROSS JOIN threads t ON t.id = g.thread"
			condition("g.key = ? AND g.value = ?", name, q.Metadata[name])
		} else {
			condition("EXISTS(SELECT 1 FROM tags g WHERE g.key = ? AND g.value = ? AND g.thread = t.id)", name, q.Metadata[name])
		}
	}
	if q.Owner != "" {
		condition("t.owner = ? AND t.owner <> ''", q.Owner)
	}
	switch q.Status {
	case "":
	case graph.Completed: // has no index, because most threads are completed
		condition("t.status = ?", string(q.Status))
	default:
		condition("t.status = ? AND t.status <> 'completed'", string(q.Status))
	}
	if q.After != 0 {
		condition(key+beyond, q.After)
	}
	return columns + " FROM " + from + where + " ORDER BY " + key + order + " LIMIT " + strconv.Itoa(stored.MaxRead+1), args, nil
}

// Info implements [graph.Lister].
func (s *SQLite) Info(ctx context.Context, thread string) (i graph.ThreadInfo, err error) {
	err = s.db.Read(ctx, func(tx *sqlite.Tx) error {
		i, err = s.info(ctx, tx, thread)
		return err
	})
	return i, err
}

// info returns the entry of a thread that has a commit.
func (s *SQLite) info(ctx context.Context, tx *sqlite.Tx, thread string) (graph.ThreadInfo, error) {
	for row := range tx.Query(infoColumns+`0 FROM threads t WHERE t.name = ?1 AND t.head IS NOT NULL AND ?2 IN ('', t.owner)`, thread, graph.OwnerOf(ctx)) {
		l, err := s.scanInfo(row)
		return l.ThreadInfo, err
	}
	return graph.ThreadInfo{}, stored.NotFound("thread %q", thread)
}

// Describe implements [graph.Lister].
func (s *SQLite) Describe(ctx context.Context, thread string, f graph.ThreadFacts) error {
	err := s.db.Write(ctx, func(tx *sqlite.Tx) error {
		id, _, err := find(ctx, tx, thread, 0)
		if err == nil {
			err = s.describe(tx, id, thread, f, false)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("describe: %w", err)
	}
	return nil
}

// describe changes facts of a thread; once: not a title that it has.
func (s *SQLite) describe(tx *sqlite.Tx, id int64, thread string, more graph.ThreadFacts, once bool) error {
	if more.Title == "" && len(more.Metadata) == 0 {
		return nil
	}
	var value any
	if err := tx.QueryRow(`SELECT facts FROM threads WHERE id = ?`, id).Scan(&value); err != nil {
		return err
	}
	has, err := s.openFacts(thread, value)
	if once && has.Title != "" {
		more.Title = ""
	}
	all := has
	if err == nil {
		all, err = stored.AddFacts(has, more)
	}
	if err != nil || all.Title == has.Title && maps.Equal(all.Metadata, has.Metadata) {
		return err
	}
	text, err := json.Marshal(all)
	if err == nil {
		value, err = s.sealer.seal(s.sealer.factsPlace(thread), "", text)
	}
	if err == nil {
		err = tx.Do(`UPDATE threads SET facts = ? WHERE id = ?`, value, id)
	}
	if err == nil {
		err = tx.Do(`DELETE FROM tags WHERE thread = ?`, id)
	}
	if err == nil && s.sealer == nil {
		err = tx.Do(`INSERT INTO tags SELECT key, value, ?1 FROM json_each(?2, '$.metadata')`, id, value)
	}
	return err
}
