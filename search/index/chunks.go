package index

import (
	"encoding/json"
	"fmt"
	"slices"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/state"
)

const (
	chunkColumns = `c.id, f.source, f.title, c.headings, c.text, c.start, c."end",
		c.start_line, c.end_line, c.lines, c.page, c.breaks, c.kind, c.ordinal, c.hash, f.url, c.cut, f.cut_by,
		f.meta`
	chunkTables = `
	FROM chunks c JOIN files f ON f.id = c.file `
)

// scanChunk reads a row of chunkColumns, and of columns after them. The root is not among
// the columns.
func scanChunk(from row, more ...any) (*state.Chunk, error) {
	c := &state.Chunk{}
	var headings, lines, breaks, cut, cutBy, meta string
	if err := from.Scan(append([]any{
		&c.ID, &c.Source, &c.Title, &headings, &c.Text, &c.Start, &c.End,
		&c.StartLine, &c.EndLine, &lines, &c.Page, &breaks, &c.Kind, &c.Ordinal, &c.Hash, &c.URL, &cut, &cutBy, &meta,
	}, more...)...); err != nil {
		return nil, err
	}
	for _, column := range [...]struct {
		what, json string
		to         any
	}{
		{"headings", headings, &c.Headings},
		{"lines", lines, &c.Lines},
		{"page breaks", breaks, &c.Breaks},
		{"cut", cut, &c.Cut},
		{"metadata", meta, &c.Metadata},
	} {
		if column.json == "" || column.json == "null" || column.what == "metadata" && column.json == "{}" {
			continue
		}
		if err := json.Unmarshal([]byte(column.json), column.to); err != nil {
			return nil, fmt.Errorf("%s of chunk %s: %w", column.what, c.ID, err)
		}
	}
	c.Cut.Chunker = cutBy
	if c.Metadata != nil {
		c.DocumentType, c.DocumentID = c.Metadata.Text("document_type"), c.Metadata.Text("document_id")
	}
	return c, nil
}

// fileChunks reads the chunks of a file in order.
func fileChunks(tx *sqlite.Tx, file int64) (out []state.Chunk, err error) {
	var root string
	err = each(tx, func(rows row) error {
		c, err := scanChunk(rows, &root)
		if err == nil {
			c.Root = root
			out = append(out, *c)
		}
		return err
	}, `SELECT `+chunkColumns+`, o.root`+chunkTables+`JOIN collections o ON o.id = c.collection WHERE c.file = ? ORDER BY c.ordinal`, file)
	return out, err
}

// idsAtOnce is how many chunks one statement of chunksByID reads.
const idsAtOnce = 16

// chunksByID reads chunks of a collection of a root, in no order. Rows that are newer than
// maxRev count as missing.
func chunksByID(tx *sqlite.Tx, collection int64, root string, ids []string, maxRev int64) (out []*state.Chunk, err error) {
	// SQLite looks at bound values to plan the query, and would prepare the statement again
	// each time; it does not look through CAST.
	const query = `SELECT ` + chunkColumns + chunkTables + `WHERE c.collection = CAST(? AS INTEGER) AND c.rev <= CAST(? AS INTEGER)
		AND c.id IN (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`
	args := make([]any, 2+idsAtOnce)
	args[0], args[1] = collection, maxRev
	for some := range slices.Chunk(ids, idsAtOnce) {
		for i := range idsAtOnce {
			args[2+i] = some[min(i, len(some)-1)] // the last fills the rest
		}
		if err := each(tx, func(rows row) error {
			c, err := scanChunk(rows)
			if err == nil {
				c.Root = root
				out = append(out, c)
			}
			return err
		}, query, args...); err != nil {
			return nil, err
		}
	}
	return out, nil
}
