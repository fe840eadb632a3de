package index

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"example.com/ragflow/internal/parallel"
	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/state"
)

// Finding is something in an index that is not as it should be.
type Finding struct {
	Root   string // of the collection; empty where the whole database is meant
	Source string // of the file; empty where more than one is meant
	What   string
}

// VerifyOptions say what to check besides, and whom to tell. The zero value is
// ready for use.
type VerifyOptions struct {
	// Check is given each file with its chunks and says what is wrong with them. It
	// is called by several goroutines at a time; may be nil.
	Check func(root string, f File, chunks []state.Chunk) []string
	// Progress is told how many files of all were checked, by one goroutine at a
	// time; may be nil. It must not call the DB.
	Progress func(done, total int)
}

// Verify checks the database and its segments against each other: SQLite's own
// check, references that lead nowhere, chunks whose text is not what their hash
// says, vectors that their embedder cannot
// have made, and segments that are not what a fresh merge makes. Nothing is changed. Writers may go on meanwhile; each file
// is checked as it was at one moment. Files are checked side by side on all
// cores, and told of in the order in which they were put. An index without faults
// gives no findings.
func (db *DB) Verify(ctx context.Context, o VerifyOptions) ([]Finding, error) {
	out, err := db.verifyDatabase(ctx)
	if err != nil {
		return nil, fmt.Errorf("verify index: %w", err)
	}
	collections, err := db.Collections(ctx)
	if err != nil {
		return nil, err
	}
	total, done := 0, 0
	for _, c := range collections {
		total += c.Files
	}
	tell := func(n int) {
		done += n
		if o.Progress != nil {
			o.Progress(done, max(total, done))
		}
	}
	for _, c := range collections {
		found, err := db.verifyFiles(ctx, c.Root, o.Check, tell)
		if err != nil {
			return nil, fmt.Errorf("verify %q: %w", c.Root, err)
		}
		out = append(out, found...)
		if found, err = db.verifyTiers(ctx, c.Root); err != nil {
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
			UNION ALL SELECT 'chunks in another collection than their file', count(*)
				FROM chunks c JOIN files f ON f.id = c.file WHERE f.collection <> c.collection
			UNION ALL SELECT 'vectors of another length than their embedder makes', count(*)
				FROM vectors v JOIN embedders e ON e.id = v.embedder WHERE length(v.vector) <> 4 * e.dimension`)
	})
	return out, err
}

// verifyFiles checks the files of a collection, a few at a time, so that little
// is held in memory, and each in a transaction of its own, so that none is long.
func (db *DB) verifyFiles(ctx context.Context, root string, check func(string, File, []state.Chunk) []string, tell func(int)) (out []Finding, err error) {
	const some = 256
	for after := int64(0); ; {
		var ids []int64
		if err := db.sql.Read(ctx, func(tx *sqlite.Tx) error {
			ids = nil
			return each(tx, func(r row) error {
				var id int64
				err := r.Scan(&id)
				ids = append(ids, id)
				return err
			}, `SELECT f.id FROM files f JOIN collections c ON c.id = f.collection
				WHERE c.root = ? AND f.id > ? ORDER BY f.id LIMIT ?`, root, after, some)
		}); err != nil {
			return out, err
		}
		if len(ids) == 0 {
			return out, nil
		}
		after = ids[len(ids)-1]
		found := make([][]Finding, len(ids))
		faults := make([]error, len(ids))
		parallel.Each(len(ids), func(i int) { found[i], faults[i] = db.verifyFile(ctx, root, ids[i], check) })
		if err := errors.Join(faults...); err != nil {
			return out, err
		}
		out = slices.Concat(append([][]Finding{out}, found...)...)
		tell(len(ids))
	}
}

// stored is what the index holds of a file.
type stored struct {
	file   File
	chunks []state.Chunk
}

// verifyFile tells what is wrong with a file. One that is gone meanwhile is not
// looked at.
func (db *DB) verifyFile(ctx context.Context, root string, id int64, check func(string, File, []state.Chunk) []string) (out []Finding, err error) {
	var s stored
	err = db.sql.Read(ctx, func(tx *sqlite.Tx) (err error) {
		s = stored{}
		if s.file, err = scanFile(tx.QueryRow(selectFiles+`WHERE f.id = ?`, id)); err != nil {
			return err
		}
		s.chunks, err = fileChunks(tx, id)
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	what := s.faults()
	if check != nil {
		what = append(what, check(root, s.file, s.chunks)...)
	}
	for _, w := range what {
		out = append(out, Finding{root, s.file.Source, w})
	}
	return out, nil
}

// faults tells what is wrong with a file by itself.
func (s *stored) faults() (out []string) {
	if len(s.chunks) != s.file.Chunks {
		out = append(out, fmt.Sprintf("%d chunks, not the %d that were put", len(s.chunks), s.file.Chunks))
	}
	for i, c := range s.chunks {
		if c.Ordinal != i {
			out = append(out, fmt.Sprintf("chunk %d stands at place %d", c.Ordinal, i))
		}
		if sum := sha256.Sum256([]byte(c.Text)); hex.EncodeToString(sum[:]) != c.Hash {
			out = append(out, fmt.Sprintf("the text of chunk %d is not what its hash says", i))
		}
	}
	return out
}
