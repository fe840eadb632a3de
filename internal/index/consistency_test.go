package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// Finding is something in an index that is wrong.
type Finding struct{ Root, Source, What string }

// Verify checks the database and its segments for tests: SQLite's own check, references that
// lead nowhere, chunks whose text has another hash, vectors of another length than their
// embedder makes, and segments that cannot be read or lack a file.
func (db *DB) Verify(ctx context.Context) ([]Finding, error) {
	out, files, roots, err := db.verifyDatabase(ctx)
	if err != nil {
		return nil, fmt.Errorf("verify index: %w", err)
	}
	for _, f := range files {
		found, err := db.verifyFile(ctx, f)
		if err != nil {
			return nil, fmt.Errorf("verify %q: %w", f.root, err)
		}
		out = append(out, found...)
	}
	for _, root := range roots {
		found, err := db.verifySegments(ctx, root)
		if err != nil {
			return nil, fmt.Errorf("verify %q: %w", root, err)
		}
		out = append(out, found...)
	}
	return out, nil
}

// storedFile is a file of a collection.
type storedFile struct {
	id   int64
	root string
}

// verifyDatabase returns the faults of the tables, and the files and roots to verify.
func (db *DB) verifyDatabase(ctx context.Context) (out []Finding, files []storedFile, roots []string, err error) {
	err = db.sql.Read(ctx, func(tx *sqlite.Tx) (err error) {
		if roots, err = collect(tx, func(r row, root *string) error { return r.Scan(root) }, `SELECT root FROM collections ORDER BY root`); err != nil {
			return err
		}
		if files, err = collect(tx, func(r row, f *storedFile) error { return r.Scan(&f.id, &f.root) },
			`SELECT f.id, c.root FROM files f JOIN collections c ON c.id = f.collection ORDER BY c.root, f.id`); err != nil {
			return err
		}
		out, err = collect(tx, func(r row, f *Finding) error { return r.Scan(&f.What) }, `
			SELECT 'SQLite: ' || integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'
			UNION ALL SELECT count(*) || ' files without a collection' FROM files
				WHERE collection NOT IN (SELECT id FROM collections) HAVING count(*) > 0
			UNION ALL SELECT count(*) || ' chunks without a file' FROM chunks
				WHERE file NOT IN (SELECT id FROM files) HAVING count(*) > 0
			UNION ALL SELECT count(*) || ' chunks in another collection than their file' FROM chunks c JOIN files f ON f.id = c.file
				WHERE f.collection <> c.collection HAVING count(*) > 0
			UNION ALL SELECT count(*) || ' vectors of another length than their embedder makes' FROM vectors v JOIN embedders e ON e.id = v.embedder
				WHERE length(v.vector) NOT IN (4 + e.dimension, 4 * e.dimension) HAVING count(*) > 0`)
		return err
	})
	return out, files, roots, err
}

// verifyFile returns the faults of a file at one moment; none if it was deleted.
func (db *DB) verifyFile(ctx context.Context, stored storedFile) (out []Finding, err error) {
	var f search.File
	var chunks []state.Chunk
	err = db.sql.Read(ctx, func(tx *sqlite.Tx) (err error) {
		if f, err = scanFile(tx.QueryRow(selectFiles+`WHERE f.id = ?`, stored.id)); err == nil {
			chunks, err = fileChunks(tx, stored.id)
		}
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var what []string
	if len(chunks) != f.Chunks {
		what = append(what, fmt.Sprintf("%d chunks, not the %d that were put", len(chunks), f.Chunks))
	}
	for i, c := range chunks {
		if c.Ordinal != i {
			what = append(what, fmt.Sprintf("chunk %d is at place %d", c.Ordinal, i))
		}
		if textHash(c.Text) != c.Hash {
			what = append(what, fmt.Sprintf("the text of chunk %d is not what its hash says", i))
		}
	}
	for _, w := range what {
		out = append(out, Finding{Root: stored.root, Source: f.Source, What: w})
	}
	return out, nil
}

// verifySegments checks that each published segment can be read, and that each file that was
// published is in one of them as it is now, and in one only.
func (db *DB) verifySegments(ctx context.Context, root string) (out []Finding, err error) {
	type version struct{ id, version int64 }
	err = db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		out = nil
		var m manifest
		if err := m.read(tx, root, db.analysis()); errors.Is(err, search.ErrNotIndexed) {
			return nil // it was dropped meanwhile
		} else if err != nil {
			return err
		}
		held := map[version]int{} // segments by file
		for _, r := range m.segments {
			s, err := loadSegment(tx, m.key(r))
			if err != nil {
				out = append(out, Finding{Root: root, What: fmt.Sprintf("segment: %v", err)})
				return nil
			}
			for _, f := range s.Files {
				held[version{f.ID, f.Version}]++
			}
		}
		return each(tx, func(r row) error {
			var v version
			var source string
			err := r.Scan(&v.id, &v.version, &source)
			if n := held[v]; n != 1 {
				out = append(out, Finding{Root: root, Source: source, What: fmt.Sprintf("%d segments hold it, not 1", n)})
			}
			return err
		}, `SELECT id, version, source FROM files WHERE collection = ? AND version <= ? AND chunks > 0 ORDER BY source`, m.collection, m.published())
	})
	return out, err
}

// fileChunks reads the chunks of a file in order.
func fileChunks(tx *sqlite.Tx, file int64) ([]state.Chunk, error) {
	return collect(tx, scanChunk, `SELECT `+chunkColumns+` WHERE c.file = ? ORDER BY c.ordinal`, file)
}
