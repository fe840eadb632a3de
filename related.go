package ragflow

import (
	"context"
	"errors"
	"fmt"

	"example.com/ragflow/search/index"
)

// ErrNoPage tells that no document goes by a name.
var ErrNoPage = index.ErrNoPage

// RelatedReply tells which documents are connected with one. Its JSON is the
// schema of `ragflow related --json`.
type RelatedReply struct {
	Source  string            `json:"source"`
	Path    string            `json:"path"`
	Title   string            `json:"title"`
	Related []RelatedDocument `json:"related"` // the nearest first
}

// RelatedDocument is a document that links lead to, or come from.
type RelatedDocument struct {
	Source   string  `json:"source"`
	Path     string  `json:"path"`
	Title    string  `json:"title"`
	Relation string  `json:"relation"` // kind of the link, such as LINKS_TO or DEPENDS_ON
	Via      string  `json:"via"`      // source of the document that the link leads from
	Reverse  bool    `json:"reverse"`  // the link leads from this document to Via
	Hops     int     `json:"hops"`     // links to follow to get here
	Score    float64 `json:"score"`    // 0.5 for each hop
}

// Related lists the documents that links connect with a page, over 1 to
// [index.MostHops] of them. The page is named by its path or the end of it, by its
// title, id or address. The error matches [ErrNoPage], or what Search gives.
func (a *Assistant) Related(ctx context.Context, page string, hops int) (*RelatedReply, error) {
	e, err := a.current(ctx)
	if err != nil {
		return nil, err
	}
	of, found, err := e.searcher.RelatedTo(ctx, page, hops)
	if err != nil {
		if errors.Is(err, ErrNoPage) {
			return nil, err
		}
		return nil, fmt.Errorf("related documents: %w", err)
	}
	out := &RelatedReply{Source: of.Source, Path: citedPath(of.Root, of.Source), Title: of.Title, Related: []RelatedDocument{}}
	for _, r := range found {
		out.Related = append(out.Related, RelatedDocument{r.Source, citedPath(r.Root, r.Source), r.Title, r.Relation, r.Via, r.Reverse, r.Hops, r.Score})
	}
	return out, nil
}
