package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"example.com/ragflow"
	"example.com/ragflow/eval"
)

// judgedFiles name a set of judgements and what it judges.
type judgedFiles struct {
	corpus, queries, qrels string
	lenient                bool
}

// check makes sure that all files are named.
func (j *judgedFiles) check(searched bool) error {
	var missing []string
	if j.corpus == "" && searched {
		missing = append(missing, "--corpus")
	}
	if j.queries == "" {
		missing = append(missing, "--queries")
	}
	if j.qrels == "" {
		missing = append(missing, "--qrels")
	}
	if len(missing) > 0 {
		f := usagef("%s missing", strings.Join(missing, ", "))
		f.hint = "ragflow eval retrieval --corpus corpus.jsonl --queries queries.jsonl --qrels qrels.tsv; --help shows what they hold"
		return f
	}
	return nil
}

// judgedSet is a set of judgements, and an assistant over the documents.
type judgedSet struct {
	judged    eval.Judged
	assistant *ragflow.Assistant
	config    func(*ragflow.Config) // what opens the same documents once more
	documents int
}

// readFile reads one of the files of a set; what is wrong with it is told line
// by line.
func readFile[T any](a *app, path, what string, read func(io.Reader) (T, error)) (T, error) {
	f, err := os.Open(path)
	if err != nil {
		var none T
		return none, failed("read "+what, err)
	}
	defer f.Close() //nolint:errcheck // read only
	out, err := read(f)
	return out, a.faultyFile(path, what, err)
}

// faultyFile tells what is wrong with a file, one fault a line.
func (a *app) faultyFile(path, what string, err error) error {
	if err == nil {
		return nil
	}
	broken, ok := errors.AsType[*eval.DatasetError](err)
	if !ok {
		return failed("read "+path, err)
	}
	a.printFaults(path, broken)
	return usagef("%s of %s %s; nothing was measured", count(len(broken.Faults), "fault"), what, path)
}

// readJudged reads queries and judgements. has tells which documents there are;
// nil stands for all.
func (a *app) readJudged(files judgedFiles, has func(string) bool) (eval.Judged, error) {
	queries, err := readFile(a, files.queries, "the queries", eval.ReadQueries)
	if err != nil {
		return eval.Judged{}, err
	}
	qrels, err := readFile(a, files.qrels, "the judgements", eval.ReadQrels)
	if err != nil {
		return eval.Judged{}, err
	}
	judged, err := eval.NewJudged(setName(files), queries, qrels, has)
	broken, ok := errors.AsType[*eval.DatasetError](err)
	if ok && files.lenient && len(judged.Queries) > 0 {
		if !a.quiet {
			fmt.Fprintf(a.err, "warning: %d judgements name a query or document that is not there, such as %s\n", len(broken.Faults), line(broken.Faults[0].String()))
		}
		return judged, nil
	}
	err = a.faultyFile(files.qrels, "the judgements", err)
	if f, isFailure := errors.AsType[*failure](err); isFailure {
		f.hint = "take out the lines, or go on without them by --lenient"
	}
	return judged, err
}

// setName names a set after its judgements and the folder around them:
// scifact-test for scifact/qrels/test.tsv, handbook for handbook/qrels.tsv.
func setName(files judgedFiles) string {
	path, err := filepath.Abs(files.qrels)
	if err != nil {
		path = files.qrels
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

// openJudged opens the documents, indexes them as far as needed, and reads the
// judgements of them. The caller closes the assistant.
func (a *app) openJudged(ctx context.Context, s *settings, files judgedFiles) (*judgedSet, error) {
	if _, err := a.readJudged(judgedFiles{queries: files.queries, qrels: files.qrels, lenient: true}, nil); err != nil {
		return nil, err // better now than after indexing
	}
	info, err := os.Stat(files.corpus)
	if err != nil {
		return nil, failed("read the corpus", err)
	}
	set := &judgedSet{}
	if info.IsDir() {
		set.config = func(c *ragflow.Config) { c.Docs, c.ForgetThreads = []string{files.corpus}, true }
		set.assistant, err = a.openIndexed(ctx, set.config)
	} else {
		set.assistant, set.config, err = a.openCorpus(ctx, s, eval.Corpus{Path: files.corpus})
	}
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	stats, err := set.assistant.Stats(ctx, true)
	if err == nil {
		for _, c := range stats.Collections {
			for _, f := range c.FileList {
				known[f.Source] = true
			}
		}
		set.documents = len(known)
		set.judged, err = a.readJudged(files, func(d string) bool { return known[d] })
	}
	if err != nil {
		return nil, errors.Join(failed("read the corpus", err), set.assistant.Close())
	}
	return set, nil
}

// corpusName is the name of the one collection in the index of a corpus.
const corpusName = "corpus"

// corpusMark is what is noted of a corpus whose index is complete.
type corpusMark struct {
	Path      string `json:"path"` // where it was read
	Documents int    `json:"documents"`
}

// openCorpus opens the index of a corpus, which is kept by its content in the
// folder of evaluations, and completes it. What configures it is returned, too.
func (a *app) openCorpus(ctx context.Context, s *settings, corpus eval.Corpus) (*ragflow.Assistant, func(*ragflow.Config), error) {
	hash, err := corpus.Hash()
	if err != nil {
		return nil, nil, failed("read the corpus", err)
	}
	folder := filepath.Join(s.config.DataDir, "eval", "corpora", hash[:16])
	markFile := filepath.Join(folder, "corpus.json")
	progress := a.newProgress()
	defer progress.end()
	var mark corpusMark
	if data, err := os.ReadFile(markFile); err != nil || json.Unmarshal(data, &mark) != nil {
		mark = corpusMark{Path: corpus.Path}
		if mark.Documents, err = corpus.Check(ctx, func(n int) { progress.report(ragflow.Progress{Stage: "checking", Done: n}) }); err != nil {
			return nil, nil, a.faultyFile(corpus.Path, "the corpus", err)
		}
	}
	config := func(c *ragflow.Config) { c.DataDir, c.Docs, c.ForgetThreads = folder, nil, true }
	assistant, err := a.open(ctx, func(c *ragflow.Config) {
		config(c)
		c.Progress = progress.report
	})
	if err != nil {
		return nil, nil, err
	}
	a.goOn = "what is indexed was kept; the same command goes on with it"
	if err := a.indexCorpus(ctx, assistant, corpus, mark); err != nil {
		return nil, nil, errors.Join(failed("index "+corpus.Path, err), assistant.Close())
	}
	data, err := json.Marshal(mark)
	if err == nil {
		err = os.WriteFile(markFile, append(data, '\n'), 0o600)
	}
	if err != nil {
		return nil, nil, errors.Join(failed("keep the index", err), assistant.Close())
	}
	return assistant, config, nil
}

// indexCorpus brings the index of a corpus up to date. That passages lack
// vectors, though a model is configured, is an error here: figures of half a
// search say nothing.
func (*app) indexCorpus(ctx context.Context, assistant *ragflow.Assistant, corpus eval.Corpus, mark corpusMark) error {
	n, current, err := assistant.Records(ctx, corpusName)
	if err != nil {
		return err
	}
	if n == mark.Documents && current {
		_, err = assistant.Reembed(ctx)
		if errors.Is(err, ragflow.ErrNoDense) { // no model is configured
			_, err = assistant.Index(ctx)
		}
		return err
	}
	report, err := assistant.IndexRecords(ctx, corpusName, mark.Documents, corpus.Records())
	if err == nil && report.Dense != nil {
		err = denseFault(report.Dense)
	}
	return err
}

// denseFault tells why embedding ended early; nil where it did not.
func denseFault(r *ragflow.DenseReport) error {
	if r.Error == "" {
		return nil
	}
	return fmt.Errorf("embed its passages: %s", r.Error)
}
