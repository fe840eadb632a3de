package querylog

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"example.com/ragflow/internal/seal"
	"example.com/ragflow/internal/text"
)

// Query says what [Analyze] sums up.
type Query struct {
	From        time.Time // entries from From on; zero: all
	Collections []string  // entries that used these collections alone; none: all
	Owner       string    // entries of an owner; empty: all

	// Vectors returns a vector of length 1 for each text, by which questions of like meaning are
	// found. Nil: questions are alike by their words.
	Vectors func(ctx context.Context, texts []string) ([][]float32, error)
}

// Report sums up the log. Its JSON is the schema of "ragflow analytics --json". Lists are in the
// order of their counts.
type Report struct {
	Counts

	From          time.Time `json:"from,omitzero"`
	OfCollections []string  `json:"of_collections,omitempty"`
	OfOwner       string    `json:"of_owner,omitempty"`

	Stages      []Stage `json:"stages"` // "total" and "search" first, then the slowest
	Top         []Asked `json:"top_questions"`
	Unanswered  []Asked `json:"unanswered"` // declined, or searched for without a hit
	Gaps        []Gap   `json:"gaps"`       // what was asked more than once and the documents do not hold
	Errors      []Asked `json:"errors"`     // why questions failed
	Collections []Group `json:"collections"`
	Owners      []Group `json:"owners"`
	Models      []Group `json:"models"`

	Missing    int64  `json:"missing"`        // entries that could not be written
	Unreadable int    `json:"unreadable"`     // entries whose key is missing
	Note       string `json:"note,omitempty"` // why questions are compared by their words
}

// Counts count questions and searches. Rates are within 0 and 1, and 0 of nothing.
type Counts struct {
	Questions int `json:"questions"`
	Answered  int `json:"answered"`
	Declined  int `json:"declined"` // the documents do not hold the answer
	Failed    int `json:"failed"`
	Cancelled int `json:"cancelled"`
	Retried   int `json:"retried"` // searched twice
	Searches  int `json:"searches"`
	Empty     int `json:"empty"`   // questions and searches that found no passage
	Cached    int `json:"cached"`  // answers from the cache
	Similar   int `json:"similar"` // of these, to a similar question

	CachedSearches int `json:"cached_searches"` // searches whose results are from the cache

	DeclinedRate float64 `json:"declined_rate"` // of the questions that did not fail
	FailedRate   float64 `json:"failed_rate"`   // of all questions
	EmptyRate    float64 `json:"empty_rate"`    // of the questions that did not fail, and the searches
	CachedRate   float64 `json:"cached_rate"`   // of the questions that did not fail

	P95MS        float64 `json:"p95_ms"` // of the questions
	CostUSD      float64 `json:"cost_usd"`
	InputTokens  int64   `json:"input_tokens"`
	OutputTokens int64   `json:"output_tokens"`
}

// Group is the questions and searches that have something in common.
type Group struct {
	Name string `json:"name"` // empty: the documents, or the owner, without a name
	Counts
}

// Stage is how long one stage took.
type Stage struct {
	Name  string  `json:"name"` // a node, or "total" of a question, or "search"
	Count int     `json:"count"`
	P50MS float64 `json:"p50_ms"`
	P95MS float64 `json:"p95_ms"`
	MaxMS float64 `json:"max_ms"`
	Share float64 `json:"share"` // of the time of all questions
}

// Asked is a text that occurred some times.
type Asked struct {
	Text  string    `json:"text"` // as it was first written
	Count int       `json:"count"`
	Last  time.Time `json:"last"`
}

// listed is how many rows a list of texts has, and maxKnown how many runes two texts share if they
// count as one.
const (
	listed   = 10
	maxKnown = 500
)

// total is the stage of a whole question.
const total = "total"

// Analyze sums up the log at a path, with keys if it is encrypted. No file is an empty log.
func Analyze(ctx context.Context, path string, keys *seal.Keys, q Query) (*Report, error) {
	var sealer *seal.Sealer
	if keys != nil {
		sealer = seal.New(*keys)
	}
	s := newSum(q)
	unreadable, err := read(ctx, path, sealer, q.From, func() { s = newSum(q) }, func(e *Entry) { s.add(e) })
	if err != nil {
		return nil, fmt.Errorf("read the query log: %w", err)
	}
	s.Unreadable = unreadable
	return s.report(ctx, q)
}

// sum is a report that entries are added to.
type sum struct {
	Report

	times                       map[string][]float64 // by stage
	asked, unanswered, errors   map[string]*Asked
	collections, owners, models map[string]*counted
}

// counted is counts, with the times of the questions.
type counted struct {
	Counts

	times []float64
}

func newSum(q Query) *sum {
	return &sum{
		Report: Report{From: q.From, OfCollections: q.Collections, OfOwner: q.Owner},
		times:  map[string][]float64{}, asked: map[string]*Asked{}, unanswered: map[string]*Asked{}, errors: map[string]*Asked{},
		collections: map[string]*counted{}, owners: map[string]*counted{}, models: map[string]*counted{},
	}
}

func (s *sum) add(e *Entry) {
	if e.Kind == Lost {
		s.Missing += e.Lost
		return
	}
	other := func(c string) bool { return !slices.Contains(s.OfCollections, c) }
	if s.OfOwner != "" && e.Owner != s.OfOwner || len(s.OfCollections) > 0 && (len(e.Collections) == 0 || slices.ContainsFunc(e.Collections, other)) {
		return
	}
	s.Counts.add(e)
	group(s.owners, e.Owner, e)
	for _, c := range e.Collections {
		group(s.collections, c, e)
	}
	if len(e.Collections) == 0 {
		group(s.collections, "", e)
	}
	if e.Model != "" {
		group(s.models, e.Model, e)
	}
	for name, ms := range e.LatencyMS {
		if e.Kind == Search {
			name = Search
		}
		s.times[name] = append(s.times[name], ms)
	}
	if e.Kind == Ask {
		note(s.asked, e.Question, e.Time)
	}
	if e.Error != "" && e.Error != Cancelled {
		note(s.errors, e.Error, e.Time)
	}
	if e.Abstained || e.Kind == Search && e.empty() {
		note(s.unanswered, e.Question, e.Time)
	}
}

func (c *Counts) add(e *Entry) {
	c.CostUSD, c.InputTokens, c.OutputTokens = c.CostUSD+e.CostUSD, c.InputTokens+e.InputTokens, c.OutputTokens+e.OutputTokens
	if e.Kind == Search {
		c.Searches++
	} else {
		c.Questions++
	}
	switch {
	case e.Error == Cancelled:
		c.Cancelled++
	case e.Error != "":
		c.Failed++
	case e.Abstained:
		c.Declined++
	case e.Kind == Ask:
		c.Answered++
	}
	if e.Attempts > 1 {
		c.Retried++
	}
	if e.empty() {
		c.Empty++
	}
	switch {
	case e.Cached == "":
	case e.Kind == Search:
		c.CachedSearches++
	default:
		c.Cached++
	}
	if e.Cached == Similar {
		c.Similar++
	}
}

// finish computes what follows from the counts and the times of the questions.
func (c *Counts) finish(times []float64) {
	share := func(n, of int) float64 { return float64(n) / float64(max(of, 1)) }
	done := c.Answered + c.Declined
	c.DeclinedRate, c.FailedRate, c.EmptyRate = share(c.Declined, done), share(c.Failed, c.Questions), share(c.Empty, done+c.Searches)
	c.CachedRate = share(c.Cached, done)
	slices.Sort(times)
	c.P95MS = quantile(times, 0.95)
}

// empty reports whether documents were searched and nothing was found.
func (e *Entry) empty() bool {
	return e.Error == "" && e.Hits == 0 && (e.Kind == Search || e.Attempts > 0)
}

// note counts a text.
func note(in map[string]*Asked, what string, at time.Time) {
	what = text.First(text.Clean(what), maxKnown)
	key := strings.TrimRight(strings.ToLower(what), " ?!.？！。")
	if key == "" {
		return
	}
	if in[key] == nil {
		in[key] = &Asked{Text: what}
	}
	in[key].Count++
	in[key].Last = at
}

// group counts an entry with others of a name.
func group(in map[string]*counted, name string, e *Entry) {
	if in[name] == nil {
		in[name] = &counted{}
	}
	in[name].add(e)
	if e.Kind == Ask {
		in[name].times = append(in[name].times, e.LatencyMS[total])
	}
}

// report finishes the report.
func (s *sum) report(ctx context.Context, q Query) (*Report, error) {
	r := &s.Report
	r.finish(s.times[total])
	r.Stages = s.stages()
	unanswered := most(s.unanswered)
	r.Top, r.Unanswered, r.Errors = first(most(s.asked)), first(unanswered), first(most(s.errors))
	r.Collections, r.Owners, r.Models = groups(s.collections), groups(s.owners), groups(s.models)
	var err error
	if r.Gaps, err = gaps(ctx, unanswered, q.Vectors); err != nil {
		r.Note = fmt.Sprintf("questions are compared by their words: %v", err)
		r.Gaps, err = gaps(ctx, unanswered, nil)
	}
	return r, err
}

func first(list []Asked) []Asked { return list[:min(len(list), listed)] }

// most lists texts, the most frequent first, then the last asked.
func most(of map[string]*Asked) []Asked {
	out := []Asked{}
	for _, a := range of {
		out = append(out, *a)
	}
	slices.SortFunc(out, func(a, b Asked) int {
		return cmp.Or(b.Count-a.Count, b.Last.Compare(a.Last), strings.Compare(a.Text, b.Text))
	})
	return out
}

// groups lists groups, the largest first.
func groups(of map[string]*counted) []Group {
	out := []Group{}
	for name, c := range of {
		c.finish(c.times)
		out = append(out, Group{name, c.Counts})
	}
	slices.SortFunc(out, func(a, b Group) int {
		return cmp.Or((b.Questions+b.Searches)-(a.Questions+a.Searches), strings.Compare(a.Name, b.Name))
	})
	return out
}

func (s *sum) stages() []Stage {
	out := []Stage{}
	all := added(s.times[total])
	for _, name := range slices.Sorted(maps.Keys(s.times)) {
		times := s.times[name]
		slices.Sort(times)
		stage := Stage{Name: name, Count: len(times), P50MS: quantile(times, 0.5), P95MS: quantile(times, 0.95), MaxMS: quantile(times, 1)}
		if all > 0 && name != Search {
			stage.Share = added(times) / all
		}
		out = append(out, stage)
	}
	place := func(s Stage) int { return slices.Index([]string{"", Search, total}, s.Name) }
	slices.SortStableFunc(out, func(a, b Stage) int { return cmp.Or(place(b)-place(a), cmp.Compare(b.P95MS, a.P95MS)) })
	return out
}

func added(list []float64) (sum float64) {
	for _, v := range list {
		sum += v
	}
	return sum
}

// quantile returns the value that a share p of a sorted list does not exceed; 0 of an empty list.
func quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(int(math.Ceil(p*float64(len(sorted)))), 1)-1]
}
