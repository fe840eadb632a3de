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
	"slices"
	"sync"
	"time"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/state"
)

// File is a file as the index knows it.
type File struct {
	Source  string            // path under the root, with slashes
	Size    int64             // bytes
	ModTime time.Time         // to the nanosecond; the zone is not kept
	Hash    string            // SHA-256 of its bytes, in hex
	Title   string            // of the document
	Chunker string            // fingerprint of what made its chunks; another one means chunking anew
	Meta    map[string]string // front matter and the like
	Error   string            // why it could not be read; empty: it could
	Chunks  int               // how many the index holds; Put counts them itself
}

// Entry is a file with its chunks, in order of Ordinal.
type Entry struct {
	File   File
	Chunks []state.Chunk
}

// Collection is what the index holds of one root.
type Collection struct {
	Root       string
	Files      int
	Chunks     int
	Generation int64 // moves with every change that a search could see
}

// Collections lists all collections by root.
func (db *DB) Collections(ctx context.Context) ([]Collection, error) {
	var out []Collection
	err := db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		out = nil
		rows, err := tx.Query(`SELECT c.root, c.generation, count(f.id), coalesce(sum(f.chunks), 0)
			FROM collections c LEFT JOIN files f ON f.collection = c.id GROUP BY c.id ORDER BY c.root`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var c Collection
			if err := rows.Scan(&c.Root, &c.Generation, &c.Files, &c.Chunks); err != nil {
				return err
			}
			out = append(out, c)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("list collections: %w", err)
	}
	return out, nil
}

// Files returns the files of root by source, to compare with what is on disk. A
// root that was never indexed has none.
func (db *DB) Files(ctx context.Context, root string) (map[string]File, error) {
	var out map[string]File
	err := db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		out = map[string]File{}
		rows, err := tx.Query(`SELECT f.source, f.size, f.mtime, f.hash, f.title, f.chunker, f.meta, f.error, f.chunks
			FROM files f JOIN collections c ON c.id = f.collection WHERE c.root = ?`, root)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var f File
			var mtime int64
			var meta []byte
			if err := rows.Scan(&f.Source, &f.Size, &mtime, &f.Hash, &f.Title, &f.Chunker, &meta, &f.Error, &f.Chunks); err != nil {
				return err
			}
			f.ModTime = time.Unix(0, mtime).UTC()
			if err := json.Unmarshal(meta, &f.Meta); err != nil {
				return fmt.Errorf("metadata of %q: %w", f.Source, err)
			}
			out[f.Source] = f
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("files of %q: %w", root, err)
	}
	return out, nil
}

// Put saves files with their chunks, all or none, in place of what the index
// held of them. Chunks that did not change keep their rows. A batch of some
// hundred files costs little more than one file. What was put is found by every
// Searcher made afterwards.
func (db *DB) Put(ctx context.Context, root string, entries []Entry) error {
	prepared, err := db.prepareAll(entries)
	if err != nil {
		return fmt.Errorf("put into %q: %w", root, err)
	}
	return db.change(ctx, "put into", root, func(tx *sqlite.Tx, collection int64) (bool, error) {
		changed := false
		for i, e := range entries {
			moved, err := putFile(tx, collection, e, &prepared[i])
			if err != nil {
				return false, fmt.Errorf("%q: %w", e.File.Source, err)
			}
			changed = changed || moved
		}
		return changed, nil
	})
}

// Touch saves size and time of files whose content was found unchanged. Files
// the index does not hold are left out.
func (db *DB) Touch(ctx context.Context, root string, files ...File) error {
	return db.change(ctx, "touch files of", root, func(tx *sqlite.Tx, collection int64) (bool, error) {
		for _, f := range files {
			if _, err := tx.Exec(`UPDATE files SET size = ?, mtime = ? WHERE collection = ? AND source = ?`,
				f.Size, f.ModTime.UnixNano(), collection, f.Source); err != nil {
				return false, err
			}
		}
		return false, nil
	})
}

// Delete takes files out, with all their chunks. Files the index does not hold
// are no error.
func (db *DB) Delete(ctx context.Context, root string, sources ...string) error {
	return db.change(ctx, "delete from", root, func(tx *sqlite.Tx, collection int64) (bool, error) {
		changed := false
		for _, s := range sources {
			r, err := tx.Exec(`DELETE FROM files WHERE collection = ? AND source = ?`, collection, s)
			if err != nil {
				return false, err
			}
			n, err := r.RowsAffected()
			if err != nil {
				return false, err
			}
			changed = changed || n > 0
		}
		return changed, nil
	})
}

// Drop takes a whole collection out. A root that was never indexed is no error.
func (db *DB) Drop(ctx context.Context, root string) error {
	var id int64
	err := db.sql.Write(ctx, func(tx *sqlite.Tx) error {
		id = 0
		err := tx.QueryRow(`DELETE FROM collections WHERE root = ? RETURNING id`, root).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("drop %q: %w", root, err)
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	delete(db.segments, id)
	db.sweep(id, "")
	return nil
}

// change runs fn in a transaction on the collection of root, made where it is
// missing, and moves the generation when fn reports a change.
func (db *DB) change(ctx context.Context, what, root string, fn func(tx *sqlite.Tx, collection int64) (bool, error)) error {
	if root == "" {
		return fmt.Errorf("%s a root without a path", what)
	}
	err := db.sql.Write(ctx, func(tx *sqlite.Tx) error {
		if _, err := tx.Exec(`INSERT INTO collections(root) VALUES(?) ON CONFLICT DO NOTHING`, root); err != nil {
			return err
		}
		var id int64
		if err := tx.QueryRow(`SELECT id FROM collections WHERE root = ?`, root).Scan(&id); err != nil {
			return err
		}
		changed, err := fn(tx, id)
		if err != nil || !changed {
			return err
		}
		_, err = tx.Exec(`UPDATE collections SET generation = generation + 1 WHERE id = ?`, id)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s %q: %w", what, root, err)
	}
	return nil
}

// prepared is what can be made of an entry before the transaction begins.
type prepared struct {
	meta     string
	analysis string
	terms    []byte
	headings []string // JSON, by chunk
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
	meta, err := json.Marshal(e.File.Meta)
	if err != nil {
		return prepared{}, fmt.Errorf("%q: %w", e.File.Source, err)
	}
	p := prepared{
		meta:     string(meta),
		analysis: db.analysis(),
		terms:    encodeTerms(db.analyzer, e.File.Title, e.Chunks),
		headings: make([]string, len(e.Chunks)),
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
		p.hashes[i] = c.Hash
		if c.Hash == "" {
			sum := sha256.Sum256([]byte(c.Text))
			p.hashes[i] = hex.EncodeToString(sum[:])
		}
	}
	return p, nil
}

// putFile saves one file and reports whether a search could tell.
func putFile(tx *sqlite.Tx, collection int64, e Entry, p *prepared) (changed bool, err error) {
	f := e.File
	var title string
	err = tx.QueryRow(`SELECT title FROM files WHERE collection = ? AND source = ?`, collection, f.Source).Scan(&title)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	changed = err != nil || title != f.Title
	var file int64
	if err := tx.QueryRow(`INSERT INTO files(collection, source, size, mtime, hash, title, chunker, meta, error, chunks)
		VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT(collection, source) DO UPDATE SET size = excluded.size, mtime = excluded.mtime, hash = excluded.hash,
			title = excluded.title, chunker = excluded.chunker, meta = excluded.meta, error = excluded.error, chunks = excluded.chunks
		RETURNING id`,
		collection, f.Source, f.Size, f.ModTime.UnixNano(), f.Hash, f.Title, f.Chunker, p.meta, f.Error, len(e.Chunks)).Scan(&file); err != nil {
		return false, err
	}
	moved, err := putChunks(tx, collection, file, e.Chunks, p)
	if err != nil {
		return false, err
	}
	again, err := putTerms(tx, file, p.analysis, p.terms)
	return changed || moved || again, err
}

// chunkRow is all of a chunk's row but its text, for which the hash stands.
type chunkRow struct {
	id                      string
	ordinal                 int
	start, end              int
	startLine, endLine      int
	kind, headings, sumText string
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
		want[i] = chunkRow{c.ID, c.Ordinal, c.Start, c.End, c.StartLine, c.EndLine, c.Kind, p.headings[i], p.hashes[i]}
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
		if _, err := tx.Exec(`INSERT INTO chunks(collection, file, id, ordinal, start, "end", start_line, end_line, kind, headings, text, hash)
			VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			collection, file, row.id, row.ordinal, row.start, row.end, row.startLine, row.endLine, row.kind, row.headings, chunks[i].Text, row.sumText); err != nil {
			return false, fmt.Errorf("chunk %d: %w", i, err)
		}
	}
	return changed, nil
}

func chunkRows(tx *sqlite.Tx, file int64) (map[int64]chunkRow, error) {
	rows, err := tx.Query(`SELECT rev, id, ordinal, start, "end", start_line, end_line, kind, headings, hash FROM chunks WHERE file = ?`, file)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[int64]chunkRow{}
	for rows.Next() {
		var rev int64
		var r chunkRow
		if err := rows.Scan(&rev, &r.id, &r.ordinal, &r.start, &r.end, &r.startLine, &r.endLine, &r.kind, &r.headings, &r.sumText); err != nil {
			return nil, err
		}
		out[rev] = r
	}
	return out, rows.Err()
}

func putTerms(tx *sqlite.Tx, file int64, analysis string, terms []byte) (changed bool, err error) {
	var old []byte
	var by string
	err = tx.QueryRow(`SELECT analysis, body FROM terms WHERE file = ?`, file).Scan(&by, &old)
	switch {
	case err == nil && by == analysis && bytes.Equal(old, terms):
		return false, nil
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return false, err
	}
	_, err = tx.Exec(`INSERT OR REPLACE INTO terms(file, analysis, body) VALUES(?, ?, ?)`, file, analysis, terms)
	return true, err
}

// reanalyze brings the terms of a collection up to date after the analyzer
// changed.
func (db *DB) reanalyze(ctx context.Context, root string) error {
	for {
		left := 0
		err := db.change(ctx, "analyze", root, func(tx *sqlite.Tx, collection int64) (bool, error) {
			files, titles, err := staleFiles(tx, collection, db.analysis())
			left = len(files)
			if err != nil {
				return false, err
			}
			for i, file := range files {
				chunks, err := fileChunks(tx, file)
				if err != nil {
					return false, err
				}
				if _, err := putTerms(tx, file, db.analysis(), encodeTerms(db.analyzer, titles[i], chunks)); err != nil {
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

// staleFiles returns some files whose terms another analyzer made.
func staleFiles(tx *sqlite.Tx, collection int64, analysis string) (files []int64, titles []string, err error) {
	rows, err := tx.Query(`SELECT f.id, f.title FROM files f JOIN terms t ON t.file = f.id
		WHERE f.collection = ? AND t.analysis <> ? LIMIT 64`, collection, analysis)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		files, titles = append(files, 0), append(titles, "")
		if err := rows.Scan(&files[len(files)-1], &titles[len(files)-1]); err != nil {
			return nil, nil, err
		}
	}
	return slices.Clip(files), titles, rows.Err()
}
