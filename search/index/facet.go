package index

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"example.com/ragflow/state"
)

// Facet tells how documents are spread over the values of a key.
type Facet struct {
	Key       string       `json:"key"`
	Documents int          `json:"documents"` // that match
	Without   int          `json:"without"`   // of these, without the key
	Values    []FacetValue `json:"values"`    // most documents first, then by value
}

// FacetValue is one value. A document whose value is a list counts for each of
// its parts.
type FacetValue struct {
	Value     string `json:"value"`
	Documents int    `json:"documents"`
}

// Facets tells how the documents that hold any word of a query, and may be found,
// are spread over the values of keys; a query without words counts all that may
// be found. The error is an [*UnknownKeyError].
func (s *Searcher) Facets(ctx context.Context, q state.Query, keys ...string) ([]Facet, error) {
	known := s.Keys()
	out := make([]Facet, len(keys))
	counts := make([]map[string]int, len(keys))
	for k, key := range keys {
		key = strings.ToLower(strings.TrimSpace(key))
		if !slices.Contains(known, key) || key == state.KeySource {
			return nil, &UnknownKeyError{key, slices.DeleteFunc(known, func(k string) bool { return k == state.KeySource })}
		}
		out[k], counts[k] = Facet{Key: key}, map[string]int{}
	}
	terms := s.queryTerms(q)
	for i := range s.parts {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		p := &s.parts[i]
		matched := p.matched(terms, i, len(s.db.analyzer.Analyze(q.Text)) == 0)
		all := matched.count(0, p.files)
		for k := range out {
			out[k].Documents += all
			have := newBitmap(p.files)
			for _, v := range p.attributes()[out[k].Key] {
				n := 0
				for _, f := range v.files {
					if matched.has(int(f)) {
						have.set(int(f))
						n++
					}
				}
				if n > 0 {
					for _, item := range v.items[min(1, len(v.items)-1):] {
						counts[k][item] += n
					}
				}
			}
			out[k].Without += all - have.count(0, p.files)
		}
	}
	for k := range out {
		out[k].Values = make([]FacetValue, 0, len(counts[k]))
		for _, v := range slices.Sorted(maps.Keys(counts[k])) {
			out[k].Values = append(out[k].Values, FacetValue{v, counts[k][v]})
		}
		slices.SortStableFunc(out[k].Values, func(a, b FacetValue) int { return cmp.Compare(b.Documents, a.Documents) })
	}
	return out, nil
}

// matched returns the files of part i with a chunk that may be found and holds a
// term; everything asks for no term.
func (p *part) matched(terms []queryTerm, i int, everything bool) bitmap {
	out := newBitmap(p.files)
	if everything {
		for c := range p.chunks {
			if p.shows(c) {
				out.set(int(p.chunkField(c, 0)))
			}
		}
		return out
	}
	for _, t := range terms {
		p.eachPosting(t.parts[i], func(c posting, first, end int) {
			if f := int(p.chunkField(first, 0)); !out.has(f) {
				if c.title == 0 {
					first, end = int(c.chunk), int(c.chunk)+1
				}
				for at := first; at < end; at++ {
					if p.shows(at) {
						out.set(f)
						break
					}
				}
			}
		})
	}
	return out
}
