package index

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/bits-and-blooms/bitset"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// documents are the documents of a snapshot, ordered by source.
type documents struct {
	list   []*search.Document
	places []filePlace // of the documents
	number map[string]int
}

// filePlace is the position of a file in a snapshot; part is -1 if it changed or was deleted
// since.
type filePlace struct{ part, file int }

// documents returns the documents of the snapshot. They are read once, when they are first
// needed. A document that changed since the snapshot was made has no place in it.
func (v *snapshot) documents(ctx context.Context) (*documents, error) {
	v.reading.Lock()
	defer v.reading.Unlock()
	if v.docs != nil {
		return v.docs, nil
	}
	type fileSource struct {
		id     int64
		source string
	}
	places := map[fileSource]filePlace{}
	for i := range v.parts {
		for n, f := range v.parts[i].Files {
			if v.parts[i].live(n) {
				places[fileSource{f.ID, f.Source}] = filePlace{i, n}
			}
		}
	}
	var out *documents
	err := v.db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		out = &documents{number: map[string]int{}}
		return each(tx, func(r row) error {
			var id int64
			var source, title, url string
			var meta []byte
			if err := r.Scan(&id, &source, &title, &url, &meta); err != nil {
				return err
			}
			var m state.Metadata
			if err := json.Unmarshal(meta, &m); err != nil {
				return fmt.Errorf("metadata of %q: %w", source, err)
			}
			place, ok := places[fileSource{id, source}]
			if !ok {
				place.part = -1
			}
			out.number[source] = len(out.list)
			out.list = append(out.list, search.NewDocument(v.root, source, title, url, ok, m))
			out.places = append(out.places, place)
			return nil
		}, `SELECT f.id, f.source, f.title, f.url, f.meta FROM collections c JOIN files f ON f.collection = c.id WHERE c.root = ? ORDER BY f.source`, v.root)
	})
	if err != nil {
		return nil, fmt.Errorf("documents of %q: %w", v.root, err)
	}
	v.docs = out
	return out, nil
}

// Documents implements search.Snapshot.
func (s *Searcher) Documents(ctx context.Context) (all []*search.Document, err error) {
	for _, v := range s.snapshots {
		docs, err := v.documents(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, docs.list...)
	}
	return all, nil
}

// withNone returns a copy that finds nothing; its parts may be changed.
func (s *Searcher) withNone() *Searcher {
	out := *s
	out.parts = make([]part, len(s.parts))
	for i, p := range s.parts {
		p.shown = bitset.New(uint(len(p.Files)))
		out.parts[i] = p
	}
	return &out
}

// Narrow implements search.Snapshot.
func (s *Searcher) Narrow(ctx context.Context, pass func(*search.Document) bool) (search.Snapshot, error) {
	out := s.withNone()
	first := 0 // part of the snapshot
	for _, v := range s.snapshots {
		docs, err := v.documents(ctx)
		if err != nil {
			return nil, err
		}
		for i, d := range docs.list {
			if at := docs.places[i]; at.part >= 0 && s.parts[first+at.part].shows(at.file) && pass(d) {
				out.parts[first+at.part].shown.Set(uint(at.file))
			}
		}
		first += len(v.parts)
	}
	return out, nil
}

// Passing implements search.Snapshot.
func (s *Searcher) Passing() (n int) {
	for i := range s.parts {
		if files := s.parts[i].shown; files != nil {
			n += int(files.Count())
		} else {
			n += len(s.parts[i].Files)
		}
	}
	return n
}

// BestChunks implements search.Snapshot.
func (s *Searcher) BestChunks(ctx context.Context, q state.Query, docs []*search.Document) ([]state.Hit, error) {
	out, narrowed := make([]state.Hit, len(docs)), s.withNone()
	places := map[filePlace]int{} // in docs
	for i, d := range docs {
		place, ok, err := s.place(ctx, d)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		narrowed.parts[place.part].shown.Set(uint(place.file))
		places[place] = i
		first, _ := s.parts[place.part].chunksOf(place.file)
		out[i].Chunk = s.publicID(candidate{part: place.part, chunk: first})
	}
	// A chunk that is not among a few for each document fits badly anyway.
	found := newTop(max(1, min(s.all.Chunks, max(200, 8*len(places)))), s.better)
	if err := narrowed.best(ctx, q, found); err != nil {
		return nil, err
	}
	for _, c := range found.ranked() {
		i, ok := places[filePlace{c.part, s.parts[c.part].fileOf(c.chunk)}]
		if ok && out[i].Score == 0 {
			out[i] = state.Hit{Chunk: s.publicID(c), Score: c.score}
		}
	}
	return out, nil
}

// place returns the part of the searcher and the file of a document; ok is false if it may not
// be found.
func (s *Searcher) place(ctx context.Context, d *search.Document) (place filePlace, ok bool, err error) {
	first := 0
	for _, v := range s.snapshots {
		if v.root == d.Root {
			docs, err := v.documents(ctx)
			if err != nil {
				return place, false, err
			}
			if i, known := docs.number[d.Source]; known && docs.places[i].part >= 0 {
				place = filePlace{first + docs.places[i].part, docs.places[i].file}
				return place, s.parts[place.part].shows(place.file), nil
			}
		}
		first += len(v.parts)
	}
	return place, false, nil
}
