package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/eval"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/beir"
	"example.com/ragflow/internal/chunk"
	"example.com/ragflow/internal/document"
	"example.com/ragflow/internal/index"
	"example.com/ragflow/internal/parallel"
	"example.com/ragflow/internal/settings"
	"example.com/ragflow/search"
)

// retrievalOptions are the flags of eval retrieval.
type retrievalOptions struct{ corpus, queries, qrels, run string }

// retrievalReply is what eval retrieval --json writes.
type retrievalReply struct {
	Queries   int               `json:"queries"`   // that have a relevant document
	Documents int               `json:"documents"` // that were searched
	Missing   int               `json:"missing"`   // relevant documents that are not among them
	Metrics   []retrievalMetric `json:"metrics"`
}

type retrievalMetric struct {
	Name     string        `json:"name"`
	Mean     float64       `json:"mean"`
	Interval eval.Interval `json:"interval"`
}

const (
	retrievalDepth = 100  // documents of a query that are ranked
	retrievalBatch = 64   // queries between two reports of progress
	recordBatch    = 1000 // documents that are put into an index at once
)

// exampleJudged shows the form of the files.
const exampleJudged = `one line of each: corpus {"_id": "d1", "title": "…", "text": "…"}, queries {"_id": "q1", "text": "…"}, qrels q1<tab>d1<tab>1`

func (a *app) evalRetrievalCommand(g *given) *cobra.Command {
	var o retrievalOptions
	c := command("retrieval", 0, func(c *cobra.Command, _ []string) error {
		queries, err := o.check(g)
		if err != nil {
			return err
		}
		return a.evalRetrieval(c.Context(), g, o, queries)
	})
	f := c.Flags()
	f.StringVar(&o.corpus, "corpus", "", "search the documents of this `FILE` (default: those that are indexed)")
	f.StringVar(&o.queries, "queries", "", "search for the queries of this `FILE`")
	f.StringVar(&o.qrels, "qrels", "", "compare with the relevant documents that this `FILE` lists")
	f.StringVar(&o.run, "run", "", "write the documents found to this `FILE`, in the form of TREC")
	g.addSearch(f)
	return a.jsonFlag(c)
}

// check makes sure that the flags go together, and reads the queries.
func (o retrievalOptions) check(g *given) ([]beir.Query, error) {
	switch {
	case o.queries == "" || o.qrels == "":
		return nil, usagef("--queries and --qrels name what to search for and what is relevant; one is missing").with(exampleJudged)
	case o.corpus != "" && (len(g.docs()) > 0 || g.collection != ""):
		return nil, usagef("--corpus has documents of its own: leave out --docs and --collection")
	}
	if err := checkOutput(filepath.Dir(o.run)); err != nil {
		return nil, err
	}
	queries, err := beir.Queries(o.queries, o.qrels)
	switch {
	case err != nil:
		return nil, unreadable("read queries and qrels", err)
	case len(queries) == 0:
		return nil, usagef("no query of %s has a relevant document in %s", o.queries, o.qrels).with("the first column of the qrels is the _id of a query: " + exampleJudged)
	}
	return queries, nil
}

// unreadable is the error of a file that is missing or not in the form of BEIR.
func unreadable(what string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return failed(what, err)
	}
	return usagef("%s: %w", what, err).with(exampleJudged)
}

// evalRetrieval searches the user's index, or one that is made of the corpus for this purpose.
func (a *app) evalRetrieval(ctx context.Context, g *given, o retrievalOptions, queries []beir.Query) (err error) {
	opened := opening{models: settings.SearchModels, sync: true, change: func(c *ragflow.Config) { c.ForgetThreads = true }}
	if o.corpus != "" {
		dir, err := os.MkdirTemp("", "ragflow-eval-*")
		if err != nil {
			return failed("index "+o.corpus, err)
		}
		defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
		if err := indexCorpus(ctx, filepath.Join(dir, "index.db"), o.corpus); err != nil {
			return unreadable("index "+o.corpus, err)
		}
		opened.change = func(c *ragflow.Config) {
			c.ForgetThreads, c.DataDir, c.Docs, c.Collection, c.Index = true, dir, nil, "", nil
		}
	}
	return a.with(ctx, g, opened, func(s *session) error {
		found := make([][]string, len(queries)) // documents of each query, best first
		reply, err := a.retrieval(ctx, s, queries, found)
		if err != nil {
			return failed("search", err)
		}
		if o.run != "" {
			if err := writeOutput(o.run, func(w io.Writer) error { return writeRun(w, queries, found) }); err != nil {
				return failed("write "+o.run, err)
			}
		}
		return a.printTable(reply, reply.writeTable)
	})
}

// indexCorpus makes an index of a corpus in the form of BEIR.
func indexCorpus(ctx context.Context, path, corpus string) (err error) {
	db, err := index.Open(ctx, path, index.Options{})
	if err != nil {
		return err
	}
	defer closeInto(&err, db)
	var batch []search.Entry
	flush := func() error {
		err := db.Put(ctx, corpus, batch)
		batch = nil
		return err
	}
	for r, err := range beir.Records(corpus) { //nolint:contextcheck // without an embedder, Cut needs none
		if err != nil {
			return err
		}
		if strings.TrimSpace(r.Text) == "" {
			r.Text = r.Title
		}
		doc := document.Document{Root: corpus, Source: r.ID, Title: r.Title, Kind: document.Plain, Text: r.Text}
		batch = append(batch, search.Entry{File: search.File{Source: r.ID, Title: r.Title}, Chunks: chunk.Cut(doc, chunk.Options{})})
		if len(batch) == recordBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return errors.Join(flush(), db.Publish(ctx, corpus))
}

// retrieval searches for each query, fills in what is found, and compares it with what is relevant.
func (a *app) retrieval(ctx context.Context, s *session, queries []beir.Query, found [][]string) (*retrievalReply, error) {
	stats, err := s.Library().Stats(ctx, true)
	if err != nil {
		return nil, err
	}
	missing := map[string]bool{}
	for _, q := range queries {
		for document := range q.Gains {
			missing[document] = true
		}
	}
	all := len(missing)
	reply := &retrievalReply{Queries: len(queries)}
	for _, c := range stats.Collections {
		reply.Documents += len(c.FileList)
		for _, f := range c.FileList {
			delete(missing, f.Source)
		}
	}
	if reply.Missing = len(missing); reply.Missing == all {
		return nil, usagef("none of the relevant documents is among the documents, such as %q", slices.Min(slices.Collect(maps.Keys(missing)))).
			with("the second column of the qrels is the _id of a document of the corpus, or its path under its indexed folder")
	}
	if reply.Missing > 0 {
		a.warn(fmt.Sprintf("%d of %s not among the documents; they count as not found", reply.Missing, count(all, "relevant document")))
	}
	values := map[string][]float64{}
	progress := a.newProgress()
	defer progress.end()
	for from := 0; from < len(queries); from += retrievalBatch {
		batch := queries[from:min(from+retrievalBatch, len(queries))]
		faults := make([]error, len(batch))
		parallel.Each(len(batch), func(i int) { found[from+i], faults[i] = ranked(ctx, s.Assistant, batch[i].Text) })
		if err := errors.Join(faults...); err != nil {
			return nil, err
		}
		for i, q := range batch {
			for name, v := range eval.RankingMetrics(found[from+i], q.Gains) {
				values[name] = append(values[name], v)
			}
		}
		progress.report(ingest.Progress{Stage: stageAsking, Done: from + len(batch), Total: len(queries)})
	}
	for _, name := range []string{eval.MetricNDCG, "recall_20", eval.MetricMRR} {
		reply.Metrics = append(reply.Metrics, retrievalMetric{name, eval.Mean(values[name]), eval.Bootstrap(values[name])})
	}
	return reply, nil
}

// ranked returns the documents that a search finds, in the order of their best passages.
func ranked(ctx context.Context, s *ragflow.Assistant, query string) ([]string, error) {
	for k := 2 * retrievalDepth; ; k *= 4 {
		found, err := s.Search(ctx, query, ragflow.SearchOptions{Request: search.Request{K: k, Ranks: true}, Plain: true})
		if err != nil {
			return nil, fmt.Errorf("%q: %w", query, err)
		}
		var documents []string
		for _, h := range found.Hits {
			if !slices.Contains(documents, h.Source) && len(documents) < retrievalDepth {
				documents = append(documents, h.Source)
			}
		}
		if len(documents) == retrievalDepth || len(found.Hits) < k {
			return documents, nil
		}
	}
}

// writeRun writes a line "query Q0 document rank score ragflow" for each document found. The
// score is 1/rank, because programs that read the file sort by it.
func writeRun(w io.Writer, queries []beir.Query, found [][]string) error {
	var out strings.Builder
	for i, q := range queries {
		for n, document := range found[i] {
			fmt.Fprintf(&out, "%s Q0 %s %d %.6f ragflow\n", q.ID, strings.ReplaceAll(document, " ", "%20"), n+1, 1/float64(n+1))
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func (r *retrievalReply) writeTable(w io.Writer) error {
	fmt.Fprintf(w, "queries: %d; documents: %d; means with 95 %% intervals\n", r.Queries, r.Documents)
	for _, m := range r.Metrics {
		fmt.Fprintf(w, "%-10s %.4f  [%.4f, %.4f]\n", m.Name, m.Mean, m.Interval.Low, m.Interval.High)
	}
	return nil
}
