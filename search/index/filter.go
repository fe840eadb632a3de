package index

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow/state"
)

// UnknownKeyError tells that a filter or a facet names a key that no document
// has.
type UnknownKeyError struct {
	Key   string
	Known []string // all that there are, ascending
}

func (e *UnknownKeyError) Error() string {
	return fmt.Sprintf("no document has the key %q; there are %s", e.Key, strings.Join(e.Known, ", "))
}

// Keys returns the keys that documents can be filtered by: those that any of
// them has, and source, ascending.
func (s *Searcher) Keys() []string {
	known := map[string]bool{state.KeySource: true}
	for i := range s.parts {
		for key := range s.parts[i].attributes() {
			known[key] = true
		}
	}
	return slices.Sorted(maps.Keys(known))
}

// Only returns a searcher that finds only chunks of documents that pass a filter,
// by words and, with [Vectors.Of], by vectors. What it knows of how rare words
// are, and so every score, stays that of all documents. Files and Docs still
// count all. The error is an [*UnknownKeyError] or that of a broken glob.
func (s *Searcher) Only(f state.Filter) (*Searcher, error) {
	if f.Empty() {
		return s, nil
	}
	keys := s.Keys()
	for _, c := range slices.Concat(f.Must, f.Should, f.MustNot) {
		if !slices.Contains(keys, strings.ToLower(c.Key)) {
			return nil, &UnknownKeyError{c.Key, keys}
		}
	}
	narrowed := *s
	narrowed.parts = slices.Clone(s.parts)
	for i := range narrowed.parts {
		p := &narrowed.parts[i]
		passed, err := p.pass(f)
		if err != nil {
			return nil, err
		}
		passed.intersect(p.found())
		p.shown = passed
	}
	return &narrowed, nil
}

// Passing returns how many documents may be found.
func (s *Searcher) Passing() (n int) {
	for i := range s.parts {
		p := &s.parts[i]
		if files := p.found(); files != nil {
			n += files.count(0, p.files)
		} else {
			n += p.files
		}
	}
	return n
}

// pass returns the files of a part that pass a filter.
func (p *part) pass(f state.Filter) (bitmap, error) {
	out := newBitmap(p.files)
	out.fill(p.files)
	for _, c := range f.Must {
		held, err := p.hold(c)
		if err != nil {
			return nil, err
		}
		out.intersect(held)
	}
	for _, c := range f.MustNot {
		held, err := p.hold(c)
		if err != nil {
			return nil, err
		}
		out.subtract(held)
	}
	if len(f.Should) > 0 {
		some := newBitmap(p.files)
		for _, c := range f.Should {
			held, err := p.hold(c)
			if err != nil {
				return nil, err
			}
			some.unite(held)
		}
		out.intersect(some)
	}
	return out, nil
}

// hold returns the files of a part that a condition holds for.
func (p *part) hold(c state.Condition) (bitmap, error) {
	holds, err := p.test(c)
	if err != nil {
		return nil, err
	}
	out := newBitmap(p.files)
	if key := strings.ToLower(c.Key); key != state.KeySource {
		for _, v := range p.attributes()[key] {
			if slices.ContainsFunc(v.items, holds) {
				for _, f := range v.files {
					out.set(int(f))
				}
			}
		}
		return out, nil
	}
	for f := range p.roster {
		if holds(p.roster[f].source) {
			out.set(f)
		}
	}
	return out, nil
}

// test returns what a condition asks of a value.
func (p *part) test(c state.Condition) (func(string) bool, error) {
	switch c.Op {
	case state.OpExists:
		return func(string) bool { return true }, nil
	case state.OpIs:
		return func(v string) bool { return slices.ContainsFunc(c.Values, func(w string) bool { return alike(v, w) }) }, nil
	case state.OpMatches:
		var globs []*regexp.Regexp
		for _, g := range c.Values {
			re, err := compileGlob(g)
			if err != nil {
				return nil, err
			}
			globs = append(globs, re)
		}
		fits := func(v string) bool {
			return slices.ContainsFunc(globs, func(g *regexp.Regexp) bool { return g.MatchString(v) })
		}
		if strings.ToLower(c.Key) != state.KeySource {
			return fits, nil
		}
		root := strings.ReplaceAll(p.root, `\`, "/")
		return func(v string) bool { return fits(v) || fits(path.Join(path.Base(root), v)) || fits(root+"/"+v) }, nil
	case state.OpLess, state.OpAtMost, state.OpMore, state.OpAtLeast:
		if len(c.Values) != 1 {
			return nil, fmt.Errorf("filter %s: it takes one value", c)
		}
		bound, ok := state.ParseMeasure(c.Values[0])
		if !ok {
			return nil, fmt.Errorf("filter %s: %q is no number, date or version", c, c.Values[0])
		}
		return func(v string) bool { return beyond(v, c.Op, bound) }, nil
	}
	return nil, fmt.Errorf("filter: unknown operator %q", c.Op)
}

// alike reports whether two values are one: in letters of any case, or as
// numbers, dates or versions.
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

func beyond(value, op string, bound state.Measure) bool {
	v, ok := state.ParseMeasure(value)
	if !ok {
		return false
	}
	order, ok := v.Compare(bound)
	switch {
	case !ok:
		return false
	case op == state.OpLess:
		return order < 0
	case op == state.OpAtMost:
		return order <= 0
	case op == state.OpMore:
		return order > 0
	}
	return order >= 0
}
