package index

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/state"
)

// NameExplanation says how [Searcher.SearchNames] finds a document by what it is
// called.
type NameExplanation struct {
	Source   string  `json:"source"`
	Title    string  `json:"title"`
	In       string  `json:"in"`       // what contains the query or stands in it: title, file, tags, keywords or description
	Likeness float64 `json:"likeness"` // of the query and title or file, the more alike of both; it is the score
	Links    int     `json:"links"`    // other documents it is connected with: among those of the same score, more come first
}

// ExplainName says how the document of a chunk is found by its name; nil where it is
// not. The error is that the links cannot be read.
func (s *Searcher) ExplainName(ctx context.Context, q state.Query, chunk string) (*NameExplanation, error) {
	view, page, err := s.pageOf(ctx, chunk)
	if err != nil || page < 0 {
		return nil, err
	}
	p := &s.views[view].links.pages[page]
	in, likeness := p.likeness(foldName(q.Text))
	if foldName(q.Text) == "" || likeness == 0 {
		return nil, nil //nolint:nilnil // its name is not like the query
	}
	return &NameExplanation{p.source, p.title, in, likeness, p.degree()}, nil
}

// LinkStep is a link that [Searcher.Expand] followed, from a document to another.
type LinkStep struct {
	Hop      int     `json:"hop"` // from 1
	From     string  `json:"from"`
	To       string  `json:"to"`
	Relation string  `json:"relation"`          // kind of the link
	Reverse  bool    `json:"reverse,omitempty"` // the link stands in To and leads to From
	Target   string  `json:"target"`            // of the link, as the document has it
	Score    float64 `json:"score"`             // of To
}

// Way says over which links Expand comes from a document, given by its source and the
// score of its hit, to the document of a chunk in the same collection; nil where none
// leads there. It looks at this hit alone. The error is that the expansion makes no
// sense, or the links cannot be read.
func (s *Searcher) Way(ctx context.Context, from string, score float64, chunk string, e Expansion) ([]LinkStep, error) {
	e, err := e.withDefaults(1)
	if err != nil {
		return nil, err
	}
	view, to, err := s.pageOf(ctx, chunk)
	if err != nil || to < 0 {
		return nil, err
	}
	at, ok := slices.BinarySearchFunc(s.views[view].links.pages, from, func(p linkedPage, source string) int { return strings.Compare(p.source, source) })
	if !ok {
		return nil, nil
	}
	page := int32(at) //nolint:gosec // far fewer
	found := s.walk([]reached{{view: view, page: page, score: score, damping: 1}}, map[pageKey]bool{{view, page}: true}, e)
	i := slices.IndexFunc(found, func(r *reached) bool { return r.page == to })
	if i < 0 {
		return nil, nil
	}
	var steps []LinkStep
	for r := found[i]; r.before != nil; r = r.before {
		target, err := s.targetOf(ctx, r)
		if err != nil {
			return nil, err
		}
		steps = append(steps, LinkStep{r.hops, r.via, s.sourceOf(r), r.pageWay.relation, r.pageWay.reverse, target, r.score})
	}
	slices.Reverse(steps)
	return steps, nil
}

// targetOf is the link that led to a document as it was written; empty where the
// document with it changed since.
func (s *Searcher) targetOf(ctx context.Context, r *reached) (string, error) {
	g := s.views[r.view].links
	holder, leads := r.before.page, r.page
	if r.pageWay.reverse {
		holder, leads = leads, holder
	}
	var body string
	err := s.db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		return tx.QueryRow(`SELECT body FROM links WHERE file = ?`, g.pages[holder].id).Scan(&body)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	var targets map[string][]string
	if err = cmp.Or(err, json.Unmarshal([]byte(body), &targets)); err != nil {
		return "", fmt.Errorf("links of %q: %w", g.pages[holder].source, err)
	}
	for _, t := range targets[r.pageWay.relation] {
		if to, ok := g.names.resolve(&g.pages[holder], t); ok && to == leads {
			return t, nil
		}
	}
	return "", nil
}
