package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// A server could count the chunks with a term, but needs a request for each term, and quoting a
// passage needs the count of each of its words. So each root has the counts of all its terms in
// one object. A process updates the counts with its changes, and saves the object when it
// publishes; if a killed process did not save them, the next change counts all chunks.

// Keys of the number of chunks, and of the number of their terms; no term begins so.
const (
	everyChunk = ""
	everyTerm  = " "
)

// readTerms sets the counts of roots, as saved or as changed by this process.
func (db *DB) readTerms(ctx context.Context, roots []*root) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	for _, r := range roots {
		if r.terms = db.terms[r.Name].counts; r.terms != nil && db.terms[r.Name].generation == r.Generation {
			continue
		}
		data, err := db.store.Terms(ctx, ID(r.Name))
		if err != nil {
			return err
		}
		r.terms = map[string]int{}
		if len(data) > 0 {
			if err := json.Unmarshal(data, &r.terms); err != nil {
				return fmt.Errorf("terms of %q: %w", r.Name, err)
			}
		}
		db.terms[r.Name] = termCounts{r.terms, r.Generation}
	}
	return nil
}

// termCounts are the counts of a root at a generation. The map is immutable.
type termCounts struct {
	counts     map[string]int
	generation int64
}

// count adds the terms of a chunk to counts, by times 1 or -1.
func count(counts map[string]int, terms string, by int) {
	seen := map[string]bool{}
	for term := range strings.FieldsSeq(terms) {
		counts[everyTerm] += by
		if !seen[term] {
			seen[term] = true
			if counts[term] += by; counts[term] == 0 {
				delete(counts, term)
			}
		}
	}
	counts[everyChunk] += by
}

// countTerms updates the counts of a changed root by the difference. If they do not fit the
// number of chunks, all chunks are counted.
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
		root := ID(r.Name)
		if err := db.store.EachChunk(ctx, []string{root}, WithTerms, func(c Chunk) error {
			if c.Root == root {
				count(counts, c.Terms, 1)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.terms[r.Name] = termCounts{counts, r.Generation}
	return nil
}

// Publish implements search.Backend: it saves the number of chunks with each term.
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
	return db.store.PutTerms(ctx, ID(name), data)
}
