package index

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/state"
)

// prepared is what can be made of an entry before the transaction begins.
type prepared struct {
	meta     string
	links    string // JSON; empty: none
	analysis string
	terms    []byte
	headings []string // JSON, by chunk
	lines    []string // JSON or empty, by chunk
	breaks   []string // likewise
	cuts     []string // likewise
	hashes   []string // by chunk
}

// prepareAll checks and analyzes entries side by side.
func (db *DB) prepareAll(entries []Entry) ([]prepared, error) {
	out := make([]prepared, len(entries))
	errs := make([]error, len(entries))
	workers := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i := range entries {
		workers <- struct{}{}
		wg.Go(func() {
			defer func() { <-workers }()
			out[i], errs[i] = db.prepare(entries[i])
		})
	}
	wg.Wait()
	return out, errors.Join(errs...)
}

func (db *DB) prepare(e Entry) (prepared, error) {
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
		meta:     string(meta),
		links:    links,
		analysis: db.analysis(),
		terms:    encodeTerms(db.analyzer, e.File.Title, e.Chunks),
		headings: make([]string, len(e.Chunks)),
		lines:    make([]string, len(e.Chunks)),
		breaks:   make([]string, len(e.Chunks)),
		cuts:     make([]string, len(e.Chunks)),
		hashes:   make([]string, len(e.Chunks)),
	}
	for i, c := range e.Chunks {
		if c.ID == "" || c.Text == "" || c.Ordinal != i {
			return prepared{}, fmt.Errorf("%q: chunk %d has no id, no text or ordinal %d", e.File.Source, i, c.Ordinal)
		}
		headings, err := json.Marshal(c.Headings)
		if err != nil {
			return prepared{}, fmt.Errorf("%q: %w", e.File.Source, err)
		}
		p.headings[i] = string(headings)
		if len(c.Lines) > 0 {
			lines, err := json.Marshal(c.Lines)
			if err != nil {
				return prepared{}, fmt.Errorf("%q: %w", e.File.Source, err)
			}
			p.lines[i] = string(lines)
		}
		if len(c.Breaks) > 0 {
			breaks, err := json.Marshal(c.Breaks)
			if err != nil {
				return prepared{}, fmt.Errorf("%q: %w", e.File.Source, err)
			}
			p.breaks[i] = string(breaks)
		}
		if c.Cut.Chunker = ""; c.Cut != (state.Cut{}) { // the chunker stands with the file
			cut, err := json.Marshal(c.Cut)
			if err != nil {
				return prepared{}, fmt.Errorf("%q: %w", e.File.Source, err)
			}
			p.cuts[i] = string(cut)
		}
		p.hashes[i] = c.Hash
		if c.Hash == "" {
			sum := sha256.Sum256([]byte(c.Text))
			p.hashes[i] = hex.EncodeToString(sum[:])
		}
	}
	return p, nil
}

// putFile saves one file and reports whether a search could tell. Then its
// version is next.
func putFile(tx *sqlite.Tx, collection, next int64, e Entry, p *prepared) (changed bool, err error) {
	f := e.File
	cutBy := ""
	if len(e.Chunks) > 0 {
		cutBy = e.Chunks[0].Cut.Chunker
	}
	var title, url, meta string
	var version int64
	var chunks int
	err = tx.QueryRow(`SELECT title, url, meta, version, chunks FROM files WHERE collection = ? AND source = ?`, collection, f.Source).
		Scan(&title, &url, &meta, &version, &chunks)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	known := err == nil
	changed = !known || title != f.Title || url != f.URL || meta != p.meta
	var file int64
	if err := tx.QueryRow(`INSERT INTO files(collection, version, source, size, mtime, hash, title, chunker, meta, url, error, chunks, cut_by)
		VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT(collection, source) DO UPDATE SET size = excluded.size, mtime = excluded.mtime, hash = excluded.hash,
			title = excluded.title, chunker = excluded.chunker, meta = excluded.meta, url = excluded.url, error = excluded.error, chunks = excluded.chunks,
			cut_by = excluded.cut_by
		RETURNING id`,
		collection, next, f.Source, f.Size, f.ModTime.UnixNano(), f.Hash, f.Title, f.Chunker, p.meta, f.URL, f.Error, len(e.Chunks), cutBy).Scan(&file); err != nil {
		return false, err
	}
	moved, err := putChunks(tx, collection, file, e.Chunks, p)
	if err != nil {
		return false, err
	}
	linked, err := putLinks(tx, file, p.links)
	if err != nil {
		return false, err
	}
	before, again, err := putTerms(tx, file, p.analysis, p.terms)
	if changed = changed || moved || linked || again; err != nil || !changed || !known || version == next {
		return changed, err
	}
	return true, supersede(tx, file, version, next, chunks, before)
}

// supersede gives a file its next version. What it was, with its terms, is dead.
func supersede(tx *sqlite.Tx, file, version, next int64, chunks int, terms []byte) error {
	if chunks > 0 {
		if _, err := tx.Exec(`INSERT INTO dead(collection, file, version, died, body) SELECT collection, id, ?, ?, ? FROM files WHERE id = ?`,
			version, next, terms, file); err != nil {
			return err
		}
	}
	_, err := tx.Exec(`UPDATE files SET version = ? WHERE id = ?`, next, file)
	return err
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
func putChunks(tx *sqlite.Tx, collection, file int64, chunks []state.Chunk, p *prepared) (changed bool, err error) {
	old, err := chunkRows(tx, file)
	if err != nil {
		return false, err
	}
	want := make([]chunkRow, len(chunks))
	for i, c := range chunks {
		want[i] = chunkRow{c.ID, c.Ordinal, c.Start, c.End, c.StartLine, c.EndLine, p.lines[i], c.Page, p.breaks[i], c.Kind, p.headings[i], p.hashes[i], p.cuts[i]}
	}
	kept := make([]bool, len(want))
	for rev, row := range old {
		if i := row.ordinal; i < len(want) && want[i] == row {
			kept[i] = true
			continue
		}
		changed = true
		if _, err := tx.Exec(`DELETE FROM chunks WHERE rev = ?`, rev); err != nil {
			return false, err
		}
	}
	for i, row := range want {
		if kept[i] {
			continue
		}
		changed = true
		if _, err := tx.Exec(`INSERT INTO chunks(collection, file, id, ordinal, start, "end", start_line, end_line, lines, page, breaks, kind, headings, text, hash, cut)
			VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			collection, file, row.id, row.ordinal, row.start, row.end, row.startLine, row.endLine, row.lines, row.page, row.breaks, row.kind, row.headings, chunks[i].Text, row.hash, row.cut); err != nil {
			return false, fmt.Errorf("chunk %d: %w", i, err)
		}
	}
	return changed, nil
}

func chunkRows(tx *sqlite.Tx, file int64) (map[int64]chunkRow, error) {
	out := map[int64]chunkRow{}
	err := each(tx, func(rows row) error {
		var rev int64
		var r chunkRow
		err := rows.Scan(&rev, &r.id, &r.ordinal, &r.start, &r.end, &r.startLine, &r.endLine, &r.lines, &r.page, &r.breaks, &r.kind, &r.headings, &r.hash, &r.cut)
		out[rev] = r
		return err
	}, `SELECT rev, id, ordinal, start, "end", start_line, end_line, lines, page, breaks, kind, headings, hash, cut FROM chunks WHERE file = ?`, file)
	return out, err
}

// putTerms saves the terms of a file and returns those it had before.
func putTerms(tx *sqlite.Tx, file int64, analysis string, terms []byte) (before []byte, changed bool, err error) {
	var by string
	err = tx.QueryRow(`SELECT analysis, body FROM terms WHERE file = ?`, file).Scan(&by, &before)
	switch {
	case err == nil && by == analysis && bytes.Equal(before, terms):
		return before, false, nil
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return nil, false, err
	}
	_, err = tx.Exec(`INSERT OR REPLACE INTO terms(file, analysis, body) VALUES(?, ?, ?)`, file, analysis, terms)
	return before, true, err
}

// reanalyze brings the terms of a collection up to date after the analyzer
// changed. Its files change by that as if they had been put.
func (db *DB) reanalyze(ctx context.Context, root string) error {
	for {
		left := 0
		err := db.change(ctx, "analyze", root, false, func(tx *sqlite.Tx, collection, next int64) (bool, error) {
			files, err := staleFiles(tx, collection, db.analysis())
			left = len(files)
			if err != nil {
				return false, err
			}
			for _, f := range files {
				chunks, err := fileChunks(tx, f.id)
				if err != nil {
					return false, err
				}
				before, _, err := putTerms(tx, f.id, db.analysis(), encodeTerms(db.analyzer, f.title, chunks))
				if err == nil {
					err = supersede(tx, f.id, f.version, next, f.chunks, before)
				}
				if err != nil {
					return false, err
				}
			}
			return left > 0, nil
		})
		if err != nil || left == 0 {
			return err
		}
	}
}

// staleFile is a file whose terms another analyzer made.
type staleFile struct {
	id, version int64
	title       string
	chunks      int
}

// staleFiles returns some of them.
func staleFiles(tx *sqlite.Tx, collection int64, analysis string) (out []staleFile, err error) {
	err = each(tx, func(rows row) error {
		var f staleFile
		err := rows.Scan(&f.id, &f.version, &f.title, &f.chunks)
		out = append(out, f)
		return err
	}, `SELECT f.id, f.version, f.title, f.chunks FROM files f JOIN terms t ON t.file = f.id
		WHERE f.collection = ? AND t.analysis <> ? LIMIT 64`, collection, analysis)
	return out, err
}
