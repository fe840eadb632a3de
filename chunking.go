package ragflow

import (
	"context"
	"encoding/json"
	"fmt"

	"example.com/ragflow/ingest/load"
	"example.com/ragflow/llm"
	"example.com/ragflow/search/index"
)

// Chunkers lists the names that Config.Chunking.Chunker may have.
func Chunkers() []string { return load.Chunkers() }

// chunkingOf says how the documents of a root are cut: as its folder was
// indexed with KeepChunking, else as Config.Chunking says.
func (a *Assistant) chunkingOf(ctx context.Context, root string) (load.ChunkOptions, error) {
	if a.config.KeepChunking {
		return a.config.Chunking, nil
	}
	note, err := a.index.Chunking(ctx, root)
	if err != nil || note == "" {
		return a.config.Chunking, err
	}
	var kept load.ChunkOptions
	if err := json.Unmarshal([]byte(note), &kept); err != nil {
		return kept, fmt.Errorf("read how %q is cut: %w", root, err)
	}
	return kept, nil
}

// sentenceModel is what the semantic chunker compares sentences with: the
// embedder, where it is the model that the options name; else nil.
func (a *Assistant) sentenceModel(o load.ChunkOptions) load.Embed {
	e := a.config.Embedder
	if e == nil || o.Semantic.Model == "" || index.ModelName(e.Model()) != index.ModelName(o.Semantic.Model) {
		return nil
	}
	return func(ctx context.Context, texts []string) ([][]float32, error) {
		out, err := e.Embed(ctx, texts, llm.Passage)
		if err != nil {
			return nil, err
		}
		return out.Vectors, nil
	}
}

// chunkings is chunkingOf by root, for all that is indexed.
func (a *Assistant) chunkings(ctx context.Context) (map[string]load.ChunkOptions, error) {
	collections, err := a.index.Collections(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]load.ChunkOptions{}
	for _, c := range collections {
		if out[c.Root], err = a.chunkingOf(ctx, c.Root); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// keepChunking notes how the documents of a root are cut from now on.
func (a *Assistant) keepChunking(ctx context.Context, root string) error {
	if !a.config.KeepChunking {
		return nil
	}
	note, err := json.Marshal(a.config.Chunking)
	if err != nil {
		return err
	}
	return a.index.SetChunking(ctx, root, string(note))
}
