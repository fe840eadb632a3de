package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
)

// Parameter is a setting of the search that [Tune] may change.
type Parameter struct {
	Name   string
	Values []string // to choose from; that in use is added where it is missing
}

// Values are settings by name.
type Values map[string]string

// key names values: the same ones have the same key.
func (v Values) key() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		parts = append(parts, name+"="+v[name])
	}
	return strings.Join(parts, " ")
}

// with returns values with one of them changed.
func (v Values) with(name, value string) Values {
	out := maps.Clone(v)
	out[name] = value
	return out
}

// Tuning says how [Tune] goes.
type Tuning struct {
	Parameters []Parameter
	Now        Values // in use, one for each parameter
	// Open returns a searcher that works by such values. One that is an io.Closer
	// is closed after use.
	Open    func(ctx context.Context, v Values) (Retriever, error)
	Metric  string // one of [RetrievalMetrics], without a leg; empty: MetricNDCG
	Folds   int    // 2 or more; 0: 5, or as many as there are queries
	Workers int    // queries at a time; 0: one for each processor

	Known    map[string][]float64                         // figures of an earlier call, as Record was given them
	Record   func(values string, figures []float64) error // told of each setting measured; an error ends it
	Progress func(settings int)                           // told how many were measured
}

// Tuned is what tuning found. Its JSON is the schema of `ragflow eval tune --json`.
type Tuned struct {
	Set     string   `json:"set"`
	Queries int      `json:"queries"`
	Metric  string   `json:"metric"`
	Tried   int      `json:"tried"` // settings measured
	Now     Values   `json:"now"`
	Best    Values   `json:"best"`  // over all queries; its own figure flatters
	Folds   []Values `json:"folds"` // the best of the queries outside of each fold
	// HeldOut compares each query under Now (A) with the best of the folds it is
	// not in (B).
	HeldOut MetricComparison `json:"held_out"`
	// Recommended is whether the gain is more than noise: its whole interval lies
	// above zero.
	Recommended bool `json:"recommended"`
}

// Tune looks for values under which a metric is better on the judgements of a
// set, and tells by cross-validation what they are worth on queries they were
// not chosen on: for each fold, values are chosen on the queries outside of it
// and measured on those within. The gain over all held-out queries, with its
// bootstrap interval and the p-value of a paired randomisation test, is what the
// choice is worth; that of the final values on all queries is not, and is not
// told.
//
// Values are chosen by coordinate search: one parameter after the other, the
// others held, beginning with those in use, until nothing improves or twice
// around. All of it is deterministic; folds are drawn from a fixed seed.
func Tune(ctx context.Context, j Judged, o Tuning) (*Tuned, error) {
	o, err := o.withDefaults(len(j.Queries))
	if err != nil {
		return nil, err
	}
	t := &tuner{judged: j, options: o, known: maps.Clone(o.Known)}
	if t.known == nil {
		t.known = map[string][]float64{}
	}
	out := &Tuned{Set: j.Name, Queries: len(j.Queries), Metric: o.Metric, Now: maps.Clone(o.Now)}
	now, err := t.figures(ctx, o.Now)
	if err != nil {
		return nil, err
	}
	fold := foldsOf(len(j.Queries), o.Folds)
	held := make([]float64, len(now))
	for f := range o.Folds {
		best, err := t.search(ctx, func(query int) bool { return fold[query] != f })
		if err != nil {
			return nil, err
		}
		figures, err := t.figures(ctx, best)
		if err != nil {
			return nil, err
		}
		for query := range held {
			if fold[query] == f {
				held[query] = figures[query]
			}
		}
		out.Folds = append(out.Folds, best)
	}
	if out.Best, err = t.search(ctx, func(int) bool { return true }); err != nil {
		return nil, err
	}
	out.Tried, out.HeldOut = t.measured, comparePairs(o.Metric, now, held)
	out.Recommended = out.HeldOut.Low > 0 && out.Best.key() != out.Now.key()
	return out, nil
}

func (o Tuning) withDefaults(queries int) (Tuning, error) {
	o.Metric = cmp.Or(o.Metric, MetricNDCG)
	o.Folds = min(cmp.Or(o.Folds, 5), queries)
	if o.Workers < 1 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Folds < 2 {
		return o, fmt.Errorf("%s and %s: cross-validation needs at least 2 of both", plural(queries, "query"), plural(o.Folds, "fold"))
	}
	o.Parameters = slices.Clone(o.Parameters)
	for i, p := range o.Parameters {
		now, ok := o.Now[p.Name]
		if !ok {
			return o, fmt.Errorf("tune: %s has no value in use", p.Name)
		}
		if !slices.Contains(p.Values, now) {
			o.Parameters[i].Values = append([]string{now}, p.Values...)
		}
	}
	return o, nil
}

// foldsOf deals n queries to folds of equal size, by a fixed seed.
func foldsOf(n, folds int) []int {
	out := make([]int, n)
	random := rand.New(rand.NewPCG(3, uint64(n))) //nolint:gosec // reproducible on purpose
	for place, query := range random.Perm(n) {
		out[query] = place % folds
	}
	return out
}

// comparePairs compares two figures of each query.
func comparePairs(metric string, as, bs []float64) MetricComparison {
	m := MetricComparison{Name: metric, N: len(as), A: Mean(as), B: Mean(bs)}
	differences := make([][]float64, len(as))
	for i := range as {
		differences[i] = []float64{bs[i] - as[i]}
		switch {
		case bs[i] > as[i]:
			m.Wins++
		case bs[i] < as[i]:
			m.Losses++
		default:
			m.Ties++
		}
	}
	m.Difference = Mean(slices.Concat(differences...))
	m.Interval, m.P = bootstrapGroups(differences), randomisation(differences)
	return m
}

// tuner measures values, each once.
type tuner struct {
	judged   Judged
	options  Tuning
	known    map[string][]float64 // by values: the metric of each query
	seen     map[string]bool
	measured int
}

// search returns the best values for the queries that in lets through.
func (t *tuner) search(ctx context.Context, in func(query int) bool) (Values, error) {
	best := maps.Clone(t.options.Now)
	score := func(v Values) (float64, error) {
		figures, err := t.figures(ctx, v)
		var some []float64
		for query, f := range figures {
			if in(query) {
				some = append(some, f)
			}
		}
		return Mean(some), err
	}
	top, err := score(best)
	for pass := 0; pass < 2 && err == nil; pass++ {
		before := best.key()
		for _, p := range t.options.Parameters {
			for _, value := range p.Values {
				v := best.with(p.Name, value)
				mean, err := score(v)
				if err != nil {
					return nil, err
				}
				const least = 1e-9 // sums of another order are no gain
				if mean > top+least {
					best, top = v, mean
				}
			}
		}
		if best.key() == before {
			break
		}
	}
	return best, err
}

// figures are the metric of each query under some values.
func (t *tuner) figures(ctx context.Context, v Values) ([]float64, error) {
	key := v.key()
	if t.seen == nil {
		t.seen = map[string]bool{}
	}
	if !t.seen[key] {
		t.seen[key] = true
		t.measured++
		defer func() {
			if t.options.Progress != nil {
				t.options.Progress(t.measured)
			}
		}()
	}
	if f := t.known[key]; len(f) == len(t.judged.Queries) {
		return f, nil
	}
	from, err := t.options.Open(ctx, v)
	if err != nil {
		return nil, fmt.Errorf("search with %s: %w", key, err)
	}
	figures, err := t.measure(ctx, from)
	if c, ok := from.(io.Closer); ok {
		err = errors.Join(err, c.Close())
	}
	if err == nil && t.options.Record != nil {
		err = t.options.Record(key, figures)
	}
	if err != nil {
		return nil, err
	}
	t.known[key] = figures
	return figures, nil
}

// measure searches for every query.
func (t *tuner) measure(ctx context.Context, from Retriever) ([]float64, error) {
	depth := DefaultDepth
	switch t.options.Metric {
	case MetricNDCG, MetricRecall5, MetricRecall10:
		depth = 10
	}
	figures := make([]float64, len(t.judged.Queries))
	err := inParallel(ctx, len(figures), t.options.Workers, func(ctx context.Context, i int) error {
		q := t.judged.Queries[i]
		pages, _, err := rankDocuments(ctx, from, q, depth, "")
		if err != nil {
			return fmt.Errorf("query %s: %w", q.ID, err)
		}
		figures[i] = RankingMetrics(sources(pages), q.Gains)[t.options.Metric]
		return nil
	})
	return figures, err
}

// WriteTable writes what was found for people to read on a terminal.
func (r *Tuned) WriteTable(w io.Writer) error {
	fmt.Fprintf(w, "%s: %s, %s chosen by %s in %d-fold cross-validation, %s tried\n\n",
		r.Set, plural(r.Queries, "query"), plural(len(r.Now), "setting"), r.Metric, len(r.Folds), plural(r.Tried, "combination"))
	var rows strings.Builder
	t := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SETTING\tNOW\tBEST\tBEST WITHOUT EACH FOLD")
	for _, name := range slices.Sorted(maps.Keys(r.Now)) {
		var folds []string
		for _, f := range r.Folds {
			folds = append(folds, f[name])
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", name, r.Now[name], r.Best[name], strings.Join(folds, " "))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	h := r.HeldOut
	_, err := fmt.Fprintf(w, "%s\n%s on queries held out: %.4f now, %.4f tuned; gain %+.4f [%+.4f, %+.4f], p %.3f, won/lost/tied %d/%d/%d\n%s\n",
		tidy(rows.String()), r.Metric, h.A, h.B, h.Difference, h.Low, h.High, h.P, h.Wins, h.Losses, h.Ties, r.advice())
	return err
}

// advice says whether to change anything.
func (r *Tuned) advice() string {
	switch {
	case r.Recommended:
		return "recommended: the gain is more than noise"
	case r.Best.key() == r.Now.key():
		return "keep what is configured: nothing tried is better"
	}
	return "keep what is configured: the gain is within noise"
}
