package longterm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"example.com/ragflow/internal/text"
	"example.com/ragflow/llm"
)

// Query says which facts to find.
type Query struct {
	Text   string         // what to look for; empty: all facts, the newest first
	Where  map[string]any // members of the value that must be equal; compared as JSON
	Limit  int            // 0: 10
	Offset int            // facts to leave out, for pages
}

// A search ranks this many facts by words, and by meaning, or as many as are asked for.
const rankedByWords, rankedByMeaning = 2000, 1000

// Search returns the facts below a namespace that match a query, best first. A fact that
// shares no word with the text is found only by an embedder.
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
	offset, limit := max(q.Offset, 0), cmp.Or(max(q.Limit, 0), 10)
	rows, err := s.rank(ctx, below.Path(), strings.TrimSpace(q.Text), where, offset+limit)
	if err != nil {
		return nil, err
	}
	rows = rows[min(offset, len(rows)):]
	out := make([]Fact, min(limit, len(rows)))
	for i := range out {
		out[i] = rows[i].Fact
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

// rank returns the best rows for a text, at least most if there are so many. Without a text the newest come first.
func (s *Store) rank(ctx context.Context, path, query string, where map[string]string, most int) ([]Row, error) {
	now := s.now()
	if query == "" {
		newest := best{most: most, compare: func(a, b Row) int { return b.Updated.Compare(a.Updated) }}
		err := s.table.Scan(ctx, path, now, func(r Row) error { return newest.add(r, matches(r.Value, where)) })
		return newest.sorted(), err
	}
	analyzer := text.For(text.Language(query))
	asked := map[string]map[string]bool{} // the terms of the query by their folded form
	eachTerm(analyzer, query, func(term, folded string) {
		if asked[folded] == nil {
			asked[folded] = map[string]bool{}
		}
		asked[folded][term] = true
	})
	rows, all, err := s.table.Find(ctx, path, slices.Sorted(maps.Keys(asked)), now, max(most, rankedByWords))
	if err != nil {
		return nil, err
	}
	byScore := func(a, b Row) int { return cmp.Compare(b.Score, a.Score) }
	rows = slices.DeleteFunc(rows, func(r Row) bool { return !matches(r.Value, where) })
	scoreByWords(rows, analyzer, asked, all)
	rows = slices.DeleteFunc(rows, func(r Row) bool { return r.Score == 0 })
	slices.SortStableFunc(rows, byScore)
	if s.o.Embedder == nil {
		return fused(rows), nil
	}
	vector, err := s.embed(ctx, query, llm.Query)
	if err != nil {
		return nil, err
	}
	nearest := best{most: max(most, rankedByMeaning), compare: byScore}
	err = s.table.Scan(ctx, path, now, func(r Row) error {
		if r.Model == s.o.Embedder.Model() {
			r.Score = cosine(vector, r.Vector)
		}
		r.Vector = nil
		return nearest.add(r, r.Score > 0 && matches(r.Value, where))
	})
	return fused(rows, nearest.sorted()), err
}

// best keeps the first rows in an order.
type best struct {
	most    int
	compare func(a, b Row) int
	rows    []Row
}

// add adds a row if it counts. It returns nil.
func (b *best) add(r Row, counts bool) error {
	if counts {
		b.rows = append(b.rows, r)
	}
	if len(b.rows) > 2*b.most {
		b.sorted()
	}
	return nil
}

func (b *best) sorted() []Row {
	slices.SortStableFunc(b.rows, b.compare)
	b.rows = b.rows[:min(b.most, len(b.rows))]
	return b.rows
}

// fused joins lists of rows by reciprocal rank.
func fused(lists ...[]Row) []Row {
	const k = 60
	type id struct{ path, key string }
	at := map[id]int{}
	var out []Row
	for _, rows := range lists {
		for rank, r := range rows {
			of := id{r.Namespace.Path(), r.Key}
			i, known := at[of]
			if !known {
				i = len(out)
				at[of] = i
				r.Score = 0
				out = append(out, r)
			}
			out[i].Score += 1 / float64(k+rank+1)
		}
	}
	slices.SortFunc(out, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Namespace.Path(), b.Namespace.Path()), cmp.Compare(a.Key, b.Key))
	})
	return out
}

// fold takes the marks off letters.
func fold(s string) string {
	const stroked, plain = "łŁøØĐ", "lLoOD" // two bytes for one
	s = strings.Map(func(r rune) rune {
		if i := strings.IndexRune(stroked, r); i >= 0 {
			return rune(plain[i/2])
		}
		return r
	}, text.Fold(s))
	for _, double := range [][2]string{{"ß", "ss"}, {"æ", "ae"}, {"Æ", "Ae"}, {"œ", "oe"}, {"Œ", "Oe"}} {
		s = strings.ReplaceAll(s, double[0], double[1])
	}
	return s
}

// eachTerm calls do with each term of a text and its folded form, then with the terms of the folded text, whose stems may
// be others, and an empty term. It returns the number of terms of the text itself.
func eachTerm(analyzer text.Analyzer, s string, do func(term, folded string)) int {
	tokens := analyzer.Analyze(s)
	for _, t := range tokens {
		do(t.Term, fold(t.Term))
	}
	if folded := fold(s); folded != s {
		for _, t := range analyzer.Analyze(folded) {
			do("", t.Term)
		}
	}
	return len(tokens)
}

// indexed returns the length of a text and its folded terms in every language in which it may be asked for: the language of
// a question decides about its terms.
func indexed(s string) (words int, terms []string) {
	all := map[string]bool{}
	for _, lang := range append(text.Multilingual().Codes(), "", "vi", "en") {
		words = eachTerm(text.For(lang), s, func(_, folded string) { all[folded] = true })
	}
	return words, slices.Sorted(maps.Keys(all))
}

// scoreByWords sets the BM25 score of each row (k1 = 1.5, b = 0.75), with the document frequencies of the rows
// themselves. A term that is written with other marks than in the question counts half.
func scoreByWords(rows []Row, analyzer text.Analyzer, asked map[string]map[string]bool, all Totals) {
	counts, lengths, found := make([]map[string]float64, len(rows)), make([]float64, len(rows)), map[string]float64{}
	for i, r := range rows {
		counts[i] = map[string]float64{}
		bare := map[string]float64{} // counts of the folded text
		lengths[i] = float64(eachTerm(analyzer, content(r.Fact), func(term, folded string) {
			switch as := asked[folded]; {
			case as == nil:
			case term == "":
				bare[folded] += 0.5
			case as[term]:
				counts[i][folded]++
			default:
				counts[i][folded] += 0.5
			}
		}))
		for term, n := range bare {
			counts[i][term] = max(counts[i][term], n)
		}
		for term := range counts[i] {
			found[term]++
		}
	}
	const k1, b = 1.5, 0.75
	n := float64(max(all.Rows, len(rows)))
	mean := max(1, float64(all.Words)) / max(1, float64(all.Rows))
	for i := range rows {
		for _, term := range slices.Sorted(maps.Keys(counts[i])) {
			df, tf := found[term], counts[i][term]
			rows[i].Score += math.Log(1+(n-df+0.5)/(df+0.5)) * tf * (k1 + 1) / (tf + k1*(1-b+b*lengths[i]/mean))
		}
	}
}

// cosine returns the cosine of two vectors; 0 if they cannot be compared.
func cosine(x, y []float32) float64 {
	if len(x) != len(y) {
		return 0
	}
	var dot, a, b float64
	for i := range x {
		dot, a, b = dot+float64(x[i])*float64(y[i]), a+float64(x[i])*float64(x[i]), b+float64(y[i])*float64(y[i])
	}
	if a == 0 || b == 0 {
		return 0
	}
	return dot / math.Sqrt(a*b)
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
