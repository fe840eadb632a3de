package longterm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"example.com/ragflow/llm"
	"example.com/ragflow/search/text"
)

// Query says which facts to find.
type Query struct {
	Text   string         // what to look for; empty: all facts, the newest first
	Where  map[string]any // members of the value that must be equal; compared as JSON
	Limit  int            // 0: 10
	Offset int            // facts to leave out, for pages
}

// Search returns the facts below a namespace that match a query, best first. A fact that
// shares no word with the text is found only by an embedder. Errors match [ErrTooMany]
// where more than [MaxScanned] facts lie below the namespace.
func (s *Store) Search(ctx context.Context, below Namespace, q Query) ([]Fact, error) {
	if err := below.check(); err != nil {
		return nil, err
	}
	where := map[string]string{}
	for name, value := range q.Where {
		written, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("%w: the condition on %s: %w", ErrInvalid, name, err)
		}
		where[name] = string(written)
	}
	rows, err := s.table.Scan(ctx, below.Path(), MaxScanned+1)
	if err != nil {
		return nil, err
	}
	if len(rows) > MaxScanned {
		return nil, fmt.Errorf("%w: more than %d; search a narrower one", ErrTooMany, MaxScanned)
	}
	rows = slices.DeleteFunc(rows, func(r Row) bool { return s.expired(r) || !matches(r.Value, where) })
	if rows, err = s.rank(ctx, rows, strings.TrimSpace(q.Text)); err != nil {
		return nil, err
	}
	rows = rows[min(max(q.Offset, 0), len(rows)):]
	rows = rows[:min(cmp.Or(max(q.Limit, 0), 10), len(rows))]
	out := make([]Fact, len(rows))
	for i, r := range rows {
		out[i] = r.Fact
	}
	return out, nil
}

// matches reports whether the members of an object have the given values, as JSON.
func matches(value json.RawMessage, where map[string]string) bool {
	if len(where) == 0 {
		return true
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return false
	}
	for name, want := range where {
		var got bytes.Buffer
		if json.Compact(&got, members[name]) != nil || got.String() != want {
			return false
		}
	}
	return true
}

// rank orders rows by a text and drops those that have nothing to do with it. Without a
// text the newest come first.
func (s *Store) rank(ctx context.Context, rows []Row, query string) ([]Row, error) {
	if query == "" {
		slices.SortStableFunc(rows, func(a, b Row) int { return b.Updated.Compare(a.Updated) })
		return rows, nil
	}
	lists := [][]float64{byWords(rows, query)}
	if s.o.Embedder != nil && len(rows) > 0 {
		vector, err := s.embed(ctx, query, llm.Query)
		if err != nil {
			return nil, err
		}
		lists = append(lists, byMeaning(rows, vector, s.o.Embedder.Model()))
	}
	const k = 60
	for _, scores := range lists {
		order := make([]int, 0, len(rows))
		for i, score := range scores {
			if score > 0 {
				order = append(order, i)
			}
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
		for rank, i := range order {
			rows[i].Score += 1 / float64(k+rank+1)
		}
	}
	rows = slices.DeleteFunc(rows, func(r Row) bool { return r.Score == 0 })
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(b.Score, a.Score) })
	return rows, nil
}

// byWords returns the BM25 score of each row (k1 = 1.5, b = 0.75), with the document
// frequencies of the rows themselves.
func byWords(rows []Row, query string) []float64 {
	analyzer := text.For(text.Language(query))
	asked := map[string]int{} // documents that hold a term
	for _, t := range analyzer.Analyze(query) {
		asked[t.Term] = 0
	}
	counts, lengths, total := make([]map[string]int, len(rows)), make([]float64, len(rows)), 0.0
	for i, r := range rows {
		counts[i] = map[string]int{}
		for _, t := range analyzer.Analyze(content(r.Fact)) {
			lengths[i]++
			if _, ok := asked[t.Term]; ok {
				counts[i][t.Term]++
			}
		}
		for term := range counts[i] {
			asked[term]++
		}
		total += lengths[i]
	}
	const k1, b = 1.5, 0.75
	scores := make([]float64, len(rows))
	mean, n := total/max(1, float64(len(rows))), float64(len(rows))
	for i := range rows {
		for term, count := range counts[i] {
			df, tf := float64(asked[term]), float64(count)
			scores[i] += math.Log(1+(n-df+0.5)/(df+0.5)) * tf * (k1 + 1) / (tf + k1*(1-b+b*lengths[i]/mean))
		}
	}
	return scores
}

// byMeaning returns the cosine of each row's vector and the query's; 0 for rows without a
// vector of the model.
func byMeaning(rows []Row, query []float32, model string) []float64 {
	scores := make([]float64, len(rows))
	for i, r := range rows {
		if r.Model != model || len(r.Vector) != len(query) {
			continue
		}
		var dot, a, b float64
		for j, x := range query {
			y := r.Vector[j]
			dot, a, b = dot+float64(x)*float64(y), a+float64(x)*float64(x), b+float64(y)*float64(y)
		}
		if a > 0 && b > 0 {
			scores[i] = dot / math.Sqrt(a*b)
		}
	}
	return scores
}

// content is the text of a fact: its key, and all texts and numbers in its value.
func content(f Fact) string {
	parts := []string{f.Key}
	d := json.NewDecoder(bytes.NewReader(f.Value))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return strings.Join(parts, "\n")
		}
		switch v := token.(type) {
		case string:
			parts = append(parts, v)
		case json.Number:
			parts = append(parts, v.String())
		}
	}
}
