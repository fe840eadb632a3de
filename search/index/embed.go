package index

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// Embed makes the vectors that chunks of roots lack. Each text is embedded once for an
// embedder, whatever file or collection it is in, and never again while the index lives:
// each batch is saved when it is done, also where Embed ends with an error, and the report
// counts it. A text that the model refuses is tried again cut shorter, and left out at last.
//
// Where a collection has vectors of another embedder the error is an [*EmbedderError],
// unless Switch is set: then searches use the old vectors until all new ones are there, and
// no search ever sees both.
func (db *DB) Embed(ctx context.Context, e search.VectorSpec, roots []string, o search.EmbedOptions) (*search.EmbedReport, error) {
	e, err := e.WithDefaults()
	if err != nil {
		return nil, err
	}
	if o.Batch <= 0 {
		o.Batch = 16
	}
	if o.Workers <= 0 {
		o.Workers = 4
	}
	r := &embedding{db: db, EmbedOptions: o, embedder: e, roots: roots}
	err = r.run(ctx)
	r.report.Embedder = r.embedder
	if err != nil {
		return &r.report, fmt.Errorf("embed with %s: %w", r.embedder.Model, err)
	}
	return &r.report, nil
}

// embedding is one run of Embed.
type embedding struct {
	db *DB
	search.EmbedOptions
	embedder search.VectorSpec // its dimension is 0 until the first vector comes
	id       int64             // row of the embedder; 0 before its dimension is known
	roots    []string
	rootList string // roots as JSON
	report   search.EmbedReport
	begun    bool // the embedder has made vectors, now or before
	done     int  // texts, refused ones too
	total    int
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
			Scan(&r.report.Chunks, &r.begun)
	}); err != nil {
		return err
	}
	r.total = len(todo)
	if err := r.store(ctx, nil, nil, false); err != nil {
		return err
	}
	for round := range slices.Chunk(todo, r.Batch*r.Workers) {
		if err := r.embedRound(ctx, round); err != nil {
			return err
		}
	}
	return r.store(ctx, nil, nil, r.Switch)
}

// admit refuses collections of another embedder and finds the row of this one.
func (r *embedding) admit(tx *sqlite.Tx) error {
	e := r.embedder
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
	r.embedder = e
	// Where no dimension is known, the row that came last counts.
	err := tx.QueryRow(`SELECT id, dimension FROM embedders WHERE model = ? AND prefix = ? AND tokens = ?
		AND (dimension = ?4 OR ?4 = 0) ORDER BY id DESC LIMIT 1`, e.Model, e.Prefix, e.Tokens, e.Dimension).
		Scan(&r.id, &r.embedder.Dimension)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// outcome is what became of one batch.
type outcome struct {
	list    []missing
	vectors [][]float32 // by text; nil for a text that was refused
	refusal error       // of some text
	err     error
}

// embedRound embeds as many batches as there are workers, and saves all that succeed. The
// first error is returned.
func (r *embedding) embedRound(ctx context.Context, round []missing) error {
	batches := slices.Collect(slices.Chunk(round, r.Batch))
	outcomes := make([]outcome, len(batches))
	var workers sync.WaitGroup
	for i, b := range batches {
		workers.Go(func() { outcomes[i] = r.embed(ctx, b) })
	}
	workers.Wait()
	var first error
	for _, o := range outcomes {
		first = cmp.Or(first, r.save(ctx, o))
	}
	return cmp.Or(first, context.Cause(ctx))
}

// embed makes the vectors of a batch.
func (r *embedding) embed(ctx context.Context, list []missing) (o outcome) {
	var texts []string
	o.err = r.db.sql.Read(ctx, func(tx *sqlite.Tx) (err error) {
		texts, o.list, err = passagesToEmbed(r.embedder, tx, list)
		return err
	})
	if o.err != nil || len(texts) == 0 {
		return o
	}
	o.vectors, o.refusal, o.err = r.Vectors(ctx, r.embedder, texts)
	return o
}

// save saves what came of a batch.
func (r *embedding) save(ctx context.Context, o outcome) error {
	if o.err != nil {
		return o.err
	}
	refused := 0
	rows := make([][]byte, len(o.list)) // nil: the text was refused
	for i, v := range o.vectors {
		if v == nil {
			refused++
			continue
		}
		unit, err := r.embedder.Unit(v)
		if err != nil {
			return err
		}
		for _, f := range unit {
			rows[i] = binary.LittleEndian.AppendUint32(rows[i], math.Float32bits(f))
		}
	}
	if refused == len(o.list) && refused > 0 && !r.begun {
		return o.refusal // it would refuse all others too
	}
	if refused < len(o.list) {
		r.begun = true
		if err := r.store(ctx, o.list, rows, false); err != nil {
			return err
		}
	}
	r.report.Refused += refused
	r.report.Embedded += len(o.list) - refused
	r.done += len(o.list)
	if r.Progress != nil {
		r.Progress(r.done, r.total)
	}
	return nil
}

// store saves rows, and makes the embedder that of collections without one, or of all. The
// rows were paid for, so ctx does not stop it. It does nothing before a dimension is known.
func (r *embedding) store(ctx context.Context, list []missing, rows [][]byte, all bool) error {
	e := r.embedder
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
		for i, v := range rows {
			if v == nil {
				continue
			}
			if err := tx.Do(`INSERT INTO vectors(embedder, key, vector) VALUES(?, ?, ?) ON CONFLICT DO NOTHING`, r.id, list[i].key, v); err != nil {
				return err
			}
		}
		return nil
	})
}

// Embedder returns what made the vectors of root; found is false where it has
// none.
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

// missingVectors lists the texts without a vector, each once, ordered by root, source and
// place.
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

// passagesToEmbed reads the texts to embed. Chunks that changed or went meanwhile are left out.
func passagesToEmbed(e search.VectorSpec, tx *sqlite.Tx, list []missing) (texts []string, kept []missing, err error) {
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
			return nil, nil, err
		}
		texts, kept = append(texts, e.Passage(c)), append(kept, m)
	}
	return texts, kept, nil
}

// PruneVectors deletes vectors that no chunk has: those of texts that are gone, and those of
// embedders that are not used any more. It returns how many.
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
