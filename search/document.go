package search

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"example.com/ragflow/state"
)

// Document is a document of a [Snapshot] without its text. It is immutable.
type Document struct {
	Root, Source, Title string
	Indexed             bool // the snapshot has chunks of it

	values    map[string]string   // by key in lower case; with title, url and extension
	relations map[string][]string // names of other documents, by relation
}

// NewDocument returns a document, whose values are its metadata, and its title, address and
// extension unless the metadata have these keys.
func NewDocument(root, source, title, url string, indexed bool, m state.Metadata) *Document {
	d := &Document{Root: root, Source: source, Title: title, Indexed: indexed, values: map[string]string{}, relations: namedRelations(m)}
	texts := m.Strings()
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		lower, value := strings.ToLower(key), strings.TrimSpace(texts[key])
		if before := d.values[lower]; before != "" && value != "" && before != value { // "Tags" and "tags"
			value = before + ", " + value
		}
		d.values[lower] = cmp.Or(value, d.values[lower])
	}
	extension := strings.ToLower(strings.TrimPrefix(path.Ext(source), "."))
	for key, value := range map[string]string{"title": title, "url": url, "extension": extension} {
		d.values[key] = cmp.Or(d.values[key], strings.TrimSpace(value))
	}
	maps.DeleteFunc(d.values, func(_, value string) bool { return value == "" })
	return d
}

// newFilter returns the function that reports whether a document passes a filter. The error is
// an [*UnknownKeyError] or names a condition that is malformed.
func newFilter(f state.Filter, docs []*Document) (func(*Document) bool, error) {
	known := map[string]bool{state.KeySource: true}
	for _, d := range docs {
		if d.Indexed {
			for key := range d.values {
				known[key] = true
			}
		}
	}
	compile := func(conditions []state.Condition) (tests []func(*Document) bool, err error) {
		for _, c := range conditions {
			if !known[strings.ToLower(c.Key)] {
				return nil, &UnknownKeyError{Key: c.Key, Known: slices.Sorted(maps.Keys(known))}
			}
			test, err := newTest(c)
			if err != nil {
				return nil, err
			}
			tests = append(tests, test)
		}
		return tests, nil
	}
	must, err := compile(f.Must)
	should, shouldErr := compile(f.Should)
	mustNot, mustNotErr := compile(f.MustNot)
	if err = cmp.Or(err, shouldErr, mustNotErr); err != nil {
		return nil, err
	}
	return func(d *Document) bool {
		holds := func(test func(*Document) bool) bool { return test(d) }
		fails := func(test func(*Document) bool) bool { return !test(d) }
		return !slices.ContainsFunc(must, fails) && !slices.ContainsFunc(mustNot, holds) &&
			(len(should) == 0 || slices.ContainsFunc(should, holds))
	}, nil
}

// newTest returns the function that reports whether a document meets a condition.
func newTest(c state.Condition) (func(*Document) bool, error) {
	key := strings.ToLower(c.Key)
	fits, err := newValueTest(c)
	if err != nil {
		return nil, err
	}
	if key != state.KeySource {
		return func(d *Document) bool { return d.values[key] != "" && slices.ContainsFunc(items(d.values[key]), fits) }, nil
	}
	return func(d *Document) bool {
		if fits(d.Source) || c.Op != state.OpMatches {
			return fits(d.Source)
		}
		root := strings.ReplaceAll(d.Root, `\`, "/")
		return fits(path.Join(path.Base(root), d.Source)) || fits(root+"/"+d.Source)
	}, nil
}

// newValueTest returns the function that reports whether a value meets a condition.
func newValueTest(c state.Condition) (func(string) bool, error) {
	switch c.Op {
	case state.OpExists:
		return func(string) bool { return true }, nil
	case state.OpIs:
		return func(v string) bool {
			return slices.ContainsFunc(c.Values, func(w string) bool { return equalValues(v, w) })
		}, nil
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

// equalValues reports whether two values are equal, ignoring case, or as numbers, dates or
// versions.
func equalValues(a, b string) bool {
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

// items returns a value and, if it is a list joined by ", ", its elements.
func items(value string) []string {
	out := []string{value}
	if strings.Contains(value, ", ") {
		for item := range strings.SplitSeq(value, ", ") {
			if item = strings.TrimSpace(item); item != "" {
				out = append(out, item)
			}
		}
	}
	return out
}
