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
	run, fromRun           string
	lenient, legs          bool
	depth                  int
}

// maxDepth is the greatest --top-k of an evaluation.
const maxDepth = 10_000

func (a *app) evalRetrievalCommand() *cobra.Command {
	var o retrievalOptions
	c := &cobra.Command{
		Use:   "retrieval",
		Short: "Measure what the search finds, against judgements of a person",
		Long: `Search for every query of a set and measure the documents found against judgements:
nDCG@10, recall@5, @10 and @100, MRR and MAP, each with its 95 % interval. The
files have the form of the BEIR benchmarks and may be packed with gzip:

  corpus   {"_id": "d1", "title": "…", "text": "…"}    one document a line
  queries  {"_id": "q1", "text": "…"}                  one query a line
  qrels    q1 <tab> d1 <tab> 1                         query, document, how relevant

The corpus may be a folder instead: documents are then named by their paths under
it. Its index is kept by the content of the file, so that the next run over it
begins at once, and one that was interrupted goes on. An embedding model is used
where one is configured; --legs then also measures the search by words and that
by meaning alone.

--run writes the documents found in the format of TREC; --from-run measures such a
file, of this program or another one, and searches for nothing.`,
		Example: `  ragflow eval retrieval --corpus corpus.jsonl --queries queries.jsonl --qrels qrels.tsv
  ragflow eval retrieval --corpus scifact/corpus.jsonl.gz --queries scifact/queries.jsonl.gz --qrels scifact/qrels/test.tsv --run ours.trec --name baseline
  ragflow eval retrieval --corpus ./docs --queries queries.jsonl --qrels qrels.tsv --legs --fail-under ndcg_10=0.6
  ragflow eval retrieval --from-run theirs.trec --queries queries.jsonl --qrels qrels.tsv
  ragflow eval compare baseline last --gate`,
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
	f.BoolVar(&o.lenient, "lenient", false, "only warn of judgements whose query or document is not there")
	f.StringVar(&o.run, "run", "", "write the documents found to this `FILE`, in the format of TREC")
	f.StringVar(&o.fromRun, "from-run", "", "measure the documents of this `FILE` in the format of TREC; search for nothing")
	f.BoolVar(&o.legs, "legs", false, "also measure the search by words and the one by meaning alone")
	f.IntVar(&o.depth, "top-k", 0, fmt.Sprintf("rank `N` documents a query, 1 to %d (default %d)", maxDepth, eval.DefaultDepth))
	f.BoolVar(&a.flags.offline, "offline", false, "use no model, even where one is configured")
	a.runFlags(c, &o.evalOptions)
	return c
}

// check makes sure that the flags go together, before anything is read.
func (o *retrievalOptions) check() ([]metricFloor, error) {
	var missing []string
	for _, file := range [][2]string{{o.corpus + o.fromRun, "--corpus"}, {o.queries, "--queries"}, {o.qrels, "--qrels"}} {
		if file[0] == "" {
			missing = append(missing, file[1])
		}
	}
	switch {
	case o.fromRun != "" && (o.corpus != "" || o.legs || o.run != ""):
		return nil, usagef("--from-run measures what is in that file; leave out --corpus, --legs and --run")
	case len(missing) > 0:
		return nil, usagef("%s missing", strings.Join(missing, ", ")).
			with("ragflow eval retrieval --corpus corpus.jsonl --queries queries.jsonl --qrels qrels.tsv; --help shows what they hold")
	case o.depth < 0 || o.depth > maxDepth:
		return nil, usagef("--top-k is %d, but must be from 1 to %d", o.depth, maxDepth)
	}
	if err := errors.Join(outputFolder(o.run), o.checkCommon()); err != nil {
		return nil, err
	}
	return parseGates(o.failUnder, eval.RetrievalMetrics(), false)
}

// evalRetrieval runs the queries and says what came of it.
func (a *app) evalRetrieval(ctx context.Context, o retrievalOptions, gates []metricFloor) error {
	s, err := a.settings()
	if err != nil {
		return err
	}
	judged, err := a.readJudged(o, nil) // better now than after indexing
	if err != nil && !o.lenient && o.fromRun != "" {
		return err
	}
	info := eval.RetrievalInfo{Corpus: o.corpus, Queries: o.queries, Qrels: o.qrels, FromRun: o.fromRun}
	r := eval.RetrievalOptions{Depth: o.depth, Info: info}
	r.Limit, r.Workers = o.limit, o.workers
	if o.fromRun != "" {
		return a.evalFromRun(ctx, s, o, judged, r, gates)
	}
	if o.legs {
		r.Legs = []string{search.LegLexical}
		if s.models.embedding != "" && !s.models.offline {
			r.Legs = append(r.Legs, search.LegDense)
		}
	}
	return a.withCorpus(ctx, s, o.corpus, func(assistant *ragflow.Assistant, documents map[string]bool) error {
		judged, err := a.readJudged(o, func(d string) bool { return documents[d] })
		if err != nil {
			return err
		}
		if r.Setup, err = a.evalSetup(ctx, s, assistant); err != nil {
			return err
		}
		r.Setup.Model, r.Info.Documents = searchName(s), len(documents)
		return a.retrievalRun(ctx, s, o, judged, r, gates, func(options eval.Options) (*eval.Result, error) {
			r.Options = options
			return eval.Retrieve(ctx, assistant, judged, r)
		})
	})
}

// evalFromRun measures a run that lies in a file.
func (a *app) evalFromRun(
	ctx context.Context, s *settings, o retrievalOptions, judged eval.Judged, r eval.RetrievalOptions, gates []metricFloor,
) error {
	run, err := readFile(a, o.fromRun, "a run", eval.ReadTREC)
	if err != nil {
		return err
	}
	found := 0
	for _, q := range judged.Queries {
		if _, ok := run[q.ID]; ok {
			found++
		}
	}
	if found == 0 {
		f := &failure{code: exitFailure, what: "measure " + o.fromRun, err: eval.ErrNothingInCommon}
		return f.with("the first column of a run holds the ids of the queries")
	}
	if unknown := len(run) - found; unknown > 0 {
		a.warn(fmt.Sprintf("%d queries of the run are not judged, and were left out", unknown))
	}
	if missing := len(judged.Queries) - found; missing > 0 {
		a.warn(fmt.Sprintf("the run says nothing of %d queries that are judged; they count as nothing found", missing))
	}
	r.Setup.Model, r.Setup.Version = "the run "+filepath.Base(o.fromRun), readVersion().Version
	return a.retrievalRun(ctx, s, o, judged, r, gates, func(eval.Options) (*eval.Result, error) { return run.Measure(judged, r), nil })
}

// retrievalRun runs what do does, and reports it.
func (a *app) retrievalRun(
	ctx context.Context, s *settings, o retrievalOptions, judged eval.Judged, r eval.RetrievalOptions, gates []metricFloor,
	do func(eval.Options) (*eval.Result, error),
) error {
	e := &evaluation{store: s.evalStore(), options: r.Options}
	e.opening, e.dataset = eval.NewRetrievalResult(judged, r)
	e.run = func(_ context.Context, options eval.Options) (*eval.Result, error) { return do(options) }
	result, err := a.evalRun(ctx, e, o.evalOptions)
	if err != nil {
		return err
	}
	if err := a.retrievalReport(result, o); err != nil {
		return err
	}
	return verdict(result, gates)
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

// retrievalReport prints a retrieval run and writes the files asked for.
func (a *app) retrievalReport(r *eval.Result, o retrievalOptions) error {
	if o.run != "" {
		if err := writeWhole(o.run, func(w io.Writer) error { return eval.WriteTREC(w, r, "ragflow") }); err != nil {
			return failed("write "+o.run, err)
		}
		a.tell("wrote %s", o.run)
	}
	return a.evalReport(r, o.evalOptions)
}

// readFile reads one of the files of a set; what is wrong with it is told line
// by line.
func readFile[T any](a *app, path, what string, read func(io.Reader) (T, error)) (out T, err error) {
	f, err := os.Open(path)
	if err != nil {
		return out, failed("read "+what, err)
	}
	defer f.Close() //nolint:errcheck // read only
	out, err = read(f)
	return out, a.faultyFile(path, what, err)
}

// faultyFile tells what is wrong with a file, one fault a line.
func (a *app) faultyFile(path, what string, err error) error {
	broken, ok := errors.AsType[*eval.DatasetError](err)
	if !ok {
		return failed("read "+path, err)
	}
	a.printFaults(path, broken)
	return usagef("%s of %s %s; nothing was measured", count(len(broken.Faults), "fault"), what, path)
}

// readJudged reads queries and judgements. has reports whether a document exists; nil
// means that all do.
func (a *app) readJudged(o retrievalOptions, has func(string) bool) (eval.Judged, error) {
	queries, err := readFile(a, o.queries, "the queries", eval.ReadQueries)
	if err != nil {
		return eval.Judged{}, err
	}
	qrels, err := readFile(a, o.qrels, "the judgements", eval.ReadQrels)
	if err != nil {
		return eval.Judged{}, err
	}
	judged, err := eval.NewJudged(setName(o.qrels), queries, qrels, has)
	broken, ok := errors.AsType[*eval.DatasetError](err)
	switch {
	case err == nil, has == nil && o.fromRun == "":
		return judged, nil
	case ok && o.lenient && len(judged.Queries) > 0:
		a.warn(fmt.Sprintf("%d judgements name a query or document that is not there, such as %s", len(broken.Faults), broken.Faults[0]))
		return judged, nil
	}
	err = a.faultyFile(o.qrels, "the judgements", err)
	if f, isFailure := errors.AsType[*failure](err); isFailure {
		f.hint = "take out the lines, or go on without them by --lenient"
	}
	return judged, err
}

// setName names a set after its judgements and the folder around them:
// scifact-test for scifact/qrels/test.tsv, handbook for handbook/qrels.tsv.
func setName(qrels string) string {
	path, err := filepath.Abs(qrels)
	if err != nil {
		path = qrels
	}
	base, _, _ := strings.Cut(filepath.Base(path), ".")
	folder := filepath.Base(filepath.Dir(path))
	if folder == "qrels" {
		folder = filepath.Base(filepath.Dir(filepath.Dir(path)))
	}
	if base == "qrels" {
		base = ""
	}
	return strings.Trim(folder+"-"+base, string(filepath.Separator)+".-")
}

// withCorpus opens the documents to search, which are a folder or a file of
// records, and indexes them as far as needed. do gets the names of all documents.
func (a *app) withCorpus(ctx context.Context, s *settings, path string, do func(*ragflow.Assistant, map[string]bool) error) (err error) {
	info, err := os.Stat(path)
	if err != nil {
		return failed("read the corpus", err)
	}
	var assistant *ragflow.Assistant
	if info.IsDir() {
		assistant, err = a.openIndexed(ctx, func(c *ragflow.Config) { c.Docs, c.ForgetThreads = []string{path}, true })
	} else {
		assistant, err = a.openRecords(ctx, s, eval.Corpus{Path: path})
	}
	if err != nil {
		return err
	}
	defer closeInto(&err, assistant)
	stats, err := assistant.Library().Stats(ctx, true)
	if err != nil {
		return failed("read the corpus", err)
	}
	known := map[string]bool{}
	for _, c := range stats.Collections {
		for _, f := range c.FileList {
			known[f.Source] = true
		}
	}
	return do(assistant, known)
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
