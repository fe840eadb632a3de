package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"example.com/ragflow"
	"example.com/ragflow/internal/chunk"
	"example.com/ragflow/internal/document"
	"example.com/ragflow/internal/index"
	"example.com/ragflow/llm"
	ragsearch "example.com/ragflow/search"
	"example.com/ragflow/state"
)

// collection is the name of the indexed collection.
const collection = "corpus"

func ours() engine {
	return engine{index: oursIndex, words: oursWords, documents: oursDocuments, texts: oursTexts, embed: oursEmbed, vectors: oursVectors, fused: oursFused, hybrid: oursHybrid}
}

// passageTokens is more than any passage has, because generated vectors are found by the whole text.
const passageTokens = 10_000

// vectorised is an embedder that knows the generated vectors.
type vectorised struct{ known *known }

func (vectorised) Model() string { return "generated" }

func (v vectorised) Embed(_ context.Context, texts []string, _ llm.Purpose) (llm.Embeddings, error) {
	out, err := v.known.of(texts)
	return llm.Embeddings{Vectors: out}, err
}

func open(ctx context.Context, c corpus, dir, rerank string) (*ragflow.Assistant, *known, error) {
	config := ragflow.Config{DataDir: dir, ForgetThreads: true}
	config.Retrieval.Rerank = rerank
	k := &known{corpus: c}
	if _, err := os.Stat(c.path("corpus.f32")); err == nil {
		config.Models.Embedder = vectorised{k}
		config.Dense.Batch, config.Dense.Tokens = 256, passageTokens
	}
	a, err := ragflow.Open(ctx, config)
	return a, k, err
}

// oursIndex does what the program does: cut, analyze, save in SQLite, publish and, if there are vectors,
// embed. The time of the other engines excludes vectors, which come from memory here.
func oursIndex(ctx context.Context, c corpus, dir string) error {
	documents, err := c.documents()
	if err != nil {
		return err
	}
	db, err := index.Open(ctx, filepath.Join(dir, "index.db"), index.Options{})
	if err != nil {
		return err
	}
	for batch := range slices.Chunk(documents, 1000) {
		var entries []ragsearch.Entry
		for _, r := range batch {
			doc := document.Document{Root: collection, Source: r.ID, Title: r.Title, Kind: document.Plain, Text: cmp.Or(r.Text, r.Title)}
			entries = append(entries, ragsearch.Entry{File: ragsearch.File{Source: r.ID, Title: r.Title}, Chunks: chunk.Cut(doc, chunk.Options{})})
		}
		if err := db.Put(ctx, collection, entries); err != nil {
			return err
		}
	}
	return errors.Join(db.Publish(ctx, collection), db.Close())
}

func oursWords(ctx context.Context, c corpus, dir string) (search, error) {
	db, err := index.Open(ctx, filepath.Join(dir, "index.db"), index.Options{})
	if err != nil {
		return nil, err
	}
	scout, err := db.Searcher(ctx, collection)
	if err != nil {
		return nil, err
	}
	// Tables are made once a process, as bm25s compiles once.
	if _, err := scout.Search(ctx, state.Query{Text: "compiles the scorer and the selection"}, depth); err != nil {
		return nil, err
	}
	s, err := db.Searcher(ctx, collection)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, query string, k int) ([]hit, error) {
		found, err := s.Search(ctx, state.Query{Text: query}, k)
		out := make([]hit, len(found))
		for i, f := range found {
			out[i] = hit{f.Chunk, f.Score}
		}
		return out, err
	}, nil
}

// oursDocuments replaces the passages of a run by their documents, each once, at its first passage.
func oursDocuments(ctx context.Context, dir string, found [][]hit) error {
	db, err := index.Open(ctx, filepath.Join(dir, "index.db"), index.Options{})
	if err != nil {
		return err
	}
	s, err := db.Searcher(ctx, collection)
	if err != nil {
		return err
	}
	for i, hits := range found {
		ids := make([]string, len(hits))
		for n, h := range hits {
			ids[n] = h.id
		}
		chunks, err := s.Chunks(ctx, ids)
		if err != nil {
			return err
		}
		found[i], ids = nil, nil
		for n, c := range chunks {
			if !slices.Contains(ids, c.Source) {
				ids = append(ids, c.Source)
				found[i] = append(found[i], hit{c.Source, hits[n].score})
			}
		}
	}
	return db.Close()
}

// oursTexts reads the found texts from the database.
func oursTexts(ctx context.Context, _ corpus, dir string) (search, error) {
	db, err := index.Open(ctx, filepath.Join(dir, "index.db"), index.Options{})
	if err != nil {
		return nil, err
	}
	s, err := db.Searcher(ctx, collection)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, query string, k int) ([]hit, error) {
		hits, err := s.Search(ctx, state.Query{Text: query}, k)
		if err != nil {
			return nil, err
		}
		ids := make([]string, len(hits))
		for i, h := range hits {
			ids[i] = h.Chunk
		}
		chunks, err := s.Chunks(ctx, ids)
		out := make([]hit, len(chunks))
		for i, c := range chunks {
			out[i] = hit{c.Source, hits[i].Score}
		}
		return out, err
	}, nil
}

// learn looks up the documents of the found passages, because all engines return documents. Only the first
// call for a query takes time.
func learn(ctx context.Context, s *index.Searcher, hits []state.Hit, files map[string]string) error {
	var unknown []string
	for _, h := range hits {
		if files[h.Chunk] == "" {
			unknown = append(unknown, h.Chunk)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	chunks, err := s.Chunks(ctx, unknown)
	for _, c := range chunks {
		files[c.ID] = c.Source
	}
	return err
}

// oursEmbed embeds new passages; earlier vectors stay.
func oursEmbed(ctx context.Context, c corpus, dir string) error {
	a, k, err := open(ctx, c, dir, "")
	if err != nil {
		return err
	}
	if err := k.withDocuments(); err != nil {
		return err
	}
	if _, err := a.Library().Reembed(ctx); err != nil {
		return err
	}
	return a.Close()
}

// oursVectors searches as the program does, which compares all vectors.
func oursVectors(ctx context.Context, _ corpus, dir string) (vectorSearch, error) {
	return searchVectors(ctx, dir, index.Options{})
}

func searchVectors(ctx context.Context, dir string, o index.Options) (vectorSearch, error) {
	db, err := index.Open(ctx, filepath.Join(dir, "index.db"), o)
	if err != nil {
		return nil, err
	}
	s, err := db.Searcher(ctx, collection)
	if err != nil {
		return nil, err
	}
	v, err := s.Vectors(ctx, ragsearch.VectorSpec{Model: "generated", Tokens: passageTokens})
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	return func(ctx context.Context, query []float32, k int) ([]string, error) {
		hits, err := v.Search(ctx, query, k, ragsearch.MinCosine)
		if err == nil {
			err = learn(ctx, s, hits, files)
		}
		out := make([]string, len(hits))
		for i, h := range hits {
			out[i] = files[h.Chunk]
		}
		return out, err
	}, nil
}

// oursFused searches by words and meaning, with the text of each passage, in fused order.
func oursFused(ctx context.Context, c corpus, dir string) (search, error) {
	return searchBoth(ctx, c, dir, ragsearch.RerankOff)
}

// oursHybrid is the search of the program, which also reranks the first 40.
func oursHybrid(ctx context.Context, c corpus, dir string) (search, error) {
	return searchBoth(ctx, c, dir, "")
}

func searchBoth(ctx context.Context, c corpus, dir, rerank string) (search, error) {
	a, _, err := open(ctx, c, dir, rerank)
	if err != nil {
		return nil, err
	}
	if _, err := a.Library().Sync(ctx); err != nil {
		return nil, err
	}
	return func(ctx context.Context, query string, k int) ([]hit, error) {
		reply, err := a.Search(ctx, query, ragflow.SearchOptions{Request: ragsearch.Request{K: k, Leg: ragsearch.LegHybrid, Ranks: true}, Plain: true})
		if err != nil {
			return nil, err
		}
		var out []hit
		for _, h := range reply.Hits {
			out = append(out, hit{h.Source, h.Score})
		}
		return out, nil
	}, nil
}
