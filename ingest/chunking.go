package ingest

import (
	"context"
	"encoding/json"
	"fmt"

	"example.com/ragflow/internal/chunk"
	"example.com/ragflow/internal/document"
	"example.com/ragflow/llm"
	"example.com/ragflow/search"
)

// Chunking says how documents are cut. The zero value is the default. Chunkers are "adaptive" (the default),
// "code", "html", "markdown", "recursive", "semantic" and "text". Sizes are tokens. Check refuses what makes no sense.
type Chunking = chunk.Options

// chunkingOf returns the options for a root: those stored by KeepChunking, else
// Options.Chunking.
func (l *Library) chunkingOf(ctx context.Context, root string) (Chunking, error) {
	if l.o.KeepChunking {
		return l.o.Chunking, nil
	}
	note, err := l.index.Chunking(ctx, root)
	if err != nil || note == "" {
		return l.o.Chunking, err
	}
	var kept Chunking
	if err := json.Unmarshal([]byte(note), &kept); err != nil {
		return kept, fmt.Errorf("read how %q is cut: %w", root, err)
	}
	return kept, nil
}

// cut cuts a document for the index. f describes its file.
func (l *Library) cut(ctx context.Context, doc document.Document, f search.File, o Chunking) (search.Entry, error) {
	f = describe(doc, f)
	f.Chunker = o.Fingerprint()
	chunks, err := chunk.CutWith(ctx, doc, o, l.sentenceModel(o))
	return search.Entry{File: f, Chunks: chunks}, err
}

// sentenceModel returns the embedder of the semantic chunker: the configured one if it is the
// model that the options name, else nil.
func (l *Library) sentenceModel(o Chunking) chunk.Embed {
	e := l.o.Embedder
	if e == nil || o.Semantic.Model == "" || search.ModelName(e.Model()) != search.ModelName(o.Semantic.Model) {
		return nil
	}
	return func(ctx context.Context, texts []string) ([][]float32, error) {
		out, err := e.Embed(ctx, texts, llm.Passage)
		return out.Vectors, err
	}
}

// keepChunking stores the options for later syncs of a root, if KeepChunking says so.
func (l *Library) keepChunking(ctx context.Context, root string) error {
	if !l.o.KeepChunking {
		return nil
	}
	note, err := json.Marshal(l.o.Chunking)
	if err != nil {
		return err
	}
	return l.index.SetChunking(ctx, root, string(note))
}
