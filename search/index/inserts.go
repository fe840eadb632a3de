package index

import (
	"fmt"
	"strings"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/state"
)

// rowsAtOnce is how many rows one statement inserts, where there are so many. For rows that
// are inserted so, SQLite takes a seventh less time; more of them at once save no more.
const rowsAtOnce = 16

// inserts are rows of one transaction that wait to be inserted, several at once. A row
// that needs another one waits behind it.
type inserts struct {
	tx            *sqlite.Tx
	files, chunks waitingRows
}

func newInserts(tx *sqlite.Tx) *inserts {
	return &inserts{
		tx:     tx,
		files:  newWaitingRows(`files(id, collection, version, source, size, mtime, hash, digest, title, chunker, meta, url, error, chunks, cutter, terms)`),
		chunks: newWaitingRows(`chunks(collection, file, id, ordinal, start, "end", start_line, end_line, page, kind, headings, lines, breaks, cut, hash, book, text)`),
	}
}

// waitingRows are rows of one table.
type waitingRows struct {
	one, many string // statements
	columns   int
	values    []any
}

// newWaitingRows returns those of a table, which is given with its columns.
func newWaitingRows(table string) waitingRows {
	r := waitingRows{columns: 1 + strings.Count(table, ",")}
	row := "(?" + strings.Repeat(", ?", r.columns-1) + ")"
	r.one = "INSERT INTO " + table + " VALUES" + row
	r.many = r.one + strings.Repeat(", "+row, rowsAtOnce-1)
	return r
}

func (r *waitingRows) full() bool { return len(r.values) >= rowsAtOnce*r.columns }

// insert inserts what waits.
func (r *waitingRows) insert(tx *sqlite.Tx) error {
	for v := r.values; len(v) > 0; {
		query, n := r.one, r.columns
		if len(v) >= rowsAtOnce*n {
			query, n = r.many, rowsAtOnce*n
		}
		if err := tx.Do(query, v[:n]...); err != nil {
			return err
		}
		v = v[n:]
	}
	clear(r.values)
	r.values = r.values[:0]
	return nil
}

// flush inserts all that waits.
func (in *inserts) flush() error {
	if err := in.files.insert(in.tx); err != nil {
		return err
	}
	if err := in.chunks.insert(in.tx); err != nil {
		return fmt.Errorf("chunks: %w", err)
	}
	return nil
}

// file inserts the row of a file, sooner or later.
func (in *inserts) file(columns ...any) error {
	in.files.values = append(in.files.values, columns...)
	if in.files.full() {
		return in.files.insert(in.tx)
	}
	return nil
}

// chunk inserts the row of a chunk, sooner or later.
func (in *inserts) chunk(collection, file int64, c *state.Chunk, p *prepared, book int64) error {
	made := &p.chunks[c.Ordinal]
	var column any = c.Text
	if made.packed != nil {
		column = made.packed
	} else {
		book = 0
	}
	in.chunks.values = append(in.chunks.values,
		collection, file, packID(c.ID), c.Ordinal, c.Start, c.End, c.StartLine, c.EndLine, c.Page, c.Kind, made.headings,
		made.lines, made.breaks, made.cuts, packHash(made.hash), book, column)
	if in.chunks.full() {
		return in.flush()
	}
	return nil
}
