package nodes

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/state"
)

// Neighbour is a [Searcher] that knows what stands beside a chunk in its document.
type Neighbour interface {
	Searcher
	// Beside returns the id of the chunk that stands so many places behind another one
	// of the same document, or before it where away is negative. It reports false where
	// there is none.
	Beside(id string, away int) (beside string, ok bool)
}

const (
	mostContinued = 3 // sources, the best ones, that are looked at for what is cut off them
	mostBeside    = 2 // chunks that are taken in for that
)

// complete takes in what a search did not find of lists and tables that run over the end
// or the beginning of the best sources: the chunk beside them. It stands last, in the
// place of the last source where there is no room. No more of one document come of it
// than MaxPerDocument.
func (o ContextOptions) complete(ctx context.Context, s Searcher, sources []state.Source, signs suspicions) ([]state.Source, error) {
	near, ok := s.(Neighbour)
	if !ok || len(sources) == 0 {
		return sources, nil
	}
	guard := wary{signs: signs, trusting: o.TrustDocuments}
	worst := sources[len(sources)-1].Score
	first := sources[:min(len(sources), mostContinued)]
	out, taken := slices.Clone(sources), 0
	for _, cut := range first {
		for _, away := range []int{1, -1} {
			if taken == mostBeside || !runsOver(cut.Text, away) {
				continue
			}
			c, err := besides(ctx, near, cut.ID, away)
			if err != nil {
				return nil, err
			}
			if c.ID == "" || holds(out, c.ID) || !runsOver(c.Text, -away) || guard.leavesOut(ctx, state.Source{Chunk: c}) {
				continue
			}
			if out, ok = o.room(out, first, documentOf(cut), taken); !ok {
				continue
			}
			out = append(out, state.Source{Chunk: c, Score: worst})
			taken++
			graph.Note(ctx, "beside", place(c))
		}
	}
	return out, nil
}

// besides reads the chunk beside another; the zero one where there is none.
func besides(ctx context.Context, s Neighbour, id string, away int) (state.Chunk, error) {
	beside, ok := s.Beside(id, away)
	if !ok {
		return state.Chunk{}, nil
	}
	found, err := s.Chunks(ctx, []string{beside})
	if err != nil {
		return state.Chunk{}, fmt.Errorf("read what stands beside a chunk: %w", err)
	}
	if len(found) == 0 {
		return state.Chunk{}, nil
	}
	return found[0], nil
}

func holds(sources []state.Source, id string) bool {
	return slices.ContainsFunc(sources, func(s state.Source) bool { return s.ID == id })
}

// room leaves out the last of sources that stands behind the first ones, where there are
// as many as there may be of all or of a document, and no chunk that was taken in. It
// reports false where there is none to leave out.
func (o ContextOptions) room(sources, first []state.Source, d document, taken int) ([]state.Source, bool) {
	of := 0
	for _, s := range sources {
		if documentOf(s) == d {
			of++
		}
	}
	full := of >= MaxPerDocument
	if !full && len(sources) < o.MaxSources {
		return sources, true
	}
	for i := len(sources) - taken - 1; i >= len(first); i-- {
		if !full || documentOf(sources[i]) == d {
			return slices.Delete(sources, i, i+1), true
		}
	}
	return sources, false
}

var (
	listed     = regexp.MustCompile(`^\s*(?:[-*+]|\d{1,3}[.)])\s`)
	tableRow   = regexp.MustCompile(`^\s*\|`)
	continued  = regexp.MustCompile(`^(?: {2,}|\t)`)
	fence      = regexp.MustCompile("(?m)^(?:```|~~~)")
	beginsList = regexp.MustCompile(`^\s{0,3}1[.)]\s`)
)

// runsOver reports whether a list or a table may run over the end of a text, or, where
// away is negative, over its beginning.
func runsOver(s string, away int) bool {
	if away < 0 {
		line, _, _ := strings.Cut(strings.TrimLeft(s, "\n"), "\n")
		return listed.MatchString(line) && !beginsList.MatchString(line) || tableRow.MatchString(line) || continued.MatchString(line)
	}
	s = strings.TrimRight(s, " \n")
	line := s[strings.LastIndexByte(s, '\n')+1:]
	if len(fence.FindAllString(s, -1))%2 == 1 {
		return false // code is cut, which is no list whatever its lines look like
	}
	return listed.MatchString(line) || tableRow.MatchString(line) || continued.MatchString(line)
}
