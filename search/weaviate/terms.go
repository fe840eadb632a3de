package weaviate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/weaviate/weaviate/entities/models"
)

// The server counts the chunks that hold a term, but only for one request a term, and those
// who quote a passage ask for each of its words. So each root has an object with the counts
// of all its terms. A process counts what it changes, and saves the object when it publishes;
// counts that a killed process did not save are counted from the chunks by the next change.

// everyChunk is the key of how many chunks were counted; no term is empty.
const everyChunk = ""

// readTerms sets how many chunks of roots hold each term, as it was saved or changed here.
func (db *DB) readTerms(ctx context.Context, roots []*root) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	for _, r := range roots {
		if r.terms = db.terms[r.name].counts; r.terms != nil && db.terms[r.name].generation == r.generation {
			continue
		}
		list, err := db.get(ctx, "Terms", is("id", id(r.name)), "counts")
		if err != nil {
			return err
		}
		r.terms = map[string]int{}
		for _, o := range list {
			if err := json.Unmarshal([]byte(o.text("counts")), &r.terms); err != nil {
				return fmt.Errorf("terms of %q: %w", r.name, err)
			}
		}
		db.terms[r.name] = termCounts{r.terms, r.generation}
	}
	return nil
}

// termCounts are the terms of a root at a generation. The map does not change.
type termCounts struct {
	counts     map[string]int
	generation int64
}

// count adds the terms of chunks to counts, by times one or minus one.
func count(counts map[string]int, terms string, by int) {
	seen := map[string]bool{}
	for term := range strings.FieldsSeq(terms) {
		if !seen[term] {
			seen[term] = true
			if counts[term] += by; counts[term] == 0 {
				delete(counts, term)
			}
		}
	}
	counts[everyChunk] += by
}

// countTerms sets the terms of a root that changes: those it had, with the difference. Where
// their number is not that of the chunks, all are counted again.
func (db *DB) countTerms(ctx context.Context, before, r *root, difference map[string]int) error {
	own := *before
	if err := db.readTerms(ctx, []*root{&own}); err != nil {
		return err
	}
	counts, chunks := maps.Clone(own.terms), 0
	for term, n := range difference {
		if counts[term] += n; counts[term] <= 0 {
			delete(counts, term)
		}
	}
	for _, f := range r.files {
		chunks += f.Chunks
	}
	if counts[everyChunk] != chunks {
		counts = map[string]int{}
		if err := db.all(ctx, "Chunk", "root terms", func(o object) error {
			if o.text("root") == id(r.name) {
				count(counts, o.text("terms"), 1)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.terms[r.name] = termCounts{counts, r.generation}
	return nil
}

// Publish implements search.Backend: it saves how many chunks hold each term.
func (db *DB) Publish(ctx context.Context, name string) error {
	db.mu.Lock()
	counts := db.terms[name].counts
	db.mu.Unlock()
	if counts == nil { // nothing changed
		return context.Cause(ctx)
	}
	data, err := json.Marshal(counts)
	if err != nil {
		return err
	}
	return db.importObjects(ctx, []*models.Object{db.object("Terms", id(name), map[string]any{"counts": string(data)})})
}
