package search

import (
	"context"

	"example.com/ragflow/internal/text"
)

// Named returns an engine for the one document that a question names, and its path; nil if it names none, or several
// equally well.
func (e *Engine) Named(ctx context.Context, question string) (*Engine, string, error) {
	if err := e.graph.read(ctx, e.Snapshot); err != nil {
		return nil, "", err
	}
	at := text.NewAsked(question).Named(e.graph.names, func(i int) bool {
		d := e.graph.docs[i]
		return d.Indexed && (e.passes == nil || e.passes(d))
	})
	if at < 0 {
		return nil, "", nil
	}
	one := e.graph.docs[at]
	pass := func(d *Document) bool { return d.Root == one.Root && d.Source == one.Source }
	s, err := e.Narrow(ctx, pass)
	if err != nil {
		return nil, "", err
	}
	return e.within(s, pass), one.Source, nil
}

// Listed returns the indexed documents that the engine finds, by root and source.
func (e *Engine) Listed(ctx context.Context) (out []*Document, err error) {
	if err := e.graph.read(ctx, e.Snapshot); err != nil {
		return nil, err
	}
	for _, d := range e.graph.docs {
		if d.Indexed && (e.passes == nil || e.passes(d)) {
			out = append(out, d)
		}
	}
	return out, nil
}

// Called reports whether the title and the path of a document have all words of a subject.
func (d *Document) Called(subject string) bool {
	return text.NewAsked(d.Title + " " + d.Source).Has(subject)
}
