package remote

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
	"time"

	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// root describes a folder. It is immutable; a change makes a new one.
type root struct {
	Root
	files map[string]file
	terms map[string]int // chunks by term; of a snapshot only
}

// file is a file of a folder. It is immutable.
type file struct {
	search.File
	Raw []byte `json:",omitempty"` // a source that is not UTF-8

	id      string // of the file in its chunks
	version int64  // chunks with a greater one are not part of the file; 0 if it was never completed
}

// record returns the id of the file's object on the server. A file that was never completed has
// another one, because a server may execute late a write that seemed to fail.
func (f file) record(root string) string {
	if f.version == 0 {
		return ID(root, f.Source, "begun")
	}
	return f.id
}

func textHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// roots returns the current state of all folders. Files are read only of folders that another
// process changed.
func (db *DB) roots(ctx context.Context) (map[string]*root, error) {
	list, err := db.store.Roots(ctx)
	if err != nil {
		return nil, err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	out, stale, ids := map[string]*root{}, map[string]*root{}, []string(nil)
	for _, stored := range list {
		r := &root{Root: stored}
		out[r.Name] = r
		if before := db.known[r.Name]; before != nil && before.Generation == r.Generation {
			r.files = before.files
		} else {
			r.files, stale[ID(r.Name)] = map[string]file{}, r
			ids = append(ids, ID(r.Name))
		}
	}
	if len(ids) > 0 {
		if err := db.store.Files(ctx, ids, func(stored File) error {
			r := stale[stored.Root]
			if r == nil {
				return nil
			}
			f := file{version: stored.Version}
			if err := json.Unmarshal(stored.Data, &f); err != nil {
				return fmt.Errorf("file %s: %w", stored.ID, err)
			}
			if f.Raw != nil {
				f.Source = string(f.Raw)
			}
			f.ModTime, f.Chunks = f.ModTime.UTC(), stored.Chunks
			if f.Metadata != nil {
				f.Meta = f.Metadata.Strings()
			}
			f.id = ID(r.Name, f.Source)
			if _, other := r.files[f.Source]; !other || f.version > 0 {
				r.files[f.Source] = f
			}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	db.known = out
	return out, nil
}

// change calls fn with a copy of a root to update while it changes the server, with the version
// of the change, and with a map for the change of the number of chunks with a term. If the root
// does not exist, create makes it; else nothing happens.
func (db *DB) change(ctx context.Context, what, name string, create bool, fn func(ctx context.Context, version int64, r *root, terms map[string]int) error) error {
	db.writing.Lock()
	defer db.writing.Unlock()
	err := context.Cause(ctx)
	if name == "" {
		err = errors.New("a root without a path")
	}
	if err == nil && create {
		err = db.store.Prepare(ctx)
	}
	var changed *root
	if err == nil {
		err = db.store.Change(ctx, ID(name), func(ctx context.Context) error {
			roots, err := db.roots(ctx)
			before := roots[name]
			if err != nil || before == nil && !create {
				return err
			}
			if before == nil {
				before = &root{Root: Root{Name: name}, files: map[string]file{}}
			}
			r := *before
			r.files = maps.Clone(before.files)
			r.Generation = max(time.Now().UnixMicro(), before.Generation+1)
			terms, version := map[string]int{}, cmp.Or(db.failed[name], r.Generation)
			db.failed[name] = version
			if err := fn(ctx, version, &r, terms); err != nil {
				return err
			}
			if err := db.countTerms(ctx, before, &r, terms); err != nil {
				return err
			}
			changed = &r
			return db.store.PutRoot(ctx, r.Root)
		})
	}
	if err == nil {
		delete(db.failed, name)
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if err != nil {
		delete(db.known, name) // the change may have been made in part
		return fmt.Errorf("%s %q: %w", what, name, err)
	}
	if changed != nil {
		db.known[name] = changed
	}
	return nil
}

// stored describes a file for the server.
func (f file) stored(root, terms string) (File, error) {
	if f.Metadata == nil && f.Meta != nil {
		f.Metadata = state.Metadata{}
		for key, value := range f.Meta {
			f.Metadata[key] = value
		}
	}
	f.Meta = nil // Metadata has it
	source := readable(f.Source)
	if source != f.Source {
		f.Raw = []byte(f.Source)
	}
	data, err := json.Marshal(f)
	return File{ID: f.record(root), Root: ID(root), Source: source, Data: data, Version: f.version, Chunks: f.Chunks, Terms: terms}, err
}

// Put implements search.Backend. Each file is replaced as a whole. If a server without
// transactions fails between two files of a batch, the first one is stored.
func (db *DB) Put(ctx context.Context, name string, entries []search.Entry) error {
	return db.change(ctx, "put into", name, true, func(ctx context.Context, version int64, r *root, terms map[string]int) error {
		var chunks []Chunk
		var files, begun []File
		var changed []string // ids of files that may have chunks
		var mended []string  // records of files that were not completed
		put := make([]file, len(entries))
		for i := range entries {
			e := &entries[i]
			if e.File.Source == "" {
				return errors.New("a file without a source")
			}
			f := file{File: e.File, id: ID(name, e.File.Source), version: version}
			if f.Chunks, f.CutBy = len(e.Chunks), ""; f.Chunks > 0 {
				f.CutBy = e.Chunks[0].Cut.Chunker
			}
			each, all := termsOf(db.analyzer, f.Title, f.Source, e.Chunks)
			for n := range e.Chunks {
				o, err := newChunk(name, f.id, e, n, each[n])
				if err != nil {
					return fmt.Errorf("%q: %w", f.Source, err)
				}
				chunks = append(chunks, o)
			}
			o, err := f.stored(name, all)
			if err != nil {
				return fmt.Errorf("%q: %w", f.Source, err)
			}
			files, put[i] = append(files, o), f
			if _, known := r.files[f.Source]; known {
				changed = append(changed, f.id)
			} else { // so that the chunks of a killed process belong to a file
				o, err := file{File: search.File{Source: f.Source, Size: -1, Error: "it was not indexed completely"}, id: f.id}.stored(name, "")
				if err != nil {
					return err
				}
				begun = append(begun, o)
			}
			mended = append(mended, file{File: search.File{Source: f.Source}}.record(name))
		}
		if err := db.store.PutFiles(ctx, begun); err != nil {
			return err
		}
		if err := db.replaceChunks(ctx, version, changed, chunks, terms); err != nil {
			return err
		}
		if err := db.store.PutFiles(ctx, files); err != nil {
			return err
		}
		for _, f := range put {
			r.files[f.Source] = f
		}
		return db.store.DeleteFiles(ctx, mended)
	})
}

// replaceChunks sends the chunks that the server lacks, and deletes the other chunks of the
// changed files.
func (db *DB) replaceChunks(ctx context.Context, version int64, changed []string, chunks []Chunk, terms map[string]int) error {
	held := map[string]bool{}
	if len(changed) > 0 {
		list, err := db.store.Chunks(ctx, Filter{Files: changed}, 0)
		if err != nil {
			return err
		}
		if len(list) >= MaxChunks { // the list may be incomplete: send all again
			list = nil
			if err := db.deleteChunks(ctx, Filter{Files: changed}, terms); err != nil {
				return err
			}
		}
		for _, c := range list {
			held[c.ID] = c.Version <= version // others come from a clock that was ahead
		}
	}
	var sent []Chunk
	for _, c := range chunks {
		if !held[c.ID] {
			c.Version = version
			count(terms, c.Terms, 1)
			sent = append(sent, c)
		}
		delete(held, c.ID)
	}
	if err := db.store.PutChunks(ctx, sent); err != nil || len(held) == 0 {
		return err
	}
	return db.deleteChunks(ctx, Filter{IDs: slices.Collect(maps.Keys(held))}, terms)
}

// deleteChunks deletes chunks with their vectors.
func (db *DB) deleteChunks(ctx context.Context, f Filter, terms map[string]int) error {
	gone, err := db.store.Chunks(ctx, f, WithTerms)
	if err != nil {
		return err
	}
	for _, c := range gone { // if the list is incomplete, all terms are counted again
		count(terms, c.Terms, -1)
	}
	return db.store.DeleteChunks(ctx, f)
}

// Delete implements search.Backend.
func (db *DB) Delete(ctx context.Context, name string, sources ...string) error {
	return db.change(ctx, "delete from", name, false, func(ctx context.Context, _ int64, r *root, terms map[string]int) error {
		var ids, records []string
		for _, s := range sources {
			if f, ok := r.files[s]; ok {
				ids, records = append(ids, f.id), append(records, f.id, file{File: f.File}.record(name))
				delete(r.files, s)
			}
		}
		if len(ids) == 0 {
			return nil
		}
		if err := db.deleteChunks(ctx, Filter{Files: ids}, terms); err != nil {
			return err
		}
		return db.store.DeleteFiles(ctx, records)
	})
}

// Touch implements search.Backend.
func (db *DB) Touch(ctx context.Context, name string, files ...search.File) error {
	return db.change(ctx, "touch files of", name, false, func(ctx context.Context, _ int64, r *root, _ map[string]int) error {
		return db.note(ctx, r, files, func(f *file, given search.File) { f.Size, f.ModTime = given.Size, given.ModTime.UTC() })
	})
}

// Fail implements search.Backend.
func (db *DB) Fail(ctx context.Context, name string, files ...search.File) error {
	return db.change(ctx, "note failures of", name, true, func(ctx context.Context, version int64, r *root, _ map[string]int) error {
		var made []File
		for _, given := range files {
			if _, ok := r.files[given.Source]; ok {
				continue
			}
			f := file{File: given, id: ID(name, given.Source), version: version}
			o, err := f.stored(name, "")
			if err != nil {
				return err
			}
			made, r.files[f.Source] = append(made, o), f
		}
		if err := db.store.PutFiles(ctx, made); err != nil {
			return err
		}
		return db.note(ctx, r, files, func(f *file, given search.File) { f.Error = given.Error })
	})
}

// note changes the data of files, but neither their chunks nor their terms.
func (db *DB) note(ctx context.Context, r *root, files []search.File, set func(f *file, given search.File)) error {
	for _, given := range files {
		f, ok := r.files[given.Source]
		if !ok {
			continue
		}
		set(&f, given)
		o, err := f.stored(r.Name, "")
		if err == nil {
			err = db.store.NoteFile(ctx, o.ID, o.Data)
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
		c := search.Collection{Root: name, Files: len(r.files), Generation: r.Generation, Changed: time.UnixMicro(r.Generation).UTC()}
		for _, f := range r.files {
			c.Chunks += f.Chunks
			if f.Chunks > 0 {
				c.Indexed++
			}
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
		return r.Chunking, err
	}
	return "", err
}

// SetChunking implements search.Backend.
func (db *DB) SetChunking(ctx context.Context, name, note string) error {
	return db.change(ctx, "note the chunking of", name, true, func(ctx context.Context, _ int64, r *root, _ map[string]int) error { r.Chunking = note; return nil })
}

// Stats implements search.Backend. The size of the server's data is unknown.
func (*DB) Stats(context.Context) (search.Stats, error) { return search.Stats{Analyzer: Format()}, nil }
