package index

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"example.com/ragflow/internal/parallel"
	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/state"
)

// Put saves files with their chunks, all or none, in place of what the index
// held of them. Chunks that did not change keep their rows. A batch of some
// hundred files costs little more than one file. What was put is found by every
// Searcher made afterwards.
func (db *DB) Put(ctx context.Context, root string, entries []Entry) error {
	b, err := db.Prepare(ctx, root, entries)
	if err != nil {
		return err
	}
	return b.Save(ctx)
}

// Batch is a list of entries that are ready to be saved.
type Batch struct {
	db       *DB
	root     string
	entries  []Entry
	prepared []prepared
}

// Prepare does what [DB.Put] does before it saves, on all cores: it checks and encodes
// entries, which must not be changed before [Batch.Save] returns. So the next batch can be
// prepared while one is saved.
func (db *DB) Prepare(_ context.Context, root string, entries []Entry) (*Batch, error) {
	b := &Batch{db: db, root: root, entries: entries, prepared: make([]prepared, len(entries))}
	faults := make([]error, len(entries))
	parallel.Each(len(entries), func(i int) { b.prepared[i], faults[i] = prepare(&entries[i]) })
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("put into %q: %w", root, err)
	}
	return b, nil
}

// Save saves all entries of the batch, or none.
func (b *Batch) Save(ctx context.Context) error {
	return b.db.change(ctx, "put into", b.root, true, func(tx *sqlite.Tx, collection, next int64) (bool, error) {
		held, err := knownFiles(tx, collection, b.entries)
		if err != nil {
			return false, err
		}
		changed := false
		for i := range b.entries {
			e := &b.entries[i]
			now, moved, err := b.db.put(tx, collection, next, e, &b.prepared[i], held[e.File.Source])
			if err != nil {
				return false, fmt.Errorf("%q: %w", e.File.Source, err)
			}
			held[e.File.Source] = now
			changed = changed || moved
		}
		return changed, nil
	})
}

// prepared is what is made of an entry before the transaction begins.
type prepared struct {
	meta   string
	links  string // JSON; empty: none
	weight int64  // see weight
	rows   []chunkRow
}

// chunkRow is all of a chunk's row but its text, which the hash identifies.
type chunkRow struct {
	id                 string
	ordinal            int
	start, end         int
	startLine, endLine int
	page               int
	kind               string
	headings           string // JSON
	lines, breaks, cut string // JSON or empty
	hash               string
}

func prepare(e *Entry) (p prepared, err error) {
	if e.File.Source == "" {
		return p, errors.New("a file without a source")
	}
	fail := func(err error) (prepared, error) { return prepared{}, fmt.Errorf("%q: %w", e.File.Source, err) }
	meta, err := e.File.encodeMeta()
	if err != nil {
		return fail(err)
	}
	p = prepared{meta: string(meta), weight: weight(e.Chunks), rows: make([]chunkRow, len(e.Chunks))}
	if p.links, err = encodeLinks(e.Links); err != nil {
		return fail(err)
	}
	for i := range e.Chunks {
		c := &e.Chunks[i]
		if c.ID == "" || c.Text == "" || c.Ordinal != i {
			return fail(fmt.Errorf("chunk %d has no id, no text or ordinal %d", i, c.Ordinal))
		}
		if p.rows[i], err = newChunkRow(c); err != nil {
			return fail(err)
		}
	}
	return p, nil
}

func newChunkRow(c *state.Chunk) (chunkRow, error) {
	row := chunkRow{
		id: c.ID, ordinal: c.Ordinal, start: c.Start, end: c.End, startLine: c.StartLine, endLine: c.EndLine,
		page: c.Page, kind: c.Kind, hash: c.Hash,
	}
	if row.hash == "" {
		sum := sha256.Sum256([]byte(c.Text))
		row.hash = hex.EncodeToString(sum[:])
	}
	cut := c.Cut
	cut.Chunker = "" // stands with the file
	for _, column := range []struct {
		to    *string
		value any
		none  bool
	}{
		{&row.headings, c.Headings, false},
		{&row.lines, c.Lines, len(c.Lines) == 0},
		{&row.breaks, c.Breaks, len(c.Breaks) == 0},
		{&row.cut, cut, cut == (state.Cut{})},
	} {
		if column.none {
			continue
		}
		data, err := json.Marshal(column.value)
		if err != nil {
			return row, err
		}
		*column.to = string(data)
	}
	return row, nil
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

// put saves one file and reports whether that changes what a search finds. Its version is
// next then. before is what the index held of it, its id 0 for nothing.
func (db *DB) put(tx *sqlite.Tx, collection, next int64, e *Entry, p *prepared, before known) (now known, changed bool, err error) {
	f, cutBy := &e.File, ""
	if len(e.Chunks) > 0 {
		cutBy = e.Chunks[0].Cut.Chunker
	}
	now = known{titled{before.id, before.version, f.Title}, f.URL, p.meta, len(e.Chunks)}
	if before.id == 0 {
		now.version = next
		if err := tx.QueryRow(`INSERT INTO files(collection, version, source, size, mtime, hash, title, chunker, cut_by, meta, url, error, chunks, weight)
			VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
			collection, next, f.Source, f.Size, f.ModTime.UnixNano(), f.Hash, f.Title, f.Chunker, cutBy, p.meta, f.URL, f.Error, len(e.Chunks), p.weight).Scan(&now.id); err != nil {
			return now, false, err
		}
		for i := range p.rows {
			if err := putChunk(tx, collection, now.id, &p.rows[i], e.Chunks[i].Text); err != nil {
				return now, false, err
			}
		}
		if p.links != "" {
			_, err = putLinks(tx, now.id, p.links)
		}
		return now, true, err
	}
	var old *fileIndex
	if before.chunks > 0 && before.version != next {
		if old, err = db.oldIndex(tx, before.titled); err != nil {
			return now, false, err
		}
	}
	moved, err := putChunks(tx, collection, before.id, e, p)
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
	if err := tx.Do(`UPDATE files SET version = ?, size = ?, mtime = ?, hash = ?, title = ?, chunker = ?, cut_by = ?, meta = ?, url = ?, error = ?, chunks = ?, weight = ?
		WHERE id = ?`, now.version, f.Size, f.ModTime.UnixNano(), f.Hash, f.Title, f.Chunker, cutBy, p.meta, f.URL, f.Error, len(e.Chunks), p.weight, before.id); err != nil {
		return now, false, err
	}
	if changed && old != nil {
		err = db.bury(tx, collection, before.titled, next, old)
	}
	return now, changed, err
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

// putChunks deletes the rows of a file that changed or went and inserts what is new.
func putChunks(tx *sqlite.Tx, collection, file int64, e *Entry, p *prepared) (changed bool, err error) {
	old, err := chunkRows(tx, file)
	if err != nil {
		return false, err
	}
	kept := make([]bool, len(p.rows))
	for rev, row := range old {
		if i := row.ordinal; i < len(p.rows) && p.rows[i] == row {
			kept[i] = true
			continue
		}
		changed = true
		if err := tx.Do(`DELETE FROM chunks WHERE rev = ?`, rev); err != nil {
			return false, err
		}
	}
	for i := range p.rows {
		if kept[i] {
			continue
		}
		changed = true
		if err := putChunk(tx, collection, file, &p.rows[i], e.Chunks[i].Text); err != nil {
			return false, err
		}
	}
	return changed, nil
}

func putChunk(tx *sqlite.Tx, collection, file int64, r *chunkRow, text string) error {
	err := tx.Do(`INSERT INTO chunks(collection, file, id, ordinal, start, "end", start_line, end_line, page, kind, headings, lines, breaks, cut, hash, text)
		VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		collection, file, r.id, r.ordinal, r.start, r.end, r.startLine, r.endLine, r.page, r.kind, r.headings, r.lines, r.breaks, r.cut, r.hash, text)
	if err != nil {
		return fmt.Errorf("chunk %s: %w", r.id, err)
	}
	return nil
}

func chunkRows(tx *sqlite.Tx, file int64) (map[int64]chunkRow, error) {
	out := map[int64]chunkRow{}
	err := each(tx, func(rows row) error {
		var rev int64
		var r chunkRow
		err := rows.Scan(&rev, &r.id, &r.ordinal, &r.start, &r.end, &r.startLine, &r.endLine, &r.page, &r.kind, &r.headings, &r.lines, &r.breaks, &r.cut, &r.hash)
		out[rev] = r
		return err
	}, `SELECT rev, id, ordinal, start, "end", start_line, end_line, page, kind, headings, lines, breaks, cut, hash FROM chunks WHERE file = ?`, file)
	return out, err
}
