package index

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bits-and-blooms/bitset"
	"github.com/bmatcuk/doublestar/v4"

	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// keys returns the keys that documents can be filtered by: those that any of them has, and
// source, ascending.
func (s *Searcher) keys(ctx context.Context) ([]string, error) {
	known := map[string]bool{state.KeySource: true}
	for _, v := range s.snapshots {
		pages, err := v.readPages(ctx)
		if err != nil {
			return nil, err
		}
		for i := range pages {
			if pages[i].part >= 0 {
				for key := range pages[i].meta {
					known[key] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(known)), nil
}

// narrowed returns a copy whose parts may be changed.
func (s *Searcher) narrowed() *Searcher {
	out := *s
	out.parts = slices.Clone(s.parts)
	return &out
}

// filtered returns a searcher that finds only chunks of documents that pass a filter. The
// error is an [*UnknownKeyError] or that of a broken glob.
func (s *Searcher) filtered(ctx context.Context, f state.Filter) (*Searcher, error) {
	if f.Empty() {
		return s, nil
	}
	keys, err := s.keys(ctx)
	if err != nil {
		return nil, err
	}
	var must, should, mustNot []func(root string, p *page) bool
	for _, list := range []struct {
		conditions []state.Condition
		tests      *[]func(string, *page) bool
	}{{f.Must, &must}, {f.Should, &should}, {f.MustNot, &mustNot}} {
		for _, c := range list.conditions {
			if !slices.Contains(keys, strings.ToLower(c.Key)) {
				return nil, &search.UnknownKeyError{Key: c.Key, Known: keys}
			}
			test, err := newTest(c)
			if err != nil {
				return nil, err
			}
			*list.tests = append(*list.tests, test)
		}
	}
	out := s.narrowed()
	for i := range out.parts {
		out.parts[i].shown = bitset.New(uint(len(out.parts[i].Files)))
	}
	for n, v := range s.snapshots {
		for i := range v.pages {
			p := &v.pages[i]
			holds := func(test func(string, *page) bool) bool { return test(v.root, p) }
			fails := func(test func(string, *page) bool) bool { return !test(v.root, p) }
			part, ok := s.partOf(n, p)
			if ok && !slices.ContainsFunc(must, fails) && !slices.ContainsFunc(mustNot, holds) &&
				(len(should) == 0 || slices.ContainsFunc(should, holds)) {
				out.parts[part].shown.Set(uint(p.file))
			}
		}
	}
	return out, nil
}

// Passing returns how many documents may be found.
func (s *Searcher) Passing() (n int) {
	for i := range s.parts {
		if files := s.parts[i].shown; files != nil {
			n += int(files.Count())
		} else {
			n += len(s.parts[i].Files)
		}
	}
	return n
}

// newTest returns what a condition asks of a document of a root.
func newTest(c state.Condition) (func(root string, p *page) bool, error) {
	key := strings.ToLower(c.Key)
	fits, err := newValueTest(c)
	if err != nil {
		return nil, err
	}
	if key != state.KeySource {
		return func(_ string, p *page) bool {
			return p.meta[key] != "" && slices.ContainsFunc(items(p.meta[key]), fits)
		}, nil
	}
	return func(root string, p *page) bool {
		if fits(p.source) || c.Op != state.OpMatches {
			return fits(p.source)
		}
		root = strings.ReplaceAll(root, `\`, "/")
		return fits(path.Join(path.Base(root), p.source)) || fits(root+"/"+p.source)
	}, nil
}

// newValueTest returns what a condition asks of a value.
func newValueTest(c state.Condition) (func(string) bool, error) {
	switch c.Op {
	case state.OpExists:
		return func(string) bool { return true }, nil
	case state.OpIs:
		return func(v string) bool { return slices.ContainsFunc(c.Values, func(w string) bool { return alike(v, w) }) }, nil
	case state.OpMatches:
		var globs []string
		for _, g := range c.Values {
			pattern := strings.TrimPrefix(g, "./")
			if !strings.Contains(g, "/") {
				pattern = "**/" + g
			}
			if !doublestar.ValidatePattern(pattern) {
				return nil, fmt.Errorf("glob %q: [ without ] or { without }", g)
			}
			globs = append(globs, pattern)
		}
		return func(v string) bool {
			return slices.ContainsFunc(globs, func(g string) bool { return doublestar.MatchUnvalidated(g, v) })
		}, nil
	case state.OpLess, state.OpAtMost, state.OpMore, state.OpAtLeast:
		if len(c.Values) != 1 {
			return nil, fmt.Errorf("filter %s: it takes one value", c)
		}
		bound, ok := state.ParseMeasure(c.Values[0])
		if !ok {
			return nil, fmt.Errorf("filter %s: %q is no number, date or version", c, c.Values[0])
		}
		return func(value string) bool {
			v, ok := state.ParseMeasure(value)
			if !ok {
				return false
			}
			order, ok := v.Compare(bound)
			return ok && (c.Op == state.OpLess && order < 0 || c.Op == state.OpAtMost && order <= 0 ||
				c.Op == state.OpMore && order > 0 || c.Op == state.OpAtLeast && order >= 0)
		}, nil
	}
	return nil, fmt.Errorf("filter: unknown operator %q", c.Op)
}

// alike reports whether two values are the same: in letters of any case, or as numbers,
// dates or versions.
func alike(a, b string) bool {
	if strings.EqualFold(a, b) {
		return true
	}
	x, ok := state.ParseMeasure(a)
	if !ok {
		return false
	}
	y, ok := state.ParseMeasure(b)
	return ok && x.Same(y)
}
