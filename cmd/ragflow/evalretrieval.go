package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/ragflow"
	"example.com/ragflow/eval"
)

// retrievalOptions are the flags of eval retrieval.
type retrievalOptions struct {
	evalOptions
	files   judgedFiles
	run     string
	fromRun string
	legs    bool
	depth   int
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
	o.files.flags(f)
	f.StringVar(&o.run, "run", "", "write the documents found to this `FILE`, in the format of TREC")
	f.StringVar(&o.fromRun, "from-run", "", "measure the documents of this `FILE` in the format of TREC; search for nothing")
	f.BoolVar(&o.legs, "legs", false, "also measure the search by words and the one by meaning alone")
	f.IntVar(&o.depth, "top-k", 0, fmt.Sprintf("rank `N` documents a query, 1 to %d (default %d)", maxDepth, eval.DefaultDepth))
	f.StringVar(&o.name, "name", "", "`NAME` of the run, to find it again")
	f.StringVar(&o.resume, "resume", "", "go on with this `RUN`: an id, a name, or last")
	f.IntVar(&o.workers, "workers", 0, "search for `N` queries side by side, 1 to 256 (default: the number of processors)")
	f.IntVar(&o.limit, "limit", 0, "search only for the first `N` queries")
	f.StringArrayVar(&o.failUnder, "fail-under", nil, "exit with code 1 where the mean of a metric is lower, as `METRIC=VALUE`; may be repeated")
	f.BoolVar(&o.asJSON, "json", false, "write one JSON object instead of a table")
	f.StringVar(&o.csv, "csv", "", "write one line a query to this `FILE`, too")
	f.StringVarP(&o.html, "output", "o", "", "write a report to this `FILE`, too; it is one HTML page that needs nothing else")
	f.BoolVar(&a.flags.offline, "offline", false, "use no model, even where one is configured")
	return c
}

// check makes sure that the flags go together, before anything is read.
func (o *retrievalOptions) check() ([]metricFloor, error) {
	switch {
	case o.resume != "" && (o.files != judgedFiles{} || o.fromRun != "" || o.limit != 0 || o.depth != 0 || o.legs || o.name != ""):
		return nil, usagef("--resume goes on with the files and flags of the run; leave out others")
	case o.resume != "":
	case o.fromRun != "" && (o.files.corpus != "" || o.legs || o.run != ""):
		return nil, usagef("--from-run measures what is in that file; leave out --corpus, --legs and --run")
	default:
		if err := o.files.check(o.fromRun == ""); err != nil {
			return nil, err
		}
	}
	if o.depth < 0 || o.depth > maxDepth {
		return nil, usagef("--top-k is %d, but must be from 1 to %d", o.depth, maxDepth)
	}
	if err := outputFolder(o.run); err != nil {
		return nil, err
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
	e := &evaluation{command: "ragflow eval retrieval --resume", store: eval.Store{Dir: filepath.Join(s.config.DataDir, "eval")}}
	r := eval.RetrievalOptions{Depth: o.depth, Info: eval.RetrievalInfo{Corpus: o.files.corpus, Queries: o.files.queries, Qrels: o.files.qrels, FromRun: o.fromRun}}
	r.Limit, r.Workers = o.limit, o.workers
	if o.resume != "" {
		if err := a.goOnRetrieval(&o, e, &r); err != nil {
			return err
		}
	} else if o.legs {
		r.Legs = []string{ragflow.LegLexical}
		if s.models.embedding != "" && !s.models.offline {
			r.Legs = append(r.Legs, ragflow.LegDense)
		}
	}
	if o.fromRun != "" {
		return a.evalFromRun(ctx, o, e, r, gates)
	}
	set, err := a.openJudged(ctx, s, o.files)
	if err != nil {
		return err
	}
	defer closeInto(&err, set.assistant)
	if r.Setup, err = a.evalSetup(ctx, s, set.assistant); err != nil {
		return err
	}
	r.Setup.Model, r.Info.Documents = searchName(s), set.documents
	e.opening, e.dataset = eval.NewRetrievalResult(set.judged, r)
	if e.earlier != nil && e.earlier.Retrieval.Hash != e.opening.Retrieval.Hash {
		return usagef("queries or judgements are not those that %s was begun with; begin a new run", e.earlier.ID)
	}
	e.options = r.Options
	e.run = func(ctx context.Context, options eval.Options) (*eval.Result, error) {
		r.Options = options
		return eval.Retrieve(ctx, set.assistant, set.judged, r)
	}
	result, err := a.evalRun(ctx, e, o.evalOptions)
	if err != nil {
		return err
	}
	return a.retrievalReport(result, o, gates)
}

// goOnRetrieval takes over the files and flags of an earlier run.
func (*app) goOnRetrieval(o *retrievalOptions, e *evaluation, r *eval.RetrievalOptions) (err error) {
	if e.journal, e.earlier, e.dataset, err = e.store.Resume(o.resume); err != nil {
		return failed("go on with "+o.resume, err)
	}
	info := e.earlier.Retrieval
	if info == nil {
		f := usagef("%s measures answers, not what the search finds", e.earlier.ID)
		f.hint = "go on with it: ragflow eval --resume " + e.earlier.ID
		return f
	}
	o.files = judgedFiles{corpus: info.Corpus, queries: info.Queries, qrels: info.Qrels}
	o.fromRun = info.FromRun
	r.Info, r.Depth, r.Legs, r.Limit = *info, info.Depth, info.Legs, e.earlier.Dataset.Limit
	r.Earlier = e.earlier.Outcomes
	return nil
}

// searchName names the way of searching that is configured.
func searchName(s *settings) string {
	switch {
	case s.models.embedding == "" || s.models.offline || s.config.Dense.Leg == ragflow.LegLexical:
		return "search by words"
	case s.config.Dense.Leg == ragflow.LegDense:
		return "search by meaning with " + s.models.embedding
	}
	return "search by words and meaning with " + s.models.embedding
}

// evalFromRun measures a run that lies in a file.
func (a *app) evalFromRun(ctx context.Context, o retrievalOptions, e *evaluation, r eval.RetrievalOptions, gates []metricFloor) error {
	judged, err := a.readJudged(o.files, nil)
	if err != nil {
		return err
	}
	run, err := readFile(a, o.fromRun, "a run", eval.ReadTREC)
	if err != nil {
		return err
	}
	unknown := 0
	known := map[string]bool{}
	for _, q := range judged.Queries {
		known[q.ID] = true
	}
	for id := range run {
		if !known[id] {
			unknown++
		}
	}
	switch {
	case unknown == len(run):
		f := &failure{code: exitFailure, what: "measure " + o.fromRun, err: eval.ErrNothingInCommon}
		f.hint = "the first column of a run holds the ids of the queries"
		return f
	case unknown > 0 && !a.quiet:
		fmt.Fprintf(a.err, "warning: %d queries of the run are not judged, and were left out\n", unknown)
	}
	if missing := len(judged.Queries) - (len(run) - unknown); missing > 0 && !a.quiet {
		fmt.Fprintf(a.err, "warning: the run says nothing of %d queries that are judged; they count as nothing found\n", missing)
	}
	r.Setup.Model = "the run " + filepath.Base(o.fromRun)
	r.Setup.Version = readVersion().Version
	e.opening, e.dataset = eval.NewRetrievalResult(judged, r)
	e.run = func(context.Context, eval.Options) (*eval.Result, error) { return run.Measure(judged, r), nil }
	result, err := a.evalRun(ctx, e, o.evalOptions)
	if err != nil {
		return err
	}
	return a.retrievalReport(result, o, gates)
}

// retrievalReport prints a retrieval run and writes the files asked for.
func (a *app) retrievalReport(r *eval.Result, o retrievalOptions, gates []metricFloor) error {
	if o.run != "" {
		if err := writeWhole(o.run, func(w io.Writer) error { return eval.WriteTREC(w, r, "ragflow") }); err != nil {
			return failed("write "+o.run, err)
		}
		if !a.quiet {
			fmt.Fprintf(a.err, "wrote %s\n", line(o.run))
		}
	}
	if err := a.evalReport(r, o.evalOptions); err != nil {
		return err
	}
	return verdict(r, gates)
}

// flags adds the flags that name a set of judgements.
func (j *judgedFiles) flags(f *pflag.FlagSet) {
	f.StringVar(&j.corpus, "corpus", "", "documents to search: a `FILE` of JSON lines with _id, title and text, or a folder")
	f.StringVar(&j.queries, "queries", "", "queries: a `FILE` of JSON lines with _id and text")
	f.StringVar(&j.qrels, "qrels", "", "judgements: a `FILE` with query, document and score, separated by tabs")
	f.BoolVar(&j.lenient, "lenient", false, "only warn of judgements whose query or document is not there")
}
