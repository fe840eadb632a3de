package index

import (
	"context"
	"fmt"

	"example.com/ragflow/internal/sqlite"
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

// Batch is entries that were made ready to be saved.
type Batch struct {
	db       *DB
	root     string
	entries  []Entry
	prepared []prepared
	book     *codebook
}

// Prepare does what [DB.Put] does before it saves, on all cores: it checks and analyzes
// entries, which must not be changed before [Batch.Save] returns. So the next batch can be
// made ready while one is saved. Batches are saved in the order in which they were
// prepared, one at a time.
func (db *DB) Prepare(ctx context.Context, root string, entries []Entry) (*Batch, error) {
	b := &Batch{db: db, root: root, entries: entries}
	var err error
	if b.book, err = db.codebookFor(ctx, entries); err == nil {
		b.prepared, err = db.prepareAll(entries, b.book)
	}
	if err != nil {
		return nil, fmt.Errorf("put into %q: %w", root, err)
	}
	return b, nil
}

// Save saves all entries of the batch, or none.
func (b *Batch) Save(ctx context.Context) error {
	db := b.db
	var book int64 // row of the codebook
	if err := db.change(ctx, "put into", b.root, true, func(tx *sqlite.Tx, collection, next int64) (bool, error) {
		held, err := knownFiles(tx, collection, b.entries)
		if err != nil {
			return false, err
		}
		if book, err = b.book.save(tx); err != nil {
			return false, err
		}
		var last int64
		if err := tx.QueryRow(`SELECT coalesce(max(id), 0) FROM files`).Scan(&last); err != nil {
			return false, err
		}
		changed, cut, in := false, cutters{}, newInserts(tx)
		for i := range b.entries {
			e := &b.entries[i]
			by, err := cut.row(tx, e.cutter())
			if err != nil {
				return false, err
			}
			now, moved, err := db.put(in, collection, next, e, &b.prepared[i], book, by, &last, held[e.File.Source])
			if err != nil {
				return false, fmt.Errorf("%q: %w", e.File.Source, err)
			}
			held[e.File.Source] = now
			changed = changed || moved
		}
		return changed, in.flush()
	}); err != nil {
		return err
	}
	db.books.saved(b.book, book)
	return nil
}

// codebookFor returns what the texts of entries are packed with.
func (db *DB) codebookFor(ctx context.Context, entries []Entry) (*codebook, error) {
	texts := make([]string, 0, len(entries))
	for i := range entries {
		for k := range entries[i].Chunks {
			texts = append(texts, entries[i].Chunks[k].Text)
		}
	}
	return db.books.choose(func(fn func(*sqlite.Tx) error) error { return db.sql.Read(ctx, fn) }, texts)
}
