package ingest

import (
	"context"
	"fmt"

	"example.com/ragflow/ingest/chunk"
	"example.com/ragflow/ingest/load"
	"example.com/ragflow/search"
)

// Given is a document that is no file, such as what a program read from its standard
// input.
type Given struct {
	Name string // shown as its source; the extension chooses the loader, as in stdin.md
	Data []byte
}

// rootGiven is the root of documents that are no files.
const rootGiven = "-"

// putGiven indexes Options.Given.
func (l *Library) putGiven(ctx context.Context, report *Report) error {
	if len(l.o.Given) == 0 {
		return nil
	}
	var entries []search.Entry
	for _, g := range l.o.Given {
		doc, err := load.Parse(ctx, g.Name, g.Data)
		if err != nil {
			return fmt.Errorf("read %s: %w", g.Name, err)
		}
		doc.Root = rootGiven
		options := l.o.Chunking
		chunks, err := chunk.CutWith(ctx, doc, options, l.sentenceModel(options))
		if err != nil {
			return fmt.Errorf("cut %s: %w", g.Name, err)
		}
		entries = append(entries, search.Entry{
			File: search.File{
				Source: g.Name, Size: int64(len(g.Data)), ModTime: l.o.Clock(), Hash: doc.Hash,
				Title: doc.Title, Chunker: options.Fingerprint(), Meta: doc.Meta, Metadata: doc.Metadata, URL: doc.URL,
			},
			Chunks: chunks, Links: doc.Links,
		})
		report.Added++
		for _, w := range doc.Warnings {
			report.Warned = append(report.Warned, FileProblem{g.Name, w})
		}
	}
	if err := l.index.Put(ctx, rootGiven, entries); err != nil {
		return err
	}
	report.Roots = append(report.Roots, rootGiven)
	return l.index.Publish(ctx, rootGiven)
}
