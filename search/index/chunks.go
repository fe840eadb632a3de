package index

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/state"
)

// selectChunks reads chunks with the root, source and title they belong to.
const selectChunks = `SELECT ` + chunkColumns + `, o.root` + chunkTables + `JOIN collections o ON o.id = c.collection `

const (
	chunkColumns = `c.id, f.source, f.title, c.headings, c.book, c.text, c.start, c."end",
		c.start_line, c.end_line, c.lines, c.page, c.breaks, c.kind, c.ordinal, c.hash, f.url, c.cut, f.cutter,
		f.meta`
	chunkTables = `
	FROM chunks c JOIN files f ON f.id = c.file `
)

// chunkScan is what rows of chunkColumns, and of columns behind them, are scanned into,
// one after the other.
type chunkScan struct {
	chunk                              state.Chunk
	headings, lines, breaks, cut, meta string
	book, cutter                       int64
	text                               any   // packed
	to                                 []any // pointers to all of it
}

func newChunkScan(more ...any) *chunkScan {
	r := &chunkScan{}
	c := &r.chunk
	r.to = append([]any{
		(*idColumn)(&c.ID), &c.Source, &c.Title, &r.headings, &r.book, &r.text, &c.Start, &c.End,
		&c.StartLine, &c.EndLine, &r.lines, &c.Page, &r.breaks, &c.Kind, &c.Ordinal, (*hashColumn)(&c.Hash), &c.URL, &r.cut, &r.cutter, &r.meta,
	}, more...)
	return r
}

// scan reads a row into a new chunk. The root is not among the columns.
func (r *chunkScan) scan(tx *sqlite.Tx, books *codebooks, from row) (*state.Chunk, error) {
	r.chunk = state.Chunk{}
	err := from.Scan(r.to...)
	if err == nil {
		err = r.decode(&r.chunk)
	}
	if err == nil {
		r.chunk.Cut.Chunker, err = books.cutBy(tx, r.cutter)
	}
	if err == nil {
		r.chunk.Text, err = books.text(tx, r.book, r.text)
	}
	if err != nil {
		return nil, err
	}
	c := r.chunk
	return &c, nil
}

// decode fills in what is kept as JSON. Most of it is empty.
func (r *chunkScan) decode(c *state.Chunk) error {
	var ok bool
	if c.Headings, ok = plainStrings(r.headings); !ok {
		if err := json.Unmarshal([]byte(r.headings), &c.Headings); err != nil {
			return fmt.Errorf("headings of chunk %s: %w", c.ID, err)
		}
	}
	for _, of := range [...]struct {
		what, json string
		to         any
	}{{"lines", r.lines, &c.Lines}, {"page breaks", r.breaks, &c.Breaks}, {"cut", r.cut, &c.Cut}} {
		if of.json == "" {
			continue
		}
		if err := json.Unmarshal([]byte(of.json), of.to); err != nil {
			return fmt.Errorf("%s of chunk %s: %w", of.what, c.ID, err)
		}
	}
	if r.meta != "null" && r.meta != "{}" {
		if err := json.Unmarshal([]byte(r.meta), &c.Metadata); err != nil {
			return fmt.Errorf("what the document of chunk %s says of itself: %w", c.ID, err)
		}
		c.DocumentType, c.DocumentID = c.Metadata.Text("document_type"), c.Metadata.Text("document_id")
	}
	return nil
}

// plainStrings reads null or a JSON array of strings of which nothing is escaped, as most
// are; ok is false for others.
func plainStrings(array string) (list []string, ok bool) {
	switch array {
	case "null":
		return nil, true
	case "[]":
		return []string{}, true
	}
	inner, begins := strings.CutPrefix(array, `["`)
	inner, ends := strings.CutSuffix(inner, `"]`)
	if !begins || !ends || strings.Contains(inner, `\`) {
		return nil, false
	}
	list = strings.Split(inner, `","`)
	return list, strings.Count(inner, `"`) == 2*(len(list)-1)
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
	return packHex(id, id[:8], id[9:13], id[14:18], id[19:23], id[24:])
}

// packHex returns the bytes of digits, an even number in each part, or s where these are
// not small hexadecimal ones.
func packHex(s string, parts ...string) any {
	b := make([]byte, 0, len(s)/2)
	for _, digits := range parts {
		for i := 0; i < len(digits); i += 2 {
			high, low := digitOf(digits[i]), digitOf(digits[i+1])
			if high|low > 0xf {
				return s
			}
			b = append(b, high<<4|low)
		}
	}
	return b
}

// digitOf is the value of a small hexadecimal digit, 0x10 of any other byte.
func digitOf(c byte) byte { return digitValues[c] }

var digitValues = func() (of [256]byte) { //nolint:gochecknoglobals // a constant table
	for c := range of {
		of[c] = 0x10
	}
	for value, c := range []byte("0123456789abcdef") {
		of[c] = byte(value) //nolint:gosec // below 16
	}
	return of
}()

// hashColumn is a hash as the table keeps it: a SHA-256 by its bytes.
type hashColumn string

// Scan implements sql.Scanner.
func (c *hashColumn) Scan(v any) error {
	switch v := v.(type) {
	case string:
		*c = hashColumn(v)
	case []byte:
		var room [2 * sha256.Size]byte
		*c = hashColumn(hex.AppendEncode(room[:0], v))
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
	var root string
	columns := newChunkScan(&root)
	err = each(tx, func(rows row) error {
		chunk, err := columns.scan(tx, c, rows)
		if err == nil {
			chunk.Root = root
			out = append(out, *chunk)
		}
		return err
	}, selectChunks+`WHERE c.file = ? ORDER BY c.ordinal`, file)
	return out, err
}

// idsAtOnce is how many chunks one statement of chunksByID reads.
const idsAtOnce = 16

// chunksByID reads chunks of a collection of a root, in no order, and tells its generation at that
// moment; 0 where it reads none. Rows that are newer than maxRev count as missing.
func (c *codebooks) chunksByID(tx *sqlite.Tx, collection int64, root string, ids []string, maxRev int64) (out []*state.Chunk, generation int64, err error) {
	// SQLite looks at what is bound to plan by it, and would prepare the statement anew
	// each time; it does not look through CAST.
	const those = `SELECT ` + chunkColumns + `, (SELECT generation FROM collections WHERE id = CAST(? AS INTEGER))` + chunkTables + `WHERE c.collection = CAST(? AS INTEGER) AND c.rev <= CAST(? AS INTEGER)
		AND c.id IN (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`
	out = make([]*state.Chunk, 0, len(ids))
	columns := newChunkScan(&generation)
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
			chunk, err := columns.scan(tx, c, rows)
			if err == nil {
				chunk.Root = root
				out = append(out, chunk)
			}
			return err
		}, those, args[:]...); err != nil {
			return nil, 0, err
		}
	}
	return out, generation, nil
}
