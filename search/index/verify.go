package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"example.com/ragflow/internal/parallel"
	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// Verify checks the database and its segments: SQLite's own check, references that lead
// nowhere, chunks whose text has another hash, vectors of another length than their embedder
// makes, and segments that cannot be read or lack a file. Nothing is changed. Writers may go
// on meanwhile; each file is checked as it was at one moment. An index without faults gives no
// findings.
func (db *DB) Verify(ctx context.Context, o search.VerifyOptions) ([]search.Finding, error) {
	out, err := db.verifyDatabase(ctx)
	if err != nil {
		return nil, fmt.Errorf("verify index: %w", err)
	}
	collections, err := db.Collections(ctx)
	if err != nil {
		return nil, err
	}
	v := verification{db: db, VerifyOptions: o}
	for _, c := range collections {
		v.total += c.Files
	}
	for _, c := range collections {
		found, err := v.files(ctx, c.Root)
		if err != nil {
			return nil, fmt.Errorf("verify %q: %w", c.Root, err)
		}
		out = append(out, found...)
		if found, err = db.verifySegments(ctx, c.Root); err != nil {
			return nil, fmt.Errorf("verify %q: %w", c.Root, err)
		}
		out = append(out, found...)
	}
	return out, nil
}

// verifyDatabase returns what is wrong with the tables.
func (db *DB) verifyDatabase(ctx context.Context) (out []search.Finding, err error) {
	err = db.sql.Read(ctx, func(tx *sqlite.Tx) (err error) {
		out, err = collect(tx, func(r row, f *search.Finding) error { return r.Scan(&f.What) }, `
			SELECT 'SQLite: ' || integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'
			UNION ALL SELECT count(*) || ' files without a collection' FROM files
				WHERE collection NOT IN (SELECT id FROM collections) HAVING count(*) > 0
			UNION ALL SELECT count(*) || ' chunks without a file' FROM chunks
				WHERE file NOT IN (SELECT id FROM files) HAVING count(*) > 0
			UNION ALL SELECT count(*) || ' chunks in another collection than their file' FROM chunks c JOIN files f ON f.id = c.file
				WHERE f.collection <> c.collection HAVING count(*) > 0
			UNION ALL SELECT count(*) || ' vectors of another length than their embedder makes' FROM vectors v JOIN embedders e ON e.id = v.embedder
				WHERE length(v.vector) <> 4 * e.dimension HAVING count(*) > 0`)
		return err
	})
	return out, err
}

// verification is the part of Verify that checks files.
type verification struct {
	search.VerifyOptions

	db          *DB
	mu          sync.Mutex // of done
	done, total int        // files
}

// files checks the files of a collection on all cores, each in a transaction of its own, and
// returns what it found in the order in which they were put.
func (v *verification) files(ctx context.Context, root string) ([]search.Finding, error) {
	var ids []int64
	if err := v.db.sql.Read(ctx, func(tx *sqlite.Tx) (err error) {
		ids, err = collect(tx, func(r row, id *int64) error { return r.Scan(id) },
			`SELECT f.id FROM files f JOIN collections c ON c.id = f.collection WHERE c.root = ? ORDER BY f.id`, root)
		return err
	}); err != nil {
		return nil, err
	}
	found, faults := make([][]search.Finding, len(ids)), make([]error, len(ids))
	parallel.Each(len(ids), func(i int) {
		found[i], faults[i] = v.file(ctx, root, ids[i])
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.done++; v.Progress != nil {
			v.Progress(v.done, max(v.total, v.done))
		}
	})
	return slices.Concat(found...), errors.Join(faults...)
}

// file returns what is wrong with a file; nothing where it is gone meanwhile.
func (v *verification) file(ctx context.Context, root string, id int64) (out []search.Finding, err error) {
	var f search.File
	var chunks []state.Chunk
	err = v.db.sql.Read(ctx, func(tx *sqlite.Tx) (err error) {
		if f, err = scanFile(tx.QueryRow(selectFiles+`WHERE f.id = ?`, id)); err == nil {
			chunks, err = fileChunks(tx, id)
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
	if v.Check != nil {
		what = append(what, v.Check(root, f, chunks)...)
	}
	for _, w := range what {
		out = append(out, search.Finding{Root: root, Source: f.Source, What: w})
	}
	return out, nil
}

// verifySegments checks that each published segment can be read, and that each file that was
// published is in one of them as it is now, and in one only. A segment that is missing is no
// fault: it is made again when it is needed.
func (db *DB) verifySegments(ctx context.Context, root string) (out []search.Finding, err error) {
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
			s, err := db.load(m.key(r))
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				out = append(out, search.Finding{Root: root, What: fmt.Sprintf("segment: %v", err)})
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
				out = append(out, search.Finding{Root: root, Source: source, What: fmt.Sprintf("%d segments hold it, not 1", n)})
			}
			return err
		}, `SELECT id, version, source FROM files WHERE collection = ? AND version <= ? AND chunks > 0 ORDER BY source`, m.collection, m.published())
	})
	return out, err
}
