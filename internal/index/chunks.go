package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// Chunks returns chunks by id, in the given order, without unknown ids and chunks that changed
// or were deleted since the searcher was made.
func (s *Searcher) Chunks(ctx context.Context, ids []string) ([]state.Chunk, error) {
	found := make(map[string]state.Chunk, len(ids))
	for _, v := range s.snapshots {
		if err := v.db.sql.Read(ctx, func(tx *sqlite.Tx) error { return v.read(tx, ids, found) }); err != nil {
			return nil, fmt.Errorf("read chunks: %w", err)
		}
	}
	var out []state.Chunk
	for _, id := range ids {
		if c, ok := found[id]; ok {
			out = append(out, c)
		}
	}
	return out, nil
}

// read adds to found those ids that this snapshot holds and no earlier one does.
func (v *snapshot) read(tx *sqlite.Tx, ids []string, found map[string]state.Chunk) error {
	asked := map[string][]string{} // ids by the id in this collection
	for _, id := range ids {
		if _, ok := found[id]; ok {
			continue
		}
		bare, mark, marked := strings.Cut(id, "@")
		if !marked || search.RootMark(v.root) == mark {
			asked[bare] = append(asked[bare], id)
		}
	}
	chunks, err := chunksByID(tx, v.manifest.collection, slices.Sorted(maps.Keys(asked)), v.maxRev)
	for _, c := range chunks {
		for _, c.ID = range asked[c.ID] {
			found[c.ID] = c
		}
	}
	return err
}

// chunkPlace is the content of the column place, as JSON. The keys are those of [state.Chunk].
type chunkPlace struct {
	Start     int       `json:"start,omitzero"`
	End       int       `json:"end"`
	StartLine int       `json:"start_line,omitzero"`
	EndLine   int       `json:"end_line,omitzero"`
	Page      int       `json:"page,omitzero"`
	Breaks    []int     `json:"breaks,omitempty"`
	Labels    []string  `json:"page_labels,omitempty"`
	Lines     []int     `json:"lines,omitempty"`
	Kind      string    `json:"kind,omitempty"`
	Cut       state.Cut `json:"cut,omitzero"`
}

func encodePlace(c *state.Chunk) (string, error) {
	cut := c.Cut
	cut.Chunker = "" // stored in the row of the file
	data, err := json.Marshal(chunkPlace{c.Start, c.End, c.StartLine, c.EndLine, c.Page, c.Breaks, c.PageLabels, c.Lines, c.Kind, cut})
	return string(data), err
}

// chunkColumns are the columns for scanChunk, with their tables.
const chunkColumns = `c.id, o.root, f.source, f.title, f.url, f.cut_by, f.meta, f.hash, c.ordinal, c.hash, c.text, c.place, c.headings
	FROM chunks c JOIN files f ON f.id = c.file JOIN collections o ON o.id = c.collection`

// scanChunk reads a row of chunkColumns.
func scanChunk(from row, c *state.Chunk) error {
	var place, headings, meta []byte
	var cutBy string
	err := from.Scan(&c.ID, &c.Root, &c.Source, &c.Title, &c.URL, &cutBy, &meta, &c.FileHash, &c.Ordinal, &c.Hash, &c.Text, &place, &headings)
	if err == nil {
		err = errors.Join(json.Unmarshal(place, c), json.Unmarshal(headings, &c.Headings))
	}
	if err == nil && string(meta) != "{}" {
		err = json.Unmarshal(meta, &c.Metadata)
	}
	if err != nil {
		return fmt.Errorf("chunk %s: %w", c.ID, err)
	}
	c.Cut.Chunker = cutBy
	if c.Metadata != nil {
		c.DocumentType, c.DocumentID = c.Metadata.Text("document_type"), c.Metadata.Text("document_id")
	}
	return nil
}

// idsAtOnce is the number of chunks that one statement reads.
const idsAtOnce = 16

// chunksByID reads chunks of a collection, in no order, without rows newer than maxRev.
func chunksByID(tx *sqlite.Tx, collection int64, ids []string, maxRev int64) (out []state.Chunk, err error) {
	// SQLite plans by bound values, and would prepare the statement again each time; CAST hides
	// them.
	const query = `SELECT ` + chunkColumns + ` WHERE c.collection = CAST(? AS INTEGER) AND c.rev <= CAST(? AS INTEGER)
		AND c.id IN (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`
	args := make([]any, 2+idsAtOnce)
	args[0], args[1] = collection, maxRev
	for some := range slices.Chunk(ids, idsAtOnce) {
		for i := range idsAtOnce {
			args[2+i] = some[min(i, len(some)-1)] // repeats the last id
		}
		list, err := collect(tx, scanChunk, query, args...)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}
