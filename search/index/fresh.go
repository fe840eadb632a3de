package index

import (
	"encoding/json"
	"sync"

	"example.com/ragflow/internal/parallel"
	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// The terms of files are not stored: a segment holds them once they are
// published, and until then, or where a segment is merged or made anew, they
// are made of the chunks again. A process that puts files remembers their terms
// up to the next publishing, so that they are analyzed once.

// maxFresh bounds the terms that are remembered, in bytes; what is beyond it is
// analyzed once more.
const maxFresh = 64 << 20

// freshKey names a version of a file.
type freshKey struct{ collection, file, version int64 }

// freshTerms remembers terms of files that this process put. It is safe for
// concurrent use.
type freshTerms struct {
	mu         sync.Mutex
	vocabulary *text.Vocabulary // of what is analyzed now; nil: nothing was
	terms      map[freshKey]terms
	size       int
}

// maxVocabulary is how many terms have numbers before others begin anew: some 30 MB
// while files are put.
const maxVocabulary = 1 << 18

// words returns the vocabulary to analyze files with.
func (f *freshTerms) words(a text.Analyzer) *text.Vocabulary {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.vocabulary != nil && len(f.vocabulary.Terms()) > maxVocabulary {
		f.vocabulary.Rest()
		f.vocabulary = nil
	}
	if f.vocabulary == nil {
		f.vocabulary = text.NewVocabulary(a)
	}
	return f.vocabulary
}

// rest lets go of the vocabulary where no terms are remembered.
func (f *freshTerms) rest() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.terms) == 0 {
		f.vocabulary = nil
	}
}

// remember keeps terms of files, as far as there is room.
func (f *freshTerms) remember(put map[freshKey]terms) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.terms == nil {
		f.terms = make(map[freshKey]terms, len(put))
	}
	for k, t := range put {
		if f.size+len(t.body) <= maxFresh {
			f.size += len(t.body) - len(f.terms[k].body)
			f.terms[k] = t
		}
	}
}

func (f *freshTerms) get(k freshKey) terms {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.terms[k]
}

// forget lets go of the files of a collection up to a version.
func (f *freshTerms) forget(collection, version int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for k, t := range f.terms {
		if k.collection == collection && k.version <= version {
			f.size -= len(t.body)
			delete(f.terms, k)
		}
	}
	if len(f.terms) == 0 {
		f.vocabulary = nil
	}
}

// titled is a file whose terms are wanted.
type titled struct {
	id, version int64
	title       string
}

// termsOf returns the terms of files of a collection: those that are
// remembered, and for the others what is made of their chunks, on all cores. The
// caller bounds how many files it asks for at a time.
func (db *DB) termsOf(tx *sqlite.Tx, collection int64, files []titled) ([]terms, error) {
	out := make([]terms, len(files))
	var missing []int
	var ids []int64
	for i, f := range files {
		if out[i] = db.fresh.get(freshKey{collection, f.id, f.version}); out[i].body == nil {
			missing = append(missing, i)
			ids = append(ids, f.id)
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	chunks, err := db.analyzable(tx, ids)
	if err != nil {
		return nil, err
	}
	vocabulary := db.fresh.words(db.analyzer)
	parallel.Each(len(missing), func(n int) {
		i := missing[n]
		out[i] = analyze(vocabulary, files[i].title, chunks[files[i].id])
	})
	return out, nil
}

// spelledTerms returns the terms of one file as they are kept of those that are dead.
func (db *DB) spelledTerms(tx *sqlite.Tx, collection int64, f titled) ([]byte, error) {
	terms, err := db.termsOf(tx, collection, []titled{f})
	if err != nil {
		return nil, err
	}
	return terms[0].spelled()
}

// analyzable reads what is analyzed of the chunks of files.
func (db *DB) analyzable(tx *sqlite.Tx, files []int64) (map[int64][]state.Chunk, error) {
	list, err := json.Marshal(files)
	if err != nil {
		return nil, err
	}
	out := make(map[int64][]state.Chunk, len(files))
	err = each(tx, func(r row) error {
		var file int64
		var c state.Chunk
		var headings []byte
		var book int64
		var column any
		err := r.Scan(&file, (*idColumn)(&c.ID), &headings, &book, &column)
		if err == nil {
			c.Text, err = db.books.text(tx, book, column)
		}
		if err != nil {
			return err
		}
		if err := json.Unmarshal(headings, &c.Headings); err != nil {
			return err
		}
		out[file] = append(out[file], c)
		return nil
	}, `SELECT file, id, headings, book, text FROM chunks WHERE file IN (SELECT value FROM json_each(?)) ORDER BY file, ordinal`, string(list))
	return out, err
}
