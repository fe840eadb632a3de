package index

import (
	"encoding/json"
	"fmt"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/state"
)

// selectChunks reads chunks with the root, source and title they belong to.
const selectChunks = `SELECT c.id, o.root, f.source, f.title, c.headings, c.text, c.start, c."end",
		c.start_line, c.end_line, c.lines, c.page, c.breaks, c.kind, c.ordinal, c.hash, f.url, c.cut, f.cut_by,
		f.meta
	FROM chunks c JOIN files f ON f.id = c.file JOIN collections o ON o.id = c.collection `

// scanChunk reads a row of selectChunks.
func scanChunk(r row) (state.Chunk, error) {
	var c state.Chunk
	var headings, lines, breaks, cut, meta []byte
	var cutBy string
	if err := r.Scan(&c.ID, &c.Root, &c.Source, &c.Title, &headings, &c.Text, &c.Start, &c.End,
		&c.StartLine, &c.EndLine, &lines, &c.Page, &breaks, &c.Kind, &c.Ordinal, &c.Hash, &c.URL, &cut, &cutBy, &meta); err != nil {
		return c, err
	}
	if err := json.Unmarshal(headings, &c.Headings); err != nil {
		return c, fmt.Errorf("headings of chunk %s: %w", c.ID, err)
	}
	if len(lines) > 0 {
		if err := json.Unmarshal(lines, &c.Lines); err != nil {
			return c, fmt.Errorf("lines of chunk %s: %w", c.ID, err)
		}
	}
	if len(breaks) > 0 {
		if err := json.Unmarshal(breaks, &c.Breaks); err != nil {
			return c, fmt.Errorf("page breaks of chunk %s: %w", c.ID, err)
		}
	}
	if len(cut) > 0 {
		if err := json.Unmarshal(cut, &c.Cut); err != nil {
			return c, fmt.Errorf("cut of chunk %s: %w", c.ID, err)
		}
	}
	c.Cut.Chunker = cutBy
	if m := string(meta); m != "null" && m != "{}" {
		if err := json.Unmarshal(meta, &c.Metadata); err != nil {
			return c, fmt.Errorf("what the document of chunk %s says of itself: %w", c.ID, err)
		}
		c.DocumentType, c.DocumentID = c.Metadata.Text("document_type"), c.Metadata.Text("document_id")
	}
	return c, nil
}

// fileChunks reads the chunks of a file in order.
func fileChunks(tx *sqlite.Tx, file int64) (out []state.Chunk, err error) {
	err = each(tx, func(rows row) error {
		c, err := scanChunk(rows)
		out = append(out, c)
		return err
	}, selectChunks+`WHERE c.file = ? ORDER BY c.ordinal`, file)
	return out, err
}

// chunksByID reads chunks of a collection, in no order. Rows that are newer than
// maxRev count as missing.
func chunksByID(tx *sqlite.Tx, collection int64, ids []string, maxRev int64) (out []state.Chunk, err error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	err = each(tx, func(rows row) error {
		c, err := scanChunk(rows)
		out = append(out, c)
		return err
	}, selectChunks+`WHERE c.collection = ? AND c.rev <= ? AND c.id IN (SELECT value FROM json_each(?))`, collection, maxRev, string(list))
	return out, err
}
