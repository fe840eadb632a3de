package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/search/text"
)

// ErrTextRefused tells that a model will not have a text, such as one that is too
// long for it, while others may do. An [EmbedFunc] wraps it.
var ErrTextRefused = errors.New("the model refuses the text")

// EmbedFunc turns texts into vectors, one each, in their order, all of one
// length. It is called side by side.
type EmbedFunc func(ctx context.Context, texts []string) ([][]float32, error)

// EmbedOptions say how texts are embedded.
type EmbedOptions struct {
	Embed   EmbedFunc
	Batch   int  // texts of one call; 0: 16
	Workers int  // calls side by side; 0: 4
	Switch  bool // make vectors beside those of another embedder, and put them in their place when all are there
	// Progress, which may be nil, is told how many of the texts to embed are
	// done, from one goroutine; it must not call the DB.
	Progress func(done, total int)
}

// EmbedReport tells what [DB.Embed] did.
type EmbedReport struct {
	Embedder Embedder
	Chunks   int // of the collections
	Embedded int // texts that were embedded now; all others were known, or twice there
	Refused  int // texts that the model would not have; they are tried again the next time
}

// Embed gives the chunks of roots the vectors they lack. Each text is embedded
// once for an embedder, whatever file or collection it stands in, and never
// again while the index lives: what was done is saved batch by batch, stays when
// Embed ends with an error, and is told of in the report. A text that the model
// refuses is tried again cut shorter, and left out at last.
//
// Where a collection has vectors of another embedder the error is an
// [*EmbedderError], unless Switch is set: then searches go on with the old
// vectors until all new ones are there, and no search ever sees both.
func (db *DB) Embed(ctx context.Context, e Embedder, roots []string, o EmbedOptions) (*EmbedReport, error) {
	e, err := e.withDefaults()
	if err != nil {
		return nil, err
	}
	if o.Batch <= 0 {
		o.Batch = 16
	}
	if o.Workers <= 0 {
		o.Workers = 4
	}
	r := &embedding{db: db, EmbedOptions: o, form: e, embedder: e, roots: roots}
	err = r.run(ctx)
	r.report.Embedder = r.embedder
	if err != nil {
		return &r.report, fmt.Errorf("embed with %s: %w", r.embedder.Model, err)
	}
	return &r.report, nil
}

// embedding is one run of Embed. Its goroutine owns it; the workers only read
// db, form and options.
type embedding struct {
	db *DB
	EmbedOptions
	form     Embedder // how passages are worded; its dimension may not be known
	embedder Embedder
	id       int64 // row of the embedder; 0 before its dimension is known
	roots    []string
	report   EmbedReport
	begun    bool // the embedder has made vectors, now or before
	done     int  // texts, refused ones too
	total    int
}

func (r *embedding) run(ctx context.Context) error {
	var todo []need
	err := r.db.sql.Read(ctx, func(tx *sqlite.Tx) (err error) {
		if err := r.admit(tx); err != nil {
			return err
		}
		if todo, r.report.Chunks, err = needs(tx, r.id, r.roots); err != nil {
			return err
		}
		return tx.QueryRow(`SELECT EXISTS(SELECT 1 FROM vectors WHERE embedder = ?)`, r.id).Scan(&r.begun)
	})
	if err != nil {
		return err
	}
	r.total = len(todo)
	if err := r.adopt(ctx, false); err != nil {
		return err
	}
	if r.embedder.Dimension == 0 && len(todo) > 0 { // the first vectors tell it
		first := todo[:min(len(todo), r.Batch)]
		todo = todo[len(first):]
		if err := r.save(ctx, r.embed(ctx, first)); err != nil {
			return err
		}
	}
	if err := r.embedAll(ctx, todo); err != nil {
		return err
	}
	if err := r.adopt(ctx, r.Switch); err != nil {
		return err
	}
	return r.publish(ctx)
}

// admit refuses collections of another embedder and finds the row of this one.
func (r *embedding) admit(tx *sqlite.Tx) error {
	e := r.embedder
	for _, root := range r.roots {
		_, stored, found, err := collectionEmbedder(tx, root)
		switch {
		case err != nil:
			return err
		case found && e.fits(stored):
			e.Dimension = stored.Dimension
		case found && !r.Switch:
			return &EmbedderError{Root: root, Stored: stored, Given: e}
		}
	}
	var err error
	r.id, r.embedder, err = knownEmbedder(tx, e)
	return err
}

// adopt makes the embedder that of collections without one, or of all.
func (r *embedding) adopt(ctx context.Context, all bool) error {
	if r.embedder.Dimension == 0 {
		return nil // nothing has been embedded
	}
	return r.db.sql.Write(context.WithoutCancel(ctx), func(tx *sqlite.Tx) (err error) {
		r.id, err = adopt(tx, r.embedder, r.roots, all)
		return err
	})
}

// outcome is what became of one batch: vectors by text, nil for those refused.
type outcome struct {
	list    []need
	vectors [][]float32
	refusal error // of some text
	err     error
}

// embedAll embeds texts batch by batch, some side by side. What was embedded
// when something failed is saved still. The first failure is returned.
func (r *embedding) embedAll(ctx context.Context, todo []need) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	batches, outcomes := make(chan []need), make(chan outcome)
	var workers sync.WaitGroup
	workers.Go(func() {
		defer close(batches)
		for b := range slices.Chunk(todo, r.Batch) {
			select {
			case batches <- b:
			case <-ctx.Done():
				return
			}
		}
	})
	for range r.Workers {
		workers.Go(func() {
			for b := range batches {
				outcomes <- r.embed(ctx, b)
			}
		})
	}
	go func() {
		workers.Wait()
		close(outcomes)
	}()
	var first error
	for o := range outcomes { // to the end, so that no worker is left
		if err := r.save(ctx, o); err != nil && first == nil {
			first = err
			cancel(err)
		}
	}
	if first == nil {
		first = context.Cause(ctx)
	}
	return first
}

// embed makes the vectors of a batch.
func (r *embedding) embed(ctx context.Context, list []need) outcome {
	var o outcome
	var texts []string
	o.err = r.db.sql.Read(ctx, func(tx *sqlite.Tx) (err error) {
		texts, o.list, err = r.form.passages(tx, list)
		return err
	})
	if o.err == nil && len(texts) > 0 {
		o.vectors, o.err = r.vectors(ctx, texts, &o.refusal)
	}
	return o
}

// vectors embeds texts. Where the model refuses, it is asked for halves, down to
// the texts it means, and for the beginnings of those.
func (r *embedding) vectors(ctx context.Context, texts []string, refusal *error) ([][]float32, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	out, err := r.Embed(ctx, texts)
	switch {
	case err == nil && len(out) == len(texts):
		return out, nil
	case err == nil:
		return nil, fmt.Errorf("%d vectors came for %d texts", len(out), len(texts))
	case !errors.Is(err, ErrTextRefused):
		return nil, err
	case len(texts) > 1:
		half := len(texts) / 2
		head, err := r.vectors(ctx, texts[:half], refusal)
		if err != nil {
			return nil, err
		}
		tail, err := r.vectors(ctx, texts[half:], refusal)
		return append(head, tail...), err
	}
	*refusal = err
	return r.shortened(ctx, texts[0])
}

// shortestPassage is the fewest tokens that a refused text is cut to.
const shortestPassage = 16

// shortened embeds the beginning of a text that was refused. The vector is nil
// where that does not help.
func (r *embedding) shortened(ctx context.Context, refused string) ([][]float32, error) {
	prefix := r.form.Prefix
	refused = refused[len(prefix):]
	for n := text.Count(refused) / 2; n >= shortestPassage; n /= 2 {
		out, err := r.Embed(ctx, []string{prefix + text.Trim(refused, n)})
		switch {
		case err == nil && len(out) == 1:
			return out, nil
		case err == nil:
			return nil, fmt.Errorf("%d vectors came for 1 text", len(out))
		case !errors.Is(err, ErrTextRefused):
			return nil, err
		}
	}
	return [][]float32{nil}, nil
}

// save stores what came of a batch.
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
		if r.embedder.Dimension == 0 {
			if len(v) == 0 || len(v) > maxDimension {
				return fmt.Errorf("the model gave a vector of %d dimensions", len(v))
			}
			r.embedder.Dimension = len(v)
		}
		if len(v) != r.embedder.Dimension {
			return &DimensionError{Model: r.embedder.Model, Got: len(v), Want: r.embedder.Dimension}
		}
		unit, err := normalise(v)
		if err != nil {
			return err
		}
		rows[i] = encodeVector(unit)
	}
	if refused == len(o.list) && refused > 0 && !r.begun {
		return o.refusal // it would refuse all others too
	}
	if refused < len(o.list) {
		r.begun = true
		if err := r.store(ctx, o.list, rows); err != nil {
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

// store saves rows, which were paid for: ctx does not stop it.
func (r *embedding) store(ctx context.Context, list []need, rows [][]byte) error {
	return r.db.sql.Write(context.WithoutCancel(ctx), func(tx *sqlite.Tx) (err error) {
		if r.id, err = adopt(tx, r.embedder, r.roots, false); err != nil {
			return err
		}
		for i, v := range rows {
			if v == nil {
				continue
			}
			if _, err := tx.Exec(`INSERT INTO vectors(embedder, key, vector) VALUES(?, ?, ?) ON CONFLICT DO NOTHING`,
				r.id, list[i].key[:], v); err != nil {
				return err
			}
		}
		return nil
	})
}

// publish writes the new vectors beside the segments, so that the next process
// finds them ready.
func (r *embedding) publish(ctx context.Context) error {
	if r.id == 0 {
		return nil
	}
	s, err := r.db.Searcher(ctx, r.roots...)
	if err != nil {
		return err
	}
	_, err = s.Vectors(ctx, r.embedder)
	return err
}
