package ingest

import (
	"context"
	"fmt"

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
		entry, err := l.cut(ctx, doc, search.File{Size: int64(len(g.Data)), ModTime: l.o.Clock()}, l.o.Chunking)
		if err != nil {
			return fmt.Errorf("cut %s: %w", g.Name, err)
		}
		entries = append(entries, entry)
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
