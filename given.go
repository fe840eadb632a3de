package ragflow

import (
	"context"
	"fmt"

	"example.com/ragflow/ingest/load"
	"example.com/ragflow/search/index"
)

// Given is a document that lies in no file: what a program read from its
// standard input, for one.
type Given struct {
	Name string // shown as its source; the extension says what it is, such as stdin.md
	Data []byte
}

// rootGiven stands for the folder of documents that lie in none.
const rootGiven = "-"

// takeGiven indexes Config.Given.
func (a *Assistant) takeGiven(ctx context.Context, report *IndexReport) error {
	if len(a.config.Given) == 0 {
		return nil
	}
	var entries []index.Entry
	for _, g := range a.config.Given {
		doc, err := load.Parse(ctx, g.Name, g.Data)
		if err != nil {
			return fmt.Errorf("read %s: %w", g.Name, err)
		}
		doc.Root = rootGiven
		options := a.config.Chunking
		chunks, err := load.ChunkWith(ctx, doc, options, a.sentenceModel(options))
		if err != nil {
			return fmt.Errorf("cut %s: %w", g.Name, err)
		}
		entries = append(entries, index.Entry{
			File: index.File{
				Source: g.Name, Size: int64(len(g.Data)), ModTime: a.config.Clock(), Hash: doc.Hash,
				Title: doc.Title, Chunker: options.Fingerprint(), Meta: doc.Meta, Metadata: doc.Metadata, URL: doc.URL,
			},
			Chunks: chunks, Links: doc.Links,
		})
		report.Added++
		for _, w := range doc.Warnings {
			report.Warned = append(report.Warned, FileProblem{g.Name, w})
		}
	}
	if err := a.index.Put(ctx, rootGiven, entries); err != nil {
		return err
	}
	report.Roots = append(report.Roots, rootGiven)
	return a.index.Publish(ctx, rootGiven, nil)
}
