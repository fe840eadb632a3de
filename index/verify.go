package index

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/state"
)

// Finding is something in an index that is not as it should be.
type Finding struct {
	Root   string // of the collection; empty where the whole database is meant
	Source string // of the file; empty where more than one is meant
	What   string
}

// Verify checks the database and its segments against each other: SQLite's own
// check, references that lead nowhere, chunks whose text is not what their hash
// says, terms that are not those of the chunks, and segments that are not what a
// fresh merge makes. Nothing is changed. Writers may go on meanwhile; each file
// is checked as it was at one moment. An index without faults gives no findings.
func (db *DB) Verify(ctx context.Context) ([]Finding, error) {
	out, err := db.verifyDatabase(ctx)
	if err != nil {
		return nil, fmt.Errorf("verify index: %w", err)
	}
	collections, err := db.Collections(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range collections {
		found, err := db.verifyFiles(ctx, c.Root)
		if err != nil {
			return nil, fmt.Errorf("verify %q: %w", c.Root, err)
		}
		out = append(out, found...)
		if found, err = db.verifySegment(ctx, c.Root); err != nil {
			return nil, fmt.Errorf("verify %q: %w", c.Root, err)
		}
		out = append(out, found...)
	}
	return out, nil
}

// verifyDatabase asks SQLite.
func (db *DB) verifyDatabase(ctx context.Context) (out []Finding, err error) {
	err = db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		out = nil
		if err := each(tx, func(r row) error {
			var s string
			err := r.Scan(&s)
			if s != "ok" {
				out = append(out, Finding{What: "SQLite: " + s})
			}
			return err
		}, `PRAGMA integrity_check`); err != nil {
			return err
		}
		return each(tx, func(r row) error {
			var what string
			var n int
			err := r.Scan(&what, &n)
			if n > 0 {
				out = append(out, Finding{What: fmt.Sprintf("%d %s", n, what)})
			}
			return err
		}, `SELECT 'files without a collection', count(*) FROM files WHERE collection NOT IN (SELECT id FROM collections)
			UNION ALL SELECT 'chunks without a file', count(*) FROM chunks WHERE file NOT IN (SELECT id FROM files)
			UNION ALL SELECT 'terms without a file', count(*) FROM terms WHERE file NOT IN (SELECT id FROM files)
			UNION ALL SELECT 'chunks in another collection than their file', count(*)
				FROM chunks c JOIN files f ON f.id = c.file WHERE f.collection <> c.collection`)
	})
	return out, err
}

// verifyFiles checks the files of a collection, a few in each transaction, so
// that none is long.
func (db *DB) verifyFiles(ctx context.Context, root string) (out []Finding, err error) {
	const some = 256
	for after := int64(0); ; {
		n := 0
		err := db.sql.Read(ctx, func(tx *sqlite.Tx) error {
			var ids []int64
			var sources, titles []string
			var counts []int
			if err := each(tx, func(r row) error {
				var id int64
				var source, title string
				var chunks int
				err := r.Scan(&id, &source, &title, &chunks)
				ids, sources, titles, counts = append(ids, id), append(sources, source), append(titles, title), append(counts, chunks)
				return err
			}, `SELECT f.id, f.source, f.title, f.chunks FROM files f JOIN collections c ON c.id = f.collection
				WHERE c.root = ? AND f.id > ? ORDER BY f.id LIMIT ?`, root, after, some); err != nil {
				return err
			}
			n = len(ids)
			for i, id := range ids {
				after = id
				chunks, err := fileChunks(tx, id)
				if err != nil {
					return err
				}
				what, err := db.faults(tx, id, titles[i], counts[i], chunks)
				if err != nil {
					return err
				}
				for _, w := range what {
					out = append(out, Finding{root, sources[i], w})
				}
			}
			return nil
		})
		if err != nil || n < some {
			return out, err
		}
	}
}

// faults tells what is wrong with a file.
func (db *DB) faults(tx *sqlite.Tx, file int64, title string, count int, chunks []state.Chunk) (out []string, err error) {
	if len(chunks) != count {
		out = append(out, fmt.Sprintf("%d chunks, not the %d that were put", len(chunks), count))
	}
	for i, c := range chunks {
		if c.Ordinal != i {
			out = append(out, fmt.Sprintf("chunk %d stands at place %d", c.Ordinal, i))
		}
		if sum := sha256.Sum256([]byte(c.Text)); hex.EncodeToString(sum[:]) != c.Hash {
			out = append(out, fmt.Sprintf("the text of chunk %d is not what its hash says", i))
		}
	}
	var analysis string
	var terms []byte
	err = tx.QueryRow(`SELECT coalesce(max(analysis), ''), coalesce(max(body), x'') FROM terms WHERE file = ?`, file).Scan(&analysis, &terms)
	switch {
	case err != nil:
		return nil, err
	case analysis == "" && len(chunks) == 0: // it never could be read
	case analysis == "":
		out = append(out, "no terms")
	case analysis == db.analysis() && !bytes.Equal(terms, encodeTerms(db.analyzer, title, chunks)):
		out = append(out, "the terms are not those of the chunks")
	}
	return out, nil
}

// verifySegment compares the file of the newest segment with a fresh merge. A
// segment that is missing is no fault: it is made when it is needed.
func (db *DB) verifySegment(ctx context.Context, root string) ([]Finding, error) {
	if db.folder == "" {
		return nil, nil
	}
	var found []Finding
	err := db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		found = nil
		want := stamp{database: db.id, analysis: db.analysis()}
		if err := want.read(tx, root); errors.Is(err, ErrNotIndexed) {
			return nil // it was dropped meanwhile
		} else if err != nil {
			return err
		}
		data, err := os.ReadFile(db.name(want))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		bad := func(what string) { found = []Finding{{Root: root, What: what}} }
		s, err := openSegment(data)
		if err != nil {
			bad(fmt.Sprintf("segment: %v", err))
			return nil
		}
		if !s.fits(want) {
			return nil // of another analyzer: it is made anew when it is needed
		}
		b, err := merge(tx, want, 0, nil)
		if err != nil {
			bad(fmt.Sprintf("merge: %v", err))
			return nil
		}
		fresh, err := b.finish(s.stamp)
		if err != nil {
			return err
		}
		if !bytes.Equal(fresh, data) {
			bad("the segment is not what a fresh merge makes")
		}
		return nil
	})
	return found, err
}

// FileChunks returns the chunks of a file in order; none where the index does
// not hold it.
func (db *DB) FileChunks(ctx context.Context, root, source string) ([]state.Chunk, error) {
	var out []state.Chunk
	err := db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		out = nil
		return each(tx, func(r row) error {
			c, err := scanChunk(r)
			out = append(out, c)
			return err
		}, selectChunks+`WHERE o.root = ? AND f.source = ? ORDER BY c.ordinal`, root, source)
	})
	if err != nil {
		return nil, fmt.Errorf("chunks of %q: %w", source, err)
	}
	return out, nil
}
