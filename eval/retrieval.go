package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.com/ragflow"
	"example.com/ragflow/search"
)

// Query is a query with what is known to be relevant to it.
type Query struct {
	ID   string
	Text string
	// Gains are the documents judged relevant with how much they are, 1 and more.
	Gains map[string]int
}

// Judged is a set of queries with judgements, in the order of the queries. Each
// has at least one relevant document.
type Judged struct {
	Name    string
	Queries []Query
}

// NewJudged puts queries and judgements together. Queries without a relevant
// document are left out, for nothing can be said of them. Judgements of queries
// that are not there, and of documents that has does not know, are a
// [*DatasetError] with lines of the judgements; a nil has knows all.
func NewJudged(name string, queries []Query, qrels []Qrel, has func(document string) bool) (Judged, error) {
	j := Judged{Name: name}
	var wrong faults
	at := make(map[string]int, len(queries))
	all := slices.Clone(queries)
	for i, q := range all {
		at[q.ID] = i
		all[i].Gains = map[string]int{}
	}
	for _, r := range qrels {
		i, ok := at[r.Query]
		if !ok {
			wrong.add(r.Line, "there is no query %q", r.Query)
		}
		if has != nil && !has(r.Document) {
			wrong.add(r.Line, "there is no document %q in the corpus", r.Document)
		}
		if ok && r.Gain > 0 {
			all[i].Gains[r.Document] = r.Gain
		}
	}
	for _, q := range all {
		if len(q.Gains) > 0 {
			j.Queries = append(j.Queries, q)
		}
	}
	if len(j.Queries) == 0 && len(wrong) == 0 {
		wrong.add(1, "no query has a document with a score above 0")
	}
	return j, wrong.err()
}

// dataset is the set as one of questions, for the store.
func (j Judged) dataset() Dataset {
	d := Dataset{Name: j.Name}
	for _, q := range j.Queries {
		d.Items = append(d.Items, Item{ID: q.ID, Question: q.Text, Expected: Expected{Relevant: q.relevant()}})
	}
	return d
}

// relevant lists the relevant documents, the most relevant first.
func (q Query) relevant() []string {
	return slices.SortedFunc(maps.Keys(q.Gains), func(a, b string) int {
		return cmp.Or(cmp.Compare(q.Gains[b], q.Gains[a]), strings.Compare(a, b))
	})
}

// Retriever finds passages; [*ragflow.Assistant] is one. It must be safe for
// concurrent use.
type Retriever interface {
	Search(ctx context.Context, query string, o ragflow.SearchOptions) (*ragflow.SearchReply, error)
}

// DefaultDepth is how many documents of a query are ranked.
const DefaultDepth = 100

// RetrievalOptions say how a retrieval run goes. Judge does not
// matter.
type RetrievalOptions struct {
	Options
	Depth int      // documents ranked for a query; 0: DefaultDepth
	Legs  []string // that are measured besides the search as it is configured
	Info  RetrievalInfo
}

// RetrievalInfo says what a retrieval run was made of, so that it can be made
// again.
type RetrievalInfo struct {
	Corpus    string   `json:"corpus"` // paths
	Queries   string   `json:"queries"`
	Qrels     string   `json:"qrels"`
	Documents int      `json:"documents"` // of the corpus
	Depth     int      `json:"depth"`
	Legs      []string `json:"legs,omitempty"`
}

// newRetrievalResult returns the result of a retrieval run without outcomes,
// and the dataset that stands for its queries.
func newRetrievalResult(j Judged, o RetrievalOptions) (*Result, Dataset) {
	o = o.withDefaults()
	d := j.dataset()
	r := newResult(d, o.Options)
	info := o.Info
	info.Depth, info.Legs = o.Depth, o.Legs
	r.Retrieval = &info
	return r, d
}

func (o RetrievalOptions) withDefaults() RetrievalOptions {
	o.Options = o.Options.withDefaults()
	o.Judge = nil
	if o.Depth < 1 {
		o.Depth = DefaultDepth
	}
	return o
}

// Retrieve searches for every query of a set and measures the documents found:
// the passages of one document count as one, at the rank of the best. Documents
// beyond the depth count as not found.
//
// It runs as [Run] does: a query that fails is an outcome with an error, counted
// with zeros, and what makes all further searching pointless ends the run.
func Retrieve(ctx context.Context, from Retriever, j Judged, o RetrievalOptions) (*Result, error) {
	o = o.withDefaults()
	result, d := newRetrievalResult(j, o)
	byID := make(map[string]Query, len(j.Queries))
	for _, q := range j.Queries {
		byID[q.ID] = q
	}
	err := result.runItems(ctx, d, o.Options, func(ctx context.Context, item Item) ([]Outcome, error) {
		out := questionsOf(item)
		return out, out[0].retrieve(ctx, from, byID[item.ID], o)
	})
	return result, err
}

// retrieve searches for a query in all the ways that are measured.
func (o *Outcome) retrieve(ctx context.Context, from Retriever, q Query, options RetrievalOptions) error {
	o.Metrics, o.Retrieved, o.Citations = map[string]float64{}, []Page{}, []Citation{}
	for _, leg := range slices.Concat([]string{""}, options.Legs) {
		begun := options.Clock()
		pages, warnings, err := rankDocuments(ctx, from, q, options.Depth, leg)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return ctx.Err()
		case pointless(err):
			return fmt.Errorf("%s: %w", o.ID, err)
		default:
			o.Error = err.Error()
		}
		if leg == "" {
			o.LatencyMS = float64(options.Clock().Sub(begun).Microseconds()) / 1000
			o.Retrieved, o.Warnings = pages, warnings
		}
		o.measureRanking(sources(pages), q.Gains, leg)
	}
	o.Trouble = o.retrievalTroubles(len(q.Gains))
	return nil
}

// rankDocuments searches until depth documents are found, or there are no more.
func rankDocuments(ctx context.Context, from Retriever, q Query, depth int, leg string) ([]Page, []string, error) {
	for k := 2 * depth; ; k *= 4 {
		reply, err := from.Search(ctx, q.Text, ragflow.SearchOptions{Request: search.Request{K: k, Leg: leg, Ranks: true}, Plain: true})
		if errors.Is(err, ragflow.ErrEmptyQuery) { // nothing to search for finds nothing
			return []Page{}, nil, nil
		}
		if err != nil {
			return []Page{}, nil, err
		}
		pages := documentsOf(reply.Hits, q.Gains, depth)
		if len(pages) == depth || len(reply.Hits) < k || k > 64*depth {
			return pages, reply.Warnings, nil
		}
	}
}

// documentsOf folds the passages of each document into one, at the place of the
// best.
func documentsOf(hits []ragflow.SearchHit, gains map[string]int, depth int) []Page {
	seen := map[string]bool{}
	pages := []Page{}
	for _, h := range hits {
		if !seen[h.Source] && len(pages) < depth {
			seen[h.Source] = true
			pages = append(pages, Page{Source: h.Source, Score: h.Score, Relevant: gains[h.Source] > 0})
		}
	}
	return pages
}

// measureRanking fills in the metrics of a ranking; those of one leg have its
// name behind.
func (o *Outcome) measureRanking(ranking []string, gains map[string]int, leg string) {
	for name, value := range RankingMetrics(ranking, gains) {
		o.Metrics[legMetric(name, leg)] = value
	}
}

func legMetric(name, leg string) string {
	if leg == "" {
		return name
	}
	return name + "_" + leg
}

// retrievalTroubles says in words what is wrong with a ranking.
func (o *Outcome) retrievalTroubles(relevant int) []string {
	switch found := o.Metrics[MetricRecall100]; {
	case o.Error != "":
		return []string{"failed: " + o.Error}
	case o.Metrics[MetricMRR] == 0:
		return []string{"no relevant document was found"}
	case o.Metrics[MetricRecall10] == 0:
		return []string{"no relevant document among the first 10"}
	case found < 1:
		return []string{fmt.Sprintf("%.0f of %s among the first 100", found*float64(relevant), plural(relevant, "relevant document"))}
	}
	return []string{}
}
