package index

import (
	"context"
	"strings"

	"example.com/ragflow/state"
)

// LegTitle is the leg of hits that are the opening of a document titled as asked.
const LegTitle = "title"

const (
	mostTitled   = 20_000 // documents whose titles are looked through: the first time takes time for each
	mostOpenings = 3      // that have the same title
)

// Openings returns the first chunk of each document that has a name as its title, but
// for case, an article, an s in the end and words such as "What is" or "Introduction to";
// three at most, and none in an index of more than 20,000 documents. Scores are 0.
func (s *Searcher) Openings(ctx context.Context, name string) ([]state.Hit, error) {
	wanted := bareName(name)
	if wanted == "" || s.Files() > mostTitled {
		return nil, nil
	}
	var hits []state.Hit
	for v, view := range s.views {
		g, err := s.db.linksOf(ctx, view)
		if err != nil {
			return nil, err
		}
		for i := range g.pages {
			if len(hits) == mostOpenings {
				return hits, nil
			}
			if bareName(g.pages[i].title) != wanted {
				continue
			}
			if chunk := s.opening(v, int32(i)); chunk != "" { //nolint:gosec // far fewer
				hits = append(hits, state.Hit{Chunk: chunk, Legs: []state.Leg{{Name: LegTitle, Rank: len(hits) + 1, Score: 1}}})
			}
		}
	}
	return hits, nil
}

// opening is the id of the first chunk of a document that may be found; empty where
// there is none.
func (s *Searcher) opening(view int, page int32) string {
	part, file, ok := s.placeOf(view, page)
	if !ok {
		return ""
	}
	p := &s.parts[part]
	for c, end := p.chunksOf(file); c < end; c++ {
		if p.shows(c) {
			return s.publicID(candidate{part: part, chunk: c})
		}
	}
	return ""
}

// bareName is a name by which titles are compared: "What is an image?" is about images.
func bareName(s string) string {
	s = strings.TrimRight(foldName(s), "?!. ")
	for _, around := range []string{"what is ", "what are ", "overview of ", "introduction to ", "about ", "a ", "an ", "the "} {
		s = strings.TrimPrefix(s, around)
	}
	return strings.TrimSuffix(strings.TrimSuffix(s, " overview"), "s")
}
