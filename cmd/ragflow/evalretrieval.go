package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/eval"
	"example.com/ragflow/ingest"
	"example.com/ragflow/search"
)

// retrievalOptions are the flags of eval retrieval.
type retrievalOptions struct {
	evalOptions
	corpus, queries, qrels string
	legs                   bool
	depth                  int
}

// maxDepth is the greatest --top-k of an evaluation.
const maxDepth = 10_000

func (a *app) evalRetrievalCommand() *cobra.Command {
	var o retrievalOptions
	c := &cobra.Command{
		Use:  "retrieval",
		Args: argsBetween(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			gates, err := o.check()
			if err != nil {
				return err
			}
			return a.evalRetrieval(c.Context(), o, gates)
		},
	}
	f := c.Flags()
	f.StringVar(&o.corpus, "corpus", "", "documents to search: a `FILE` of JSON lines with _id, title and text, or a folder")
	f.StringVar(&o.queries, "queries", "", "queries: a `FILE` of JSON lines with _id and text")
	f.StringVar(&o.qrels, "qrels", "", "judgements: a `FILE` with query, document and score, separated by tabs")
	f.BoolVar(&o.legs, "legs", false, "also measure the search by words and the one by meaning alone")
	f.IntVar(&o.depth, "top-k", 0, fmt.Sprintf("rank `N` documents a query, 1 to %d (default %d)", maxDepth, eval.DefaultDepth))
	f.BoolVar(&a.flags.offline, "offline", false, "use no model, even where one is configured")
	a.runFlags(c, &o.evalOptions)
	return c
}

// check makes sure that the flags go together, before anything is read.
func (o *retrievalOptions) check() ([]metricFloor, error) {
	var missing []string
	for _, file := range [][2]string{{o.corpus, "--corpus"}, {o.queries, "--queries"}, {o.qrels, "--qrels"}} {
		if file[0] == "" {
			missing = append(missing, file[1])
		}
	}
	switch {
	case len(missing) > 0:
		return nil, usagef("%s missing", strings.Join(missing, ", ")).
			with("ragflow eval retrieval --corpus corpus.jsonl --queries queries.jsonl --qrels qrels.tsv; --help shows what they hold")
	case o.depth < 0 || o.depth > maxDepth:
		return nil, usagef("--top-k is %d, but must be from 1 to %d", o.depth, maxDepth)
	}
	if err := o.checkCommon(); err != nil {
		return nil, err
	}
	return parseGates(o.failUnder, eval.RetrievalMetrics(), false)
}

// evalRetrieval runs the queries and says what came of it.
func (a *app) evalRetrieval(ctx context.Context, o retrievalOptions, gates []metricFloor) (err error) {
	s, err := a.settings()
	if err != nil {
		return err
	}
	queries, err := readFile(a, o.queries, "the queries", eval.ReadQueries) // better now than after indexing
	if err != nil {
		return err
	}
	qrels, err := readFile(a, o.qrels, "the judgements", eval.ReadQrels)
	if err != nil {
		return err
	}
	assistant, err := a.openCorpus(ctx, s, o.corpus)
	if err != nil {
		return err
	}
	defer closeInto(&err, assistant)
	documents, err := documentNames(ctx, assistant)
	if err != nil {
		return err
	}
	judged, err := eval.NewJudged(setName(o.qrels), queries, qrels, func(d string) bool { return documents[d] })
	if err != nil {
		return a.faultyFile(o.qrels, "the judgements", err)
	}
	r := eval.RetrievalOptions{Depth: o.depth}
	r.Info = eval.RetrievalInfo{Corpus: o.corpus, Queries: o.queries, Qrels: o.qrels, Documents: len(documents)}
	r.Limit, r.Workers = o.limit, o.workers
	if o.legs {
		r.Legs = []string{search.LegLexical}
		if s.models.embedding != "" && !s.models.offline {
			r.Legs = append(r.Legs, search.LegDense)
		}
	}
	if r.Setup, err = evalSetup(ctx, s, assistant); err != nil {
		return err
	}
	r.Setup.Model = searchName(s)
	return a.evalRun(s, r.Options, o.evalOptions, gates, func(options eval.Options) (*eval.Result, error) {
		r.Options = options
		return eval.Retrieve(ctx, assistant, judged, r)
	})
}

// searchName names the way of searching that is configured.
func searchName(s *settings) string {
	switch {
	case s.models.embedding == "" || s.models.offline || s.config.Dense.Leg == search.LegLexical:
		return "search by words"
	case s.config.Dense.Leg == search.LegDense:
		return "search by meaning with " + s.models.embedding
	}
	return "search by words and meaning with " + s.models.embedding
}

// readFile reads one of the files of a set.
func readFile[T any](a *app, path, what string, read func(io.Reader) (T, error)) (out T, err error) {
	f, err := os.Open(path)
	if err != nil {
		return out, failed("read "+what, err)
	}
	defer f.Close() //nolint:errcheck // read only
	out, err = read(f)
	return out, a.faultyFile(path, what, err)
}

// faultyFile says what is wrong with a file, one fault a line.
func (a *app) faultyFile(path, what string, err error) error {
	broken, ok := errors.AsType[*eval.DatasetError](err)
	if !ok {
		return failed("read "+path, err)
	}
	a.printFaults(path, broken)
	return usagef("%s of %s %s; nothing was measured", count(len(broken.Faults), "fault"), what, path).with("correct these lines, or take them out")
}

// setName names a set after its judgements and the folder around them:
// scifact-test for scifact/qrels/test.tsv, handbook for handbook/qrels.tsv.
func setName(qrels string) string {
	path, err := filepath.Abs(qrels)
	if err != nil {
		path = qrels
	}
	base, _, _ := strings.Cut(filepath.Base(path), ".")
	dir := filepath.Dir(path)
	if filepath.Base(dir) == "qrels" {
		dir = filepath.Dir(dir)
	}
	return strings.TrimSuffix(filepath.Base(dir)+"-"+base, "-qrels")
}

// openCorpus opens the documents to search and indexes them as far as needed. They are a
// folder or a file of records.
func (a *app) openCorpus(ctx context.Context, s *settings, path string) (*ragflow.Assistant, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, failed("read the corpus", err)
	}
	if info.IsDir() {
		return a.openIndexed(ctx, func(c *ragflow.Config) { c.Docs, c.ForgetThreads = []string{path}, true })
	}
	return a.openRecords(ctx, s, eval.Corpus{Path: path})
}

// corpusName is the name of the one collection in the index of a corpus.
const corpusName = "corpus"

// openRecords opens the index of a file of records, which is kept by the content
// of the file in the folder of evaluations, and completes it. An index that lacks
// vectors though a model is configured is an error: figures of half a search say
// nothing.
func (a *app) openRecords(ctx context.Context, s *settings, corpus eval.Corpus) (*ragflow.Assistant, error) {
	hash, err := corpus.Hash()
	if err != nil {
		return nil, failed("read the corpus", err)
	}
	progress := a.newProgress()
	defer progress.end()
	documents, err := corpus.Check(ctx, func(n int) { progress.report(ingest.Progress{Stage: "checking", Done: n}) })
	if err != nil {
		return nil, a.faultyFile(corpus.Path, "the corpus", err)
	}
	assistant, err := a.open(ctx, func(c *ragflow.Config) {
		c.DataDir = filepath.Join(s.config.DataDir, "eval", "corpora", hash[:16])
		c.Docs, c.ForgetThreads, c.Progress = nil, true, progress.report
	})
	if err != nil {
		return nil, err
	}
	a.goOn = "what is indexed was kept; the same command goes on with it"
	library := assistant.Library()
	n, current, err := library.Records(ctx, corpusName)
	switch {
	case err != nil:
	case n == documents && current:
		if _, err = library.Reembed(ctx); errors.Is(err, search.ErrNoDense) { // no model is configured
			_, err = library.Sync(ctx)
		}
	default:
		var report *ingest.Report
		report, err = library.PutRecords(ctx, corpusName, documents, corpus.Records())
		if err == nil && report.Dense != nil && report.Dense.Error != "" {
			err = fmt.Errorf("embed its passages: %s", report.Dense.Error)
		}
	}
	if err != nil {
		return nil, errors.Join(failed("index "+corpus.Path, err), assistant.Close())
	}
	return assistant, nil
}
