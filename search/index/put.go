package index

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"example.com/ragflow/internal/parallel"
	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/state"
)

// prepared is what can be made of an entry before the transaction begins.
type prepared struct {
	meta   string
	links  string // JSON; empty: none
	weight int64  // see weight
	chunks []preparedChunk
}

// preparedChunk is what is saved of a chunk in another form than it has.
type preparedChunk struct {
	headings            string // JSON
	lines, breaks, cuts string // JSON or empty
	hash                string
	packed              []byte // text; nil: it takes no fewer bytes
}

// prepareAll checks and analyzes entries side by side.
func (db *DB) prepareAll(entries []Entry, book *codebook) ([]prepared, error) {
	out := make([]prepared, len(entries))
	errs := make([]error, len(entries))
	parallel.Each(len(entries), func(i int) { out[i], errs[i] = prepare(&entries[i], book) })
	return out, errors.Join(errs...)
}

func prepare(e *Entry, book *codebook) (prepared, error) {
	if e.File.Source == "" {
		return prepared{}, errors.New("a file without a source")
	}
	meta, err := e.File.encodeMeta()
	if err != nil {
		return prepared{}, fmt.Errorf("%q: %w", e.File.Source, err)
	}
	links, err := encodeLinks(e.Links)
	if err != nil {
		return prepared{}, fmt.Errorf("%q: %w", e.File.Source, err)
	}
	p := prepared{
		meta:   string(meta),
		links:  links,
		weight: weight(e.Chunks),
		chunks: make([]preparedChunk, len(e.Chunks)),
	}
	for i := range e.Chunks {
		c, made := &e.Chunks[i], &p.chunks[i]
		if c.ID == "" || c.Text == "" || c.Ordinal != i {
			return prepared{}, fmt.Errorf("%q: chunk %d has no id, no text or ordinal %d", e.File.Source, i, c.Ordinal)
		}
		made.headings = "null"
		if c.Headings != nil {
			headings, err := json.Marshal(c.Headings)
			if err != nil {
				return prepared{}, fmt.Errorf("%q: %w", e.File.Source, err)
			}
			made.headings = string(headings)
		}
		if len(c.Lines) > 0 {
			lines, err := json.Marshal(c.Lines)
			if err != nil {
				return prepared{}, fmt.Errorf("%q: %w", e.File.Source, err)
			}
			made.lines = string(lines)
		}
		if len(c.Breaks) > 0 {
			breaks, err := json.Marshal(c.Breaks)
			if err != nil {
				return prepared{}, fmt.Errorf("%q: %w", e.File.Source, err)
			}
			made.breaks = string(breaks)
		}
		told := c.Cut
		if told.Chunker = ""; told != (state.Cut{}) { // the chunker stands with the file
			cut, err := json.Marshal(told)
			if err != nil {
				return prepared{}, fmt.Errorf("%q: %w", e.File.Source, err)
			}
			made.cuts = string(cut)
		}
		if book != nil {
			if packed := book.pack(nil, c.Text); len(packed) < len(c.Text) {
				made.packed = packed
			}
		}
		made.hash = c.Hash
		if c.Hash == "" {
			sum := sha256.Sum256([]byte(c.Text))
			made.hash = hex.EncodeToString(sum[:])
		}
	}
	return p, nil
}

// known is what the index holds of a file that is put.
type known struct {
	titled

	url, meta string
	chunks    int
}

// knownFiles returns those of entries that the index holds, by source.
func knownFiles(tx *sqlite.Tx, collection int64, entries []Entry) (map[string]known, error) {
	out := make(map[string]known, len(entries))
	sources := make([]string, len(entries))
	for i, e := range entries {
		sources[i] = e.File.Source
	}
	list, err := json.Marshal(sources)
	if err != nil {
		return nil, err
	}
	err = each(tx, func(r row) error {
		var source string
		var k known
		err := r.Scan(&source, &k.id, &k.version, &k.title, &k.url, &k.meta, &k.chunks)
		out[source] = k
		return err
	}, `SELECT source, id, version, title, url, meta, chunks FROM files WHERE collection = ? AND source IN (SELECT value FROM json_each(?))`,
		collection, string(list))
	return out, err
}

// put saves one file and reports whether a search could tell. Then its version
// is next. before is what the index held of it, its id 0 for nothing. last is the
// greatest id of a file, and moves where the file is new.
func (db *DB) put(in *inserts, collection, next int64, e *Entry, p *prepared, book, cutter int64, last *int64, before known) (now known, changed bool, err error) {
	f, tx := &e.File, in.tx
	hash, digest := splitHash(f.Hash)
	now = known{titled{before.id, before.version, f.Title}, f.URL, p.meta, len(e.Chunks)}
	if before.id == 0 {
		// The row that SQLite would take; asking it which it took costs more than the row.
		*last++
		now.id, now.version = *last, next
		if err := in.file(now.id, collection, next, f.Source, f.Size, f.ModTime.UnixNano(), hash, digest, f.Title, "", p.meta, f.URL, f.Error,
			len(e.Chunks), cutter, p.weight); err != nil {
			return now, false, err
		}
		for i := range e.Chunks {
			if err := in.chunk(collection, now.id, &e.Chunks[i], p, book); err != nil {
				return now, false, err
			}
		}
		if p.links != "" {
			if err = in.flush(); err == nil {
				_, err = putLinks(tx, now.id, p.links)
			}
		}
		return now, true, err
	}
	if err := in.flush(); err != nil { // it may be of the same file
		return now, false, err
	}
	var old *fileIndex
	if before.chunks > 0 && before.version != next {
		if old, err = db.oldIndex(tx, before.titled); err != nil {
			return now, false, err
		}
	}
	moved, err := putChunks(in, collection, before.id, e.Chunks, p, book)
	if err != nil {
		return now, false, err
	}
	linked, err := putLinks(tx, before.id, p.links)
	if err != nil {
		return now, false, err
	}
	if changed = moved || linked || before.title != now.title || before.url != now.url || before.meta != now.meta; changed {
		now.version = next
	}
	if err := tx.Do(`UPDATE files SET version = ?, size = ?, mtime = ?, hash = ?, digest = ?, title = ?, meta = ?, url = ?, error = ?, chunks = ?, cutter = ?, terms = ?
		WHERE id = ?`, now.version, f.Size, f.ModTime.UnixNano(), hash, digest, f.Title, p.meta, f.URL, f.Error, len(e.Chunks), cutter, p.weight, before.id); err != nil {
		return now, false, err
	}
	if changed && old != nil {
		err = db.bury(tx, collection, before.titled, next, old)
	}
	return now, changed, err
}

// splitHash returns what the columns hash and digest keep of the hash of a file.
func splitHash(hash string) (text string, digest any) {
	if b, ok := packHash(hash).([]byte); ok {
		return "", b
	}
	return hash, nil
}

// cutter says what cut a file: a row of cutters.
type cutter struct{ chunker, by string }

// cutters are the rows known to one transaction.
type cutters map[cutter]int64

// cutter returns what cut an entry.
func (e *Entry) cutter() cutter {
	by := ""
	if len(e.Chunks) > 0 {
		by = e.Chunks[0].Cut.Chunker
	}
	return cutter{e.File.Chunker, by}
}

// row returns the row of what cut a file, which it makes where there is none.
func (c cutters) row(tx *sqlite.Tx, by cutter) (id int64, err error) {
	if row, known := c[by]; known {
		return row, nil
	}
	err = tx.QueryRow(`SELECT id FROM cutters WHERE chunker = ? AND cut_by = ?`, by.chunker, by.by).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		err = tx.QueryRow(`INSERT INTO cutters(chunker, cut_by) VALUES(?, ?) RETURNING id`, by.chunker, by.by).Scan(&id)
	}
	c[by] = id
	return id, err
}

// bury notes that a version of a file is dead from generation died on, so that
// a search does not count its terms, which a tier may hold.
func (db *DB) bury(tx *sqlite.Tx, collection int64, f titled, died int64, old *fileIndex) error {
	return tx.Do(`INSERT INTO dead(collection, file, version, died, body, analysis) VALUES(?, ?, ?, ?, ?, ?)`,
		collection, f.id, f.version, died, old.encode(), db.analysis())
}

// oldIndex returns the index of a file whose chunks are about to change.
func (db *DB) oldIndex(tx *sqlite.Tx, f titled) (*fileIndex, error) {
	list, err := db.fileIndexes(tx, []titled{f})
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// chunkRow is all of a chunk's row but its text, for which the hash stands.
type chunkRow struct {
	id                   string
	ordinal              int
	start, end           int
	startLine, endLine   int
	lines                string
	page                 int
	breaks               string
	kind, headings, hash string
	cut                  string
}

// putChunks deletes the rows that are not wanted any more and inserts what is
// new.
func putChunks(in *inserts, collection, file int64, chunks []state.Chunk, p *prepared, book int64) (changed bool, err error) {
	old, err := chunkRows(in.tx, file)
	if err != nil {
		return false, err
	}
	want := make([]chunkRow, len(chunks))
	for i, c := range chunks {
		made := &p.chunks[i]
		want[i] = chunkRow{c.ID, c.Ordinal, c.Start, c.End, c.StartLine, c.EndLine, made.lines, c.Page, made.breaks, c.Kind, made.headings, made.hash, made.cuts}
	}
	kept := make([]bool, len(want))
	for rev, row := range old {
		if i := row.ordinal; i < len(want) && want[i] == row {
			kept[i] = true
			continue
		}
		changed = true
		if _, err := in.tx.Exec(`DELETE FROM chunks WHERE rev = ?`, rev); err != nil {
			return false, err
		}
	}
	for i := range want {
		if kept[i] {
			continue
		}
		changed = true
		if err := in.chunk(collection, file, &chunks[i], p, book); err != nil {
			return false, err
		}
	}
	return changed, in.flush()
}

func chunkRows(tx *sqlite.Tx, file int64) (map[int64]chunkRow, error) {
	out := map[int64]chunkRow{}
	err := each(tx, func(rows row) error {
		var rev int64
		var r chunkRow
		err := rows.Scan(&rev, (*idColumn)(&r.id), &r.ordinal, &r.start, &r.end, &r.startLine, &r.endLine, &r.lines, &r.page, &r.breaks, &r.kind, &r.headings, (*hashColumn)(&r.hash), &r.cut)
		out[rev] = r
		return err
	}, `SELECT rev, id, ordinal, start, "end", start_line, end_line, lines, page, breaks, kind, headings, hash, cut FROM chunks WHERE file = ?`, file)
	return out, err
}
