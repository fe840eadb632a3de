package memstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/stored"
)

// Threads implements [graph.Lister].
func (s *Store) Threads(ctx context.Context, q graph.ThreadQuery) (graph.ThreadPage, error) {
	p, err := stored.NewPager(ctx, q)
	if err != nil {
		return graph.ThreadPage{}, err
	}
	err = s.do(ctx, "", func() error {
		for _, t := range s.selected(p.ThreadQuery) {
			more, err := p.Take(t.info(), t.made, int64(t.active), func() (bool, error) { return s.says(t, p.Text), nil })
			if !more || err != nil {
				return err
			}
		}
		return nil
	})
	return p.ThreadPage, err
}

// selected returns the threads that meet the conditions on owner, status and place in the order.
func (s *Store) selected(q graph.ThreadQuery) (out []*thread) {
	sign := -1
	if q.OldestFirst {
		sign = 1
	}
	for _, t := range s.threads {
		switch {
		case t.head == 0 || !t.seenBy(q.Owner) || q.Status != "" && t.commits[t.head].Status != q.Status:
		case q.After != 0 && sign*cmp.Compare(t.key(q.Order), q.After) <= 0:
		default:
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b *thread) int { return sign * cmp.Compare(a.key(q.Order), b.key(q.Order)) })
	return out
}

// key is the place of a thread in an order.
func (t *thread) key(order graph.ThreadOrder) int64 {
	if order == graph.ByCreation {
		return t.made
	}
	return int64(t.active)
}

// says reports whether a text of the thread's log contains a folded text.
func (s *Store) says(t *thread, text string) bool {
	for _, c := range t.commits {
		if _, said := stored.FactsOf(s.Texts, c.Commit); strings.Contains(said, text) {
			return true
		}
	}
	return false
}

func (t *thread) info() graph.ThreadInfo {
	head := t.commits[t.head]
	out := graph.ThreadInfo{
		Thread: head.Thread, Owner: t.owner, ThreadFacts: t.facts,
		Created: t.created, Touched: head.Time, First: t.head, Head: t.head, Status: head.Status,
	}
	for id, c := range t.commits {
		out.First = min(out.First, id)
		out.Inputs += c.Source.Turns()
		out.Bytes += int64(c.BodyBytes())
	}
	out.Metadata = maps.Clone(out.Metadata)
	return out
}

// Info implements [graph.Lister].
func (s *Store) Info(ctx context.Context, name string) (info graph.ThreadInfo, err error) {
	err = s.do(ctx, "", func() error {
		t, _, err := s.locate(ctx, name, 0)
		if err == nil {
			info = t.info()
		}
		return err
	})
	return info, err
}

// Describe implements [graph.Lister].
func (s *Store) Describe(ctx context.Context, name string, f graph.ThreadFacts) error {
	return s.do(ctx, fmt.Sprintf("describe thread %q", name), func() error {
		t, _, err := s.locate(ctx, name, 0)
		if err == nil {
			f, err = stored.AddFacts(t.facts, f)
		}
		if err == nil {
			t.facts = f
		}
		return err
	})
}
