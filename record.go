package ragflow

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/querylog"
	"example.com/ragflow/internal/seal"
	"example.com/ragflow/llm"
	"example.com/ragflow/meaning"
)

// defaultLogDays is the default of Config.QueryLogDays.
const defaultLogDays = 90

// queryLogFile is in the data folder, also if the threads are on a server.
const queryLogFile = "queries.db"

// openQueryLog opens the log of questions and searches, unless there is none.
func (a *Assistant) openQueryLog() {
	c := a.config
	if c.DataDir != "" && c.QueryLogDays > 0 && !c.ForgetThreads && !a.ReadOnly() {
		a.queries = querylog.Open(filepath.Join(c.DataDir, queryLogFile), querylog.Options{
			Keep: time.Duration(c.QueryLogDays) * 24 * time.Hour, Keys: c.sealKeys(), Logger: c.Logger, Clock: c.Clock,
		})
	}
}

func (c Config) sealKeys() *seal.Keys { return (*seal.Keys)(c.ThreadKeys) }

// record logs a question whose run ended, unless the run waits for a person. It does not wait.
func (a *Assistant) record(ctx context.Context, x *run, q *request, err error) {
	if a.queries == nil {
		return
	}
	e := a.entry(q.asked, err)
	e.ID, e.Run, e.Thread, e.Time = x.info.Run, x.info.Run, x.info.Thread, x.info.Began
	e.Owner = cmp.Or(x.info.Owner, graph.OwnerOf(ctx))
	e.LatencyMS = map[string]float64{"total": milliseconds(a.config.Clock().Sub(x.info.Began))}
	last := x.events.Last()
	if last.Kind == Asked {
		return
	}
	if last.Kind == Done {
		answered(&e, last.Reply)
	}
	a.queries.Add(e)
}

// recordRefused logs a question that no run was begun for.
func (a *Assistant) recordRefused(ctx context.Context, q Question, err error) {
	if a.queries != nil && !errors.Is(err, ErrEmptyQuery) {
		e := a.entry(q, err)
		e.Thread, e.Owner = q.Thread, graph.OwnerOf(ctx)
		a.queries.Add(e)
	}
}

// entry returns what is known of a question without its run.
func (a *Assistant) entry(q Question, err error) querylog.Entry {
	e := querylog.Entry{Kind: querylog.Ask, Question: q.Text, Collections: a.config.named(q.Collections)}
	switch {
	case errors.Is(err, context.Canceled) || errors.Is(err, ErrCancelled):
		e.Error = querylog.Cancelled
	case err != nil:
		e.Error = err.Error()
	}
	return e
}

// named returns the names of collections; none if they are the documents without a name.
func (c Config) named(names []string) []string {
	if len(names) == 0 {
		names = []string{c.Collection}
	}
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "" })
}

// answered adds a reply to an entry.
func answered(e *querylog.Entry, r *Reply) {
	e.Question, e.Answer, e.Abstained, e.Model = r.Question, r.Answer, r.Abstained, r.Model
	e.Certainty, e.Chance, e.Grade, e.Attempts = r.Certainty.Band, r.Certainty.P, r.Grade.Score, r.Grade.Attempts
	e.Hits, e.Citations = len(r.Retrieved), len(r.Citations)
	e.InputTokens, e.OutputTokens, e.CostUSD, e.LatencyMS = r.Usage.InputTokens, r.Usage.OutputTokens, r.CostUSD, maps.Clone(r.LatencyMS)
	if r.Cached != nil {
		e.Cached = querylog.Similar
		if r.Cached.Question == r.Question {
			e.Cached = querylog.Same
		}
	}
	for _, h := range r.Retrieved {
		e.Chunks = append(e.Chunks, h.ChunkID)
	}
	for _, c := range r.Citations {
		if !slices.Contains(e.Cited, c.Path) {
			e.Cited = append(e.Cited, c.Path)
		}
	}
}

// recordSearch logs a search that began at a time.
func (a *Assistant) recordSearch(ctx context.Context, query string, o SearchOptions, began time.Time, r *SearchReply, err error) {
	if a.queries == nil || errors.Is(err, ErrEmptyQuery) {
		return
	}
	e := a.entry(Question{Text: query, Collections: o.Collections}, err)
	e.Kind, e.Owner, e.Time = querylog.Search, graph.OwnerOf(ctx), began.UTC()
	e.LatencyMS = map[string]float64{"total": milliseconds(a.config.Clock().Sub(began))}
	if r != nil {
		e.Hits = len(r.Hits)
		if r.Cached != nil {
			e.Cached = querylog.Same
		}
		for _, h := range r.Hits {
			e.Chunks = append(e.Chunks, h.ChunkID)
		}
	}
	a.queries.Add(e)
}

// AnalyticsQuery says which questions and searches [Assistant.Analytics] sums up.
type AnalyticsQuery struct {
	Last        time.Duration // those of this time until now; 0: all that are kept
	Collections []string      // those that used these collections alone; none: all
	Owner       string        // those of an owner; empty: all
}

// Analytics sums up questions and searches. Its JSON is the schema of `ragflow analytics --json`.
type Analytics = querylog.Report

// Analytics sums up the query log of the data folder. It does not look at the owner in ctx. Errors
// match those of a database, such as ErrDamaged.
func (a *Assistant) Analytics(ctx context.Context, q AnalyticsQuery) (*Analytics, error) {
	if a.config.DataDir == "" {
		return nil, errors.New("the query log is kept in the data folder, and Config.DataDir names none")
	}
	if a.queries != nil {
		flush, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		a.queries.Flush(flush)
	}
	in := querylog.Query{Collections: q.Collections, Owner: q.Owner}
	if q.Last > 0 {
		in.From = a.config.Clock().UTC().Add(-q.Last)
	}
	if meaning.Fast() {
		in.Vectors = queryVectors
	}
	r, err := querylog.Analyze(ctx, filepath.Join(a.config.DataDir, queryLogFile), a.config.sealKeys(), in)
	if err == nil && a.queries != nil {
		r.Missing += a.queries.Lost()
	}
	return r, err
}

// queryVectors returns the vectors of questions by the built-in model.
func queryVectors(ctx context.Context, texts []string) ([][]float32, error) {
	e, err := builtIn{}.Embed(ctx, texts, llm.Query)
	return e.Vectors, err
}
