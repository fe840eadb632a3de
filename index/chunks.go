package index

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/state"
)

// selectChunks reads chunks with the root, source and title they belong to.
const selectChunks = `SELECT ` + chunkColumns + `, o.root` + chunkTables + `JOIN collections o ON o.id = c.collection `

const (
	chunkColumns = `c.id, f.source, f.title, c.headings, c.book, c.text, c.start, c."end",
		c.start_line, c.end_line, c.lines, c.page, c.breaks, c.kind, c.ordinal, c.hash, f.url, c.cut, u.cut_by,
		f.meta`
	chunkTables = `
	FROM chunks c JOIN files f ON f.id = c.file JOIN cutters u ON u.id = f.cutter `
)

// scanChunk reads a row of chunkColumns, and columns behind it. The root is not among them.
func (c *codebooks) scanChunk(tx *sqlite.Tx, r row, more ...any) (state.Chunk, error) {
	var out state.Chunk
	var book int64
	var text any
	err := scanPacked(r, &out, &book, &text, more...)
	if err == nil {
		out.Text, err = c.text(tx, book, text)
	}
	return out, err
}

// scanPacked reads all but the text, which is packed.
func scanPacked(r row, c *state.Chunk, book *int64, text *any, more ...any) error {
	var headings, lines, breaks, cut, meta []byte
	var cutBy string
	to := append([]any{
		(*idColumn)(&c.ID), &c.Source, &c.Title, &headings, book, text, &c.Start, &c.End,
		&c.StartLine, &c.EndLine, &lines, &c.Page, &breaks, &c.Kind, &c.Ordinal, (*hashColumn)(&c.Hash), &c.URL, &cut, &cutBy, &meta,
	}, more...)
	if err := r.Scan(to...); err != nil {
		return err
	}
	if h := string(headings); h == "[]" {
		c.Headings = []string{}
	} else if h == "null" {
		c.Headings = nil
	} else if err := json.Unmarshal(headings, &c.Headings); err != nil {
		return fmt.Errorf("headings of chunk %s: %w", c.ID, err)
	}
	if len(lines) > 0 {
		if err := json.Unmarshal(lines, &c.Lines); err != nil {
			return fmt.Errorf("lines of chunk %s: %w", c.ID, err)
		}
	}
	if len(breaks) > 0 {
		if err := json.Unmarshal(breaks, &c.Breaks); err != nil {
			return fmt.Errorf("page breaks of chunk %s: %w", c.ID, err)
		}
	}
	if len(cut) > 0 {
		if err := json.Unmarshal(cut, &c.Cut); err != nil {
			return fmt.Errorf("cut of chunk %s: %w", c.ID, err)
		}
	}
	c.Cut.Chunker = cutBy
	if m := string(meta); m != "null" && m != "{}" {
		if err := json.Unmarshal(meta, &c.Metadata); err != nil {
			return fmt.Errorf("what the document of chunk %s says of itself: %w", c.ID, err)
		}
		c.DocumentType, c.DocumentID = c.Metadata.Text("document_type"), c.Metadata.Text("document_id")
	}
	return nil
}

// idColumn is an id as the table keeps it: a UUID by its bytes.
type idColumn string

// Scan implements sql.Scanner.
func (c *idColumn) Scan(v any) error {
	switch v := v.(type) {
	case string:
		*c = idColumn(v)
		return nil
	case []byte:
		if len(v) == 16 {
			*c = idColumn(uuidText(v))
			return nil
		}
	}
	return fmt.Errorf("id of a chunk: %T", v)
}

// uuidText writes the 16 bytes of a UUID as RFC 9562 does.
func uuidText(b []byte) string {
	out := make([]byte, 0, 36)
	from := 0
	for _, end := range [...]int{4, 6, 8, 10, 16} {
		if from > 0 {
			out = append(out, '-')
		}
		out = hex.AppendEncode(out, b[from:end])
		from = end
	}
	return string(out)
}

// packID returns what the table keeps of an id.
func packID(id string) any {
	if len(id) != 36 || id[8] != '-' || id[13] != '-' || id[18] != '-' || id[23] != '-' {
		return id
	}
	return packHex(id, id[:8]+id[9:13]+id[14:18]+id[19:23]+id[24:])
}

// packHex returns the bytes of digits, or s where these are not small
// hexadecimal ones.
func packHex(s, digits string) any {
	b := make([]byte, len(digits)/2)
	for i := range b {
		high, low := digitOf(digits[2*i]), digitOf(digits[2*i+1])
		if high|low > 0xf {
			return s
		}
		b[i] = high<<4 | low
	}
	return b
}

// digitOf is the value of a small hexadecimal digit, 0x10 of any other byte.
func digitOf(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	}
	return 0x10
}

// hashColumn is a hash as the table keeps it: a SHA-256 by its bytes.
type hashColumn string

// Scan implements sql.Scanner.
func (c *hashColumn) Scan(v any) error {
	switch v := v.(type) {
	case string:
		*c = hashColumn(v)
	case []byte:
		*c = hashColumn(hex.EncodeToString(v))
	default:
		return fmt.Errorf("hash: %T", v)
	}
	return nil
}

func packHash(hash string) any {
	if len(hash) != hex.EncodedLen(sha256.Size) {
		return hash
	}
	return packHex(hash, hash)
}

// fileChunks reads the chunks of a file in order.
func (c *codebooks) fileChunks(tx *sqlite.Tx, file int64) (out []state.Chunk, err error) {
	err = each(tx, func(rows row) error {
		var root string
		chunk, err := c.scanChunk(tx, rows, &root)
		chunk.Root = root
		out = append(out, chunk)
		return err
	}, selectChunks+`WHERE c.file = ? ORDER BY c.ordinal`, file)
	return out, err
}

// idsAtOnce is how many chunks one statement of chunksByID reads.
const idsAtOnce = 16

// chunksByID reads chunks of a collection of a root, in no order, and tells its generation at that
// moment; 0 where it reads none. Rows that are newer than maxRev count as missing.
func (c *codebooks) chunksByID(tx *sqlite.Tx, collection int64, root string, ids []string, maxRev int64) (out []state.Chunk, generation int64, err error) {
	// SQLite looks at what is bound to plan by it, and would prepare the statement anew
	// each time; it does not look through CAST.
	const those = `SELECT ` + chunkColumns + `, (SELECT generation FROM collections WHERE id = CAST(? AS INTEGER))` + chunkTables + `WHERE c.collection = CAST(? AS INTEGER) AND c.rev <= CAST(? AS INTEGER)
		AND c.id IN (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`
	out = make([]state.Chunk, 0, len(ids))
	var args [3 + idsAtOnce]any
	args[0], args[1], args[2] = collection, collection, maxRev
	for some := range slices.Chunk(ids, idsAtOnce) {
		for i := range idsAtOnce {
			args[3+i] = args[2+i] // the last fills what is left: a set has it once
			if i < len(some) {
				args[3+i] = packID(some[i])
			}
		}
		if err := each(tx, func(rows row) error {
			chunk, err := c.scanChunk(tx, rows, &generation)
			chunk.Root = root
			out = append(out, chunk)
			return err
		}, those, args[:]...); err != nil {
			return nil, 0, err
		}
	}
	return out, generation, nil
}
