package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// Embed makes the vectors that chunks of roots lack. Each text is embedded once for an
// embedder, whatever its file or collection, and never again while the index lives. Progress is
// saved even if Embed fails, and the report counts it. A text that the model refuses is tried
// again cut shorter, and skipped if that fails.
//
// If a collection has vectors of another embedder, the error is an [*search.EmbedderError],
// unless Switch is set: then searches use the old vectors until all new ones are made, and no
// search ever sees both.
func (db *DB) Embed(ctx context.Context, e search.VectorSpec, roots []string, o search.EmbedOptions) (*search.EmbedReport, error) {
	e, err := e.WithDefaults()
	if err != nil {
		return nil, err
	}
	r := &embedding{db: db, roots: roots}
	r.EmbedRun = search.EmbedRun[missing]{EmbedOptions: o, Spec: e, Read: r.read, Save: r.save}
	err = r.run(ctx)
	r.Report.Embedder = r.Spec
	if err != nil {
		return &r.Report, fmt.Errorf("embed with %s: %w", r.Spec.Model, err)
	}
	return &r.Report, nil
}

// embedding is one run of Embed.
type embedding struct {
	search.EmbedRun[missing]
	db       *DB
	id       int64 // row of the embedder; 0 until its dimension is known
	roots    []string
	rootList string // roots as JSON
}

func (r *embedding) run(ctx context.Context) error {
	list, err := json.Marshal(r.roots)
	if err != nil {
		return err
	}
	r.rootList = string(list)
	var todo []missing
	if err := r.db.sql.Read(ctx, func(tx *sqlite.Tx) (err error) {
		if err := r.admit(tx); err != nil {
			return err
		}
		if todo, err = r.missingVectors(tx); err != nil {
			return err
		}
		return tx.QueryRow(`SELECT coalesce(sum(f.chunks), 0), EXISTS(SELECT 1 FROM vectors WHERE embedder = ?)
			FROM files f JOIN collections c ON c.id = f.collection WHERE c.root IN (SELECT value FROM json_each(?))`, r.id, r.rootList).
			Scan(&r.Report.Chunks, &r.Begun)
	}); err != nil {
		return err
	}
	if err := r.store(ctx, nil, nil, false); err != nil {
		return err
	}
	if err := r.Run(ctx, todo); err != nil {
		return err
	}
	return r.store(ctx, nil, nil, r.Switch)
}

// admit refuses collections of another embedder and finds the row of this one.
func (r *embedding) admit(tx *sqlite.Tx) error {
	e := r.Spec
	for _, root := range r.roots {
		_, stored, found, err := collectionEmbedder(tx, root)
		switch {
		case err != nil:
			return err
		case found && e.Fits(stored):
			e.Dimension = stored.Dimension
		case found && !r.Switch:
			return &search.EmbedderError{Root: root, Stored: stored, Given: e}
		}
	}
	r.Spec = e
	// If no dimension is given, the newest row counts.
	err := tx.QueryRow(`SELECT id, dimension FROM embedders WHERE model = ? AND prefix = ? AND tokens = ?
		AND (dimension = ?4 OR ?4 = 0) ORDER BY id DESC LIMIT 1`, e.Model, e.Prefix, e.Tokens, e.Dimension).
		Scan(&r.id, &r.Spec.Dimension)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

func (r *embedding) save(ctx context.Context, list []missing, vectors [][]float32) error {
	return r.store(ctx, list, vectors, false)
}

// store saves vectors, and makes the embedder that of collections without one, or of all. The
// vectors were paid for, so ctx does not stop it. It does nothing until the dimension is known.
func (r *embedding) store(ctx context.Context, list []missing, vectors [][]float32, all bool) error {
	e := r.Spec
	if e.Dimension == 0 {
		return nil
	}
	return r.db.sql.Write(context.WithoutCancel(ctx), func(tx *sqlite.Tx) error {
		if err := tx.QueryRow(`INSERT INTO embedders(model, dimension, prefix, tokens) VALUES(?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET model = excluded.model RETURNING id`, e.Model, e.Dimension, e.Prefix, e.Tokens).Scan(&r.id); err != nil {
			return err
		}
		if err := tx.Do(`UPDATE collections SET embedder = ?1 WHERE root IN (SELECT value FROM json_each(?2)) AND (?3 OR embedder IS NULL)`,
			r.id, r.rootList, all); err != nil {
			return err
		}
		for i, v := range vectors {
			if err := tx.Do(`INSERT INTO vectors(embedder, key, vector) VALUES(?, ?, ?) ON CONFLICT DO NOTHING`, r.id, list[i].key, pack(v)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Embedder returns the embedder of root's vectors; found is false if it has none.
func (db *DB) Embedder(ctx context.Context, root string) (e search.VectorSpec, found bool, err error) {
	err = db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		_, e, found, err = collectionEmbedder(tx, root)
		return err
	})
	if err != nil {
		return e, false, fmt.Errorf("embedder of %q: %w", root, err)
	}
	return e, found, nil
}

func collectionEmbedder(tx *sqlite.Tx, root string) (id int64, e search.VectorSpec, found bool, err error) {
	err = tx.QueryRow(`SELECT e.id, e.model, e.dimension, e.prefix, e.tokens
		FROM collections c JOIN embedders e ON e.id = c.embedder WHERE c.root = ?`, root).
		Scan(&id, &e.Model, &e.Dimension, &e.Prefix, &e.Tokens)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, e, false, nil
	}
	return id, e, err == nil, err
}

// missing is a text without a vector.
type missing struct {
	key []byte // column passage of the chunk
	rev int64  // a chunk that holds it
}

// missingVectors returns the texts without a vector, each once, ordered by root, source and
// position.
func (r *embedding) missingVectors(tx *sqlite.Tx) (list []missing, err error) {
	seen := map[string]bool{}
	err = each(tx, func(from row) error {
		var m missing
		err := from.Scan(&m.key, &m.rev)
		if !seen[string(m.key)] {
			seen[string(m.key)] = true
			list = append(list, m)
		}
		return err
	}, `SELECT c.passage, c.rev FROM collections o JOIN files f ON f.collection = o.id JOIN chunks c ON c.file = f.id
		WHERE o.root IN (SELECT value FROM json_each(?)) AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.embedder = ? AND v.key = c.passage)
		ORDER BY o.root, f.source, c.ordinal`, r.rootList, r.id)
	return list, err
}

// read reads the texts to embed, without chunks that changed or were deleted meanwhile.
func (r *embedding) read(ctx context.Context, list []missing) (texts []string, kept []missing, err error) {
	err = r.db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		texts, kept = nil, nil
		for _, m := range list {
			var c state.Chunk
			var headings []byte
			err := tx.QueryRow(`SELECT f.title, c.headings, c.text FROM chunks c JOIN files f ON f.id = c.file WHERE c.rev = ?`, m.rev).
				Scan(&c.Title, &headings, &c.Text)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err == nil {
				err = json.Unmarshal(headings, &c.Headings)
			}
			if err != nil {
				return err
			}
			texts, kept = append(texts, r.Spec.Passage(c)), append(kept, m)
		}
		return nil
	})
	return texts, kept, err
}

// PruneVectors deletes the vectors of deleted texts and of unused embedders, and returns their
// number.
func (db *DB) PruneVectors(ctx context.Context) (pruned int, err error) {
	err = db.sql.Write(ctx, func(tx *sqlite.Tx) error {
		if err := tx.Do(`DELETE FROM vectors WHERE (embedder, key) NOT IN
			(SELECT o.embedder, c.passage FROM collections o JOIN chunks c ON c.collection = o.id WHERE o.embedder IS NOT NULL)`); err != nil {
			return err
		}
		if err := tx.QueryRow(`SELECT changes()`).Scan(&pruned); err != nil {
			return err
		}
		return tx.Do(`DELETE FROM embedders WHERE id NOT IN (SELECT embedder FROM vectors)
			AND id NOT IN (SELECT embedder FROM collections WHERE embedder IS NOT NULL)`)
	})
	if err != nil {
		return 0, fmt.Errorf("prune vectors: %w", err)
	}
	return pruned, nil
}
