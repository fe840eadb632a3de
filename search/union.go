package search

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"example.com/ragflow/internal/rank"
	"example.com/ragflow/state"
)

// Uniter is a [Snapshot] that can be searched together with others as one index.
type Uniter interface {
	// Unite returns a snapshot of its own documents and those of another. ok is false if
	// their scores cannot be compared.
	Unite(other Snapshot) (s Snapshot, ok bool)
}

// Union searches several indexes as one. It returns a single snapshot as it is.
//
// Snapshots that can [Uniter.Unite] are ranked as one index that holds all their documents:
// document frequencies and lengths are those of all, so scores are the same. Embedded indexes
// with one analyzer and one ranking can. The hits of other snapshots, such as those of
// servers, which rank by their own statistics, are fused by reciprocal rank: the best chunk of
// each comes first, and a [HybridServer] is asked for words and vectors separately. Vectors need
// no such care, because cosines of one embedder can be compared.
//
// A chunk keeps its id. If an earlier index has a chunk of the same id, the id ends in a mark
// of its root; [Snapshot.Chunks] reads both forms, and each [state.Chunk] names its root. A
// folder that is in two indexes is found twice.
//
// If the vectors of one index were made by another embedder, the error of Vectors is an
// [*EmbedderError], as for collections of one index: an [Engine] warns and searches by words.
func Union(first Snapshot, more ...Snapshot) Snapshot {
	u := &union{members: []member{{first, first}}}
next:
	for _, s := range more {
		for i, m := range u.members {
			if one, ok := m.Snapshot.(Uniter); ok {
				if both, ok := one.Unite(s); ok {
					u.members[i] = member{both, both}
					continue next
				}
			}
		}
		u.members = append(u.members, member{s, s})
	}
	if len(u.members) == 1 {
		return u.members[0].Snapshot
	}
	u.Languages = NewLanguages(u.documentAnalyzer(), u.Docs(), u.DocFreq)
	return u
}

// union searches snapshots whose scores cannot be compared.
type union struct {
	Languages
	members []member
}

// member is a snapshot of a union. Its statistics are those of all its documents.
type member struct {
	Snapshot

	found Snapshot // the documents that pass the filter
}

// documentAnalyzer returns the analyzer of the documents of the first member.
func (u *union) documentAnalyzer() Analyzer {
	if l, ok := u.members[0].Snapshot.(interface{ documentAnalyzer() Analyzer }); ok {
		return l.documentAnalyzer()
	}
	return u.members[0].Analyzer()
}

// hits asks all members at the same time and returns the k hits with the highest scores.
// Equal scores are ordered by member. Ids that an earlier member has, too, get a mark.
func (u *union) hits(ctx context.Context, k int, ask func(i int, s Snapshot) ([]state.Hit, error)) ([]state.Hit, error) {
	lists, faults := make([][]state.Hit, len(u.members)), make([]error, len(u.members))
	var wg sync.WaitGroup
	for i, m := range u.members {
		wg.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					faults[i] = fmt.Errorf("index %d panicked: %v", i+1, r)
				}
			}()
			lists[i], faults[i] = ask(i, m.found)
		})
	}
	wg.Wait()
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	for i := range lists {
		if err := u.mark(ctx, i, lists[i]); err != nil {
			return nil, err
		}
	}
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b state.Hit) int { return cmp.Compare(b.Score, a.Score) })
	all = all[:max(0, min(k, len(all)))]
	for i := range all {
		all[i].Legs[0].Rank, all[i].Legs[0].Score = i+1, all[i].Score
	}
	return all, nil
}

// mark adds the mark of their root to ids of member i that an earlier member has, too.
func (u *union) mark(ctx context.Context, i int, hits []state.Hit) error {
	ids := make([]string, len(hits))
	for n, h := range hits {
		ids[n] = h.Chunk
	}
	again := map[string]bool{}
	for _, m := range u.members[:i] {
		chunks, err := m.Chunks(ctx, ids)
		if err != nil {
			return err
		}
		for _, c := range chunks {
			again[c.ID] = true
		}
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return !again[id] || strings.Contains(id, "@") })
	if len(ids) == 0 {
		return nil
	}
	chunks, err := u.members[i].Chunks(ctx, ids)
	marked := map[string]string{}
	for _, c := range chunks {
		marked[c.ID] = c.ID + "@" + RootMark(c.Root)
	}
	for n := range hits {
		hits[n].Chunk = cmp.Or(marked[hits[n].Chunk], hits[n].Chunk)
	}
	return err
}

// RootMark returns the text after "@" in the id of a chunk of a root, which every [Snapshot]
// of that root accepts. It tells chunks of several roots apart that have the same id.
func RootMark(root string) string {
	sum := sha256.Sum256([]byte(root))
	return hex.EncodeToString(sum[:4])
}

// SearchWords implements Snapshot. A hit scores 1/(60 + its rank in its own index).
func (u *union) SearchWords(ctx context.Context, q state.Query, k int) ([]state.Hit, error) {
	return u.hits(ctx, k, func(_ int, s Snapshot) ([]state.Hit, error) {
		hits, err := s.SearchWords(ctx, q, k)
		for i := range hits {
			hits[i].Score = 1 / float64(rank.K+i+1)
		}
		return hits, err
	})
}

func (u *union) Documents(ctx context.Context) (all []*Document, err error) {
	for _, m := range u.members {
		docs, err := m.Documents(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, docs...)
	}
	slices.SortStableFunc(all, func(a, b *Document) int {
		return cmp.Or(strings.Compare(a.Root, b.Root), strings.Compare(a.Source, b.Source))
	})
	return all, nil
}

func (u *union) Narrow(ctx context.Context, pass func(*Document) bool) (Snapshot, error) {
	out := &union{Languages: u.Languages, members: slices.Clone(u.members)}
	for i, m := range u.members {
		var err error
		if out.members[i].found, err = m.found.Narrow(ctx, pass); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (u *union) BestChunks(ctx context.Context, q state.Query, docs []*Document) ([]state.Hit, error) {
	best := make([]state.Hit, len(docs))
	for i, m := range u.members {
		hits, err := m.found.BestChunks(ctx, q, docs)
		if err == nil {
			err = u.mark(ctx, i, hits)
		}
		if err != nil {
			return nil, err
		}
		for n, h := range hits {
			if h.Chunk != "" && best[n].Chunk == "" {
				best[n] = h
			}
		}
	}
	return best, nil
}

func (u *union) Chunks(ctx context.Context, ids []string) ([]state.Chunk, error) {
	found := map[string]state.Chunk{}
	for _, m := range u.members {
		chunks, err := m.Chunks(ctx, ids)
		if err != nil {
			return nil, err
		}
		for _, c := range chunks {
			if _, before := found[c.ID]; !before {
				found[c.ID] = c
			}
		}
	}
	var out []state.Chunk
	for _, id := range ids {
		if c, ok := found[id]; ok {
			out = append(out, c)
		}
	}
	return out, nil
}

// Respelled returns the words that no index holds, each as the first index respells it.
func (u *union) Respelled(query string) (out []Respelled) {
	for _, m := range u.members {
		for _, r := range m.Respelled(query) {
			held := func(t QueryTerm) bool { return u.DocFreq(t.Term) > 0 }
			same := func(o Respelled) bool { return o.Word == r.Word }
			if !slices.ContainsFunc(out, same) && !slices.ContainsFunc(u.QueryTerms(r.Word), held) {
				out = append(out, r)
			}
		}
	}
	return out
}

// sum adds up a number of the members.
func (u *union) sum(of func(m member) int) (n int) {
	for _, m := range u.members {
		n += of(m)
	}
	return n
}

func (u *union) Docs() int { return u.sum(func(m member) int { return m.Docs() }) }

func (u *union) Files() int { return u.sum(func(m member) int { return m.Files() }) }

func (u *union) DocFreq(term string) int {
	return u.sum(func(m member) int { return m.DocFreq(term) })
}

func (u *union) Passing() int {
	return u.sum(func(m member) int { return m.found.Passing() })
}

func (u *union) CheckEmbedder(ctx context.Context, spec VectorSpec) error {
	for _, m := range u.members {
		if err := m.CheckEmbedder(ctx, spec); err != nil {
			return err
		}
	}
	return nil
}

func (u *union) Vectors(ctx context.Context, spec VectorSpec) (Vectors, error) {
	v := &unionVectors{u: u, of: make([]Vectors, len(u.members))}
	for i, m := range u.members {
		var err error
		if v.of[i], err = m.Vectors(ctx, spec); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// unionVectors are the vectors of all members.
type unionVectors struct {
	u  *union
	of []Vectors // by member, of all its documents
}

func (v *unionVectors) Search(ctx context.Context, query []float32, k int, least float64) ([]state.Hit, error) {
	return v.u.hits(ctx, k, func(i int, s Snapshot) ([]state.Hit, error) { return v.of[i].Of(s).Search(ctx, query, k, least) })
}

func (v *unionVectors) Of(s Snapshot) Vectors {
	if narrowed, ok := s.(*union); ok {
		return &unionVectors{u: narrowed, of: v.of}
	}
	return v
}

func (v *unionVectors) Len() (n int) {
	for _, m := range v.of {
		n += m.Len()
	}
	return n
}

func (v *unionVectors) Missing() (n int) {
	for _, m := range v.of {
		n += m.Missing()
	}
	return n
}
