package weaviate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weaviate/weaviate-go-client/v4/weaviate/batch"
	"github.com/weaviate/weaviate/entities/models"

	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// importer is a connection that imports objects.
type importer interface{ ObjectsBatcher() *batch.ObjectsBatcher }

// root is what is known of a folder. It does not change; a change makes another one.
type root struct {
	name       string
	generation int64  // of the last change: microseconds since 1970, or one more than before
	chunking   string // see search.Backend
	embedder   string // JSON of a search.VectorSpec; empty: none
	files      map[string]file
	terms      map[string]int // chunks by term; of a snapshot only
}

// file is a file of a folder. It is not changed.
type file struct {
	search.File
	Links []state.Link `json:",omitempty"`
	Raw   []byte       `json:",omitempty"` // a source that is not UTF-8

	id      string
	version int64 // no chunk with a greater one is a part of the file; 0: it was never completed
}

func textHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// roots returns all folders with their files, as they are now. Files are read where another
// process changed something since.
func (db *DB) roots(ctx context.Context) (map[string]*root, error) {
	if exists, err := db.exists(ctx); !exists || err != nil {
		return nil, err
	}
	list, err := db.get(ctx, "Root", "", "root generation chunking embedder")
	if err != nil {
		return nil, err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	out, fresh := map[string]*root{}, true
	for _, o := range list {
		r := &root{name: o.text("root"), generation: o.whole("generation"), chunking: o.text("chunking"), embedder: o.text("embedder")}
		out[r.name] = r
		if before := db.known[r.name]; before != nil && before.generation == r.generation {
			r.files = before.files
		} else {
			fresh = false
		}
	}
	if !fresh {
		if err := db.readFiles(ctx, out); err != nil {
			return nil, err
		}
	}
	db.known = out
	return out, nil
}

// readFiles reads the files of all roots.
func (db *DB) readFiles(ctx context.Context, roots map[string]*root) error {
	byID := map[string]*root{}
	for name, r := range roots {
		byID[id(name)], r.files = r, map[string]file{}
	}
	return db.all(ctx, "File", "root data version chunks", func(o object) error {
		f := file{id: o.id(), version: o.whole("version")}
		if err := json.Unmarshal([]byte(o.text("data")), &f); err != nil {
			return fmt.Errorf("file %s at %s: %w", f.id, db.address, err)
		}
		if f.Raw != nil {
			f.Source = string(f.Raw)
		}
		f.ModTime, f.Chunks = f.ModTime.UTC(), int(o.whole("chunks"))
		if f.Metadata != nil {
			f.Meta = f.Metadata.Strings()
		}
		if r := byID[o.text("root")]; r != nil { // its root may have come just now
			r.files[f.Source] = f
		}
		return nil
	})
}

// change calls fn with a copy of the files of a root, to change it as the server is changed,
// the version of the change, and a map for how many more chunks hold a term then. A root that does not exist is made where create is set; else
// nothing happens.
func (db *DB) change(ctx context.Context, what, name string, create bool, fn func(version int64, r *root, terms map[string]int) error) error {
	err := func() error {
		if name == "" {
			return errors.New("a root without a path")
		}
		db.writing.Lock()
		defer db.writing.Unlock()
		if create {
			if err := db.prepare(ctx); err != nil {
				return err
			}
		}
		roots, err := db.roots(ctx)
		before := roots[name]
		if err != nil || before == nil && !create {
			return err
		}
		if before == nil {
			before = &root{name: name}
		}
		r := *before
		if r.files = maps.Clone(before.files); r.files == nil {
			r.files = map[string]file{}
		}
		r.generation = max(time.Now().UnixMicro(), before.generation+1)
		terms := map[string]int{}
		err = fn(r.generation, &r, terms)
		if err == nil {
			err = db.countTerms(ctx, before, &r, terms)
		}
		if err != nil {
			db.mu.Lock()
			defer db.mu.Unlock()
			delete(db.known, name) // some of it may have been done
			return err
		}
		if err := db.importObjects(ctx, []*models.Object{db.object("Root", id(name), map[string]any{
			"root": name, "generation": r.generation, "chunking": r.chunking, "embedder": r.embedder,
		})}); err != nil {
			return err
		}
		db.mu.Lock()
		defer db.mu.Unlock()
		db.known[name] = &r
		return nil
	}()
	if err != nil {
		return fmt.Errorf("%s %q: %w", what, name, err)
	}
	return nil
}

// fileObject describes a file.
func (db *DB) fileObject(root string, f file, terms string) (*models.Object, error) {
	if f.Metadata == nil && f.Meta != nil {
		f.Metadata = state.Metadata{}
		for key, value := range f.Meta {
			f.Metadata[key] = value
		}
	}
	f.Meta = nil // Metadata says it
	readable := strings.ToValidUTF8(f.Source, "\uFFFD")
	if readable != f.Source {
		f.Raw = []byte(f.Source)
	}
	data, err := json.Marshal(f)
	return db.object("File", f.id, map[string]any{
		"root": id(root), "source": readable, "data": string(data), "version": f.version, "chunks": f.Chunks, "terms": terms,
	}), err
}

// Put implements search.Backend. Each file is replaced as a whole; where the server fails
// between two files of a batch, the first one is there and the error says so.
func (db *DB) Put(ctx context.Context, name string, entries []search.Entry) error {
	return db.change(ctx, "put into", name, true, func(version int64, r *root, terms map[string]int) error {
		var chunks, files, begun []*models.Object
		var changed []string // ids of files that may have chunks
		put := make([]file, len(entries))
		for i := range entries {
			e := &entries[i]
			if e.File.Source == "" {
				return errors.New("a file without a source")
			}
			f := file{File: e.File, Links: e.Links, id: id(name, e.File.Source), version: version}
			if f.Chunks, f.CutBy = len(e.Chunks), ""; f.Chunks > 0 {
				f.CutBy = e.Chunks[0].Cut.Chunker
			}
			each, all := termsOf(db.analyzer, f.Title, e.Chunks)
			for n := range e.Chunks {
				o, err := db.chunkObject(name, f.id, e, n, each[n])
				if err != nil {
					return fmt.Errorf("%q: %w", f.Source, err)
				}
				chunks = append(chunks, o)
			}
			o, err := db.fileObject(name, f, all)
			if err != nil {
				return fmt.Errorf("%q: %w", f.Source, err)
			}
			files, put[i] = append(files, o), f
			if _, known := r.files[f.Source]; known {
				changed = append(changed, f.id)
			} else { // so that what a killed process leaves belongs to a file
				o, _ := db.fileObject(name, file{File: search.File{Source: f.Source, Size: -1, Error: "it was not indexed completely"}, id: f.id}, "")
				begun = append(begun, o)
			}
		}
		if err := db.importObjects(ctx, begun); err != nil {
			return err
		}
		if err := db.replaceChunks(ctx, version, changed, chunks, terms); err != nil {
			return err
		}
		if err := db.importObjects(ctx, files); err != nil {
			return err
		}
		for _, f := range put {
			r.files[f.Source] = f
		}
		return nil
	})
}

// replaceChunks sends the chunks that the server does not hold, and deletes those of the
// changed files that are not among them.
func (db *DB) replaceChunks(ctx context.Context, version int64, changed []string, chunks []*models.Object, terms map[string]int) error {
	held := map[string]bool{}
	if len(changed) > 0 {
		list, err := db.get(ctx, "Chunk", is("file", changed...), "version _additional{id}")
		if err != nil {
			return err
		}
		if len(list) >= mostObjects { // they cannot be listed: all are sent again
			list = nil
			if err := db.deleteChunks(ctx, "file", changed, terms); err != nil {
				return err
			}
		}
		for _, o := range list {
			held[o.id()] = o.whole("version") <= version // a clock that was ahead made the others
		}
	}
	var sent []*models.Object
	for _, o := range chunks {
		if properties := o.Properties.(map[string]any); !held[o.ID.String()] {
			properties["version"] = version
			count(terms, properties["terms"].(string), 1)
			sent = append(sent, o)
		}
		delete(held, o.ID.String())
	}
	if err := db.importObjects(ctx, sent); err != nil {
		return err
	}
	return db.deleteChunks(ctx, "id", slices.Collect(maps.Keys(held)), terms)
}

// deleteChunks deletes chunks by a property, with their vectors.
func (db *DB) deleteChunks(ctx context.Context, property string, values []string, terms map[string]int) error {
	if len(values) == 0 {
		return nil
	}
	gone, err := db.get(ctx, "Chunk", is(property, values...), "terms")
	if err != nil {
		return err
	}
	for _, o := range gone { // of more than the server lists, all terms are counted again
		count(terms, o.text("terms"), -1)
	}
	classes, err := db.vectorClasses(ctx)
	for _, class := range append(slices.Collect(maps.Keys(classes)), "Chunk") {
		if err == nil {
			_, err = db.deleteObjects(ctx, class, property, values)
		}
	}
	return err
}

// Delete implements search.Backend.
func (db *DB) Delete(ctx context.Context, name string, sources ...string) error {
	return db.change(ctx, "delete from", name, false, func(_ int64, r *root, terms map[string]int) error {
		var ids []string
		for _, s := range sources {
			if f, ok := r.files[s]; ok {
				ids = append(ids, f.id)
				delete(r.files, s)
			}
		}
		if err := db.deleteChunks(ctx, "file", ids, terms); err != nil || len(ids) == 0 {
			return err
		}
		_, err := db.deleteObjects(ctx, "File", "id", ids)
		return err
	})
}

// Touch implements search.Backend.
func (db *DB) Touch(ctx context.Context, name string, files ...search.File) error {
	return db.change(ctx, "touch files of", name, false, func(_ int64, r *root, _ map[string]int) error {
		return db.note(ctx, r, files, func(f *file, given search.File) { f.Size, f.ModTime = given.Size, given.ModTime.UTC() })
	})
}

// Fail implements search.Backend.
func (db *DB) Fail(ctx context.Context, name string, files ...search.File) error {
	return db.change(ctx, "note failures of", name, true, func(version int64, r *root, _ map[string]int) error {
		var made []*models.Object
		for _, given := range files {
			if _, ok := r.files[given.Source]; ok {
				continue
			}
			f := file{File: given, id: id(name, given.Source), version: version}
			o, err := db.fileObject(name, f, "")
			if err != nil {
				return err
			}
			made, r.files[f.Source] = append(made, o), f
		}
		if err := db.importObjects(ctx, made); err != nil {
			return err
		}
		return db.note(ctx, r, files, func(f *file, given search.File) { f.Error = given.Error })
	})
}

// note changes what is known of files, and neither their chunks nor their terms.
func (db *DB) note(ctx context.Context, r *root, files []search.File, set func(f *file, given search.File)) error {
	for _, given := range files {
		f, ok := r.files[given.Source]
		if !ok {
			continue
		}
		set(&f, given)
		o, err := db.fileObject(r.name, f, "")
		if err == nil {
			data := map[string]any{"data": o.Properties.(map[string]any)["data"]}
			err = db.explain(ctx, db.client.Data().Updater().WithMerge().WithClassName(o.Class).WithID(f.id).
				WithProperties(data).WithConsistencyLevel(db.consistency).Do(ctx))
		}
		if err != nil {
			return fmt.Errorf("%q: %w", f.Source, err)
		}
		r.files[f.Source] = f
	}
	return nil
}

// Files implements search.Backend.
func (db *DB) Files(ctx context.Context, name string) (map[string]search.File, error) {
	roots, err := db.roots(ctx)
	if err != nil {
		return nil, fmt.Errorf("files of %q: %w", name, err)
	}
	out := map[string]search.File{}
	if r := roots[name]; r != nil {
		for source, f := range r.files {
			out[source] = f.File
		}
	}
	return out, nil
}

// Collections implements search.Backend.
func (db *DB) Collections(ctx context.Context) ([]search.Collection, error) {
	roots, err := db.roots(ctx)
	if err != nil {
		return nil, fmt.Errorf("list collections: %w", err)
	}
	var out []search.Collection
	for name, r := range roots {
		c := search.Collection{Root: name, Files: len(r.files), Generation: r.generation}
		for _, f := range r.files {
			c.Chunks += f.Chunks
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b search.Collection) int { return cmp.Compare(a.Root, b.Root) })
	return out, nil
}

// Chunking implements search.Backend.
func (db *DB) Chunking(ctx context.Context, name string) (string, error) {
	roots, err := db.roots(ctx)
	if r := roots[name]; r != nil {
		return r.chunking, err
	}
	return "", err
}

// SetChunking implements search.Backend.
func (db *DB) SetChunking(ctx context.Context, name, note string) error {
	return db.change(ctx, "note the chunking of", name, true, func(_ int64, r *root, _ map[string]int) error { r.chunking = note; return nil })
}

// Stats implements search.Backend. How many bytes the server holds is not known.
func (db *DB) Stats(ctx context.Context) (search.Stats, error) {
	out := search.Stats{Analyzer: format + db.analyzer.Name()}
	collections, err := db.Collections(ctx)
	for _, c := range collections {
		out.Collections = append(out.Collections, search.CollectionStats{Collection: c, Changed: time.UnixMicro(c.Generation).UTC()})
	}
	return out, err
}
