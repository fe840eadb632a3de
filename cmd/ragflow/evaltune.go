package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/eval"
	"example.com/ragflow/transcript"
)

// tuneOptions are the flags of eval tune.
type tuneOptions struct {
	files   judgedFiles
	metric  string
	folds   int
	workers int
	limit   int
	write   string
	yes     bool
	asJSON  bool
}

// stageTuning is the stage of progress that counts settings.
const stageTuning = "tuning"

func (a *app) evalTuneCommand() *cobra.Command {
	var o tuneOptions
	c := &cobra.Command{
		Use:   "tune",
		Short: "Choose the settings of the search by your own judgements",
		Long: `Look for settings of the search under which the documents judged relevant stand
higher, on a set of queries and judgements as "ragflow eval retrieval" takes it:
bm25_k1, bm25_b, bm25_title, bm25_headings, bm25_document and, where an embedding
model is configured, retrieval_alpha.

What a choice is worth is told by cross-validation: settings are chosen on a part
of the queries and measured on the rest, in turn. They are recommended only where
the gain on queries held out is more than noise. --write puts them into a
configuration file then. What is done is kept when it is interrupted; the same
command goes on.`,
		Example: `  ragflow eval tune --corpus ./docs --queries queries.jsonl --qrels qrels.tsv
  ragflow eval tune --corpus corpus.jsonl.gz --queries queries.jsonl.gz --qrels train.tsv --write .ragflow/config.yaml
  ragflow eval tune --corpus corpus.jsonl --queries queries.jsonl --qrels qrels.tsv --metric recall_10 --folds 10`,
		Args: argsBetween(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return a.evalTune(c.Context(), o)
		},
	}
	f := c.Flags()
	o.files.flags(f)
	f.StringVar(&o.metric, "metric", eval.MetricNDCG, "the `METRIC` to raise, one of those of \"ragflow eval retrieval\"")
	f.IntVar(&o.folds, "folds", 0, "`N` parts for cross-validation, 2 to 100 (default 5)")
	f.IntVar(&o.workers, "workers", 0, "search for `N` queries side by side, 1 to 256 (default: the number of processors)")
	f.IntVar(&o.limit, "limit", 0, "use only the first `N` queries")
	f.StringVar(&o.write, "write", "", "put recommended settings into this configuration `FILE`")
	f.BoolVar(&o.yes, "yes", false, "change a configuration file that is there without asking")
	f.BoolVar(&o.asJSON, "json", false, "write one JSON object instead of a table")
	f.BoolVar(&a.flags.offline, "offline", false, "use no model, even where one is configured")
	return c
}

func (o *tuneOptions) check() error {
	var names []string
	for _, m := range eval.RetrievalMetrics() {
		if !strings.HasSuffix(m.Name, "_"+ragflow.LegLexical) && !strings.HasSuffix(m.Name, "_"+ragflow.LegDense) {
			names = append(names, m.Name)
		}
	}
	switch {
	case !slices.Contains(names, o.metric):
		f := usagef("there is no metric %q", o.metric)
		f.hint = "there are: " + strings.Join(names, ", ")
		return f
	case o.folds != 0 && (o.folds < 2 || o.folds > 100):
		return usagef("--folds is %d, but must be from 2 to 100", o.folds)
	case o.workers < 0 || o.workers > maxWorkers:
		return usagef("--workers is %d, but must be from 1 to %d", o.workers, maxWorkers)
	case o.limit < 0:
		return usagef("--limit is %d, but must be 1 or more", o.limit)
	}
	if err := outputFolder(o.write); err != nil {
		return err
	}
	return o.files.check(true)
}

// tunable are the parameters that are tried. Their names are those of the
// configuration file.
func tunable(dense bool) []eval.Parameter {
	list := []eval.Parameter{
		{Name: "bm25_document", Values: []string{"0", "0.25", "0.5", "1", "1.5", "2"}},
		{Name: "bm25_title", Values: []string{"0", "0.5", "1", "2", "3", "5"}},
		{Name: "bm25_k1", Values: []string{"0.6", "0.9", "1.2", "1.5", "2"}},
		{Name: "bm25_b", Values: []string{"0.3", "0.5", "0.6", "0.75", "0.9"}},
		{Name: "bm25_headings", Values: []string{"0", "0.25", "0.5", "1", "2"}},
	}
	if dense {
		list = append([]eval.Parameter{{Name: "retrieval_alpha", Values: []string{"0", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "1"}}}, list...)
	}
	return list
}

// evalTune looks for settings, says what they are worth and writes them.
func (a *app) evalTune(ctx context.Context, o tuneOptions) (err error) {
	s, err := a.settings()
	if err != nil {
		return err
	}
	set, err := a.openJudged(ctx, s, o.files)
	if err != nil {
		return err
	}
	defer closeInto(&err, set.assistant)
	if o.limit > 0 {
		set.judged.Queries = set.judged.Queries[:min(o.limit, len(set.judged.Queries))]
	}
	setup, err := a.evalSetup(ctx, s, set.assistant)
	if err != nil {
		return err
	}
	t := eval.Tuning{
		Parameters: tunable(s.models.embedding != "" && !s.models.offline && s.config.Dense.Leg != ragflow.LegLexical),
		Metric:     o.metric, Folds: o.folds, Workers: o.workers, Now: eval.Values{},
	}
	for _, p := range t.Parameters {
		t.Now[p.Name] = s.inUse(p.Name)
	}
	t.Open = func(ctx context.Context, v eval.Values) (eval.Retriever, error) {
		return a.openTuned(ctx, s, set.config, v)
	}
	progress := a.newProgress()
	t.Progress = func(n int) { progress.report(ragflow.Progress{Stage: stageTuning, Done: n}) }
	journal, err := openTuneJournal(filepath.Join(s.config.DataDir, "eval", "tune"), set.judged.Hash(), setup, &t)
	if err != nil {
		return failed("keep what is tried", err)
	}
	a.goOn = "what was tried was kept; the same command goes on with it"
	tuned, err := eval.Tune(ctx, set.judged, t)
	progress.end()
	if err != nil {
		return errors.Join(failed("tune", err), journal.Close())
	}
	if err := errors.Join(journal.Close(), os.Remove(journal.Name())); err != nil {
		return failed("tidy up", err)
	}
	if err := a.tuneReport(tuned, o.asJSON); err != nil {
		return err
	}
	return a.writeTuned(ctx, tuned, o)
}

// inUse is the value of a setting by its key: a default where none is given.
func (s *settings) inUse(key string) string {
	for _, r := range s.rows {
		if r.Key == key && len(r.Values) > 0 {
			if r.Values[0] == automatic {
				return "0.5"
			}
			return r.Values[0]
		}
	}
	return ""
}

// openTuned opens the documents of a set with other settings.
func (a *app) openTuned(ctx context.Context, s *settings, of func(*ragflow.Config), v eval.Values) (*ragflow.Assistant, error) {
	table, _ := a.table(s.project)
	assistant, err := a.open(ctx, func(c *ragflow.Config) {
		of(c)
		c.Progress = nil
		for _, row := range table {
			if value, ok := v[row.key]; ok {
				row.set(c, []string{value})
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return assistant, nil
}

// openTuneJournal opens the file that keeps what is tried, and takes over what
// stands in it. It is named by all that figures depend on.
func openTuneJournal(folder, hash string, setup eval.Setup, t *eval.Tuning) (*os.File, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	what, err := json.Marshal([]any{hash, setup, t.Metric})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(what)
	f, err := os.OpenFile(filepath.Join(folder, hex.EncodeToString(sum[:8])+".jsonl"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	type entry struct {
		Values  string    `json:"values"`
		Figures []float64 `json:"figures"`
	}
	t.Known = map[string][]float64{}
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		var e entry
		if json.Unmarshal(line, &e) == nil { // a line cut off is one that is not done
			t.Known[e.Values] = e.Figures
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	t.Record = func(values string, figures []float64) error {
		line, err := json.Marshal(entry{values, figures})
		if err == nil {
			_, err = f.Write(append(append([]byte("\n"), line...), '\n'))
		}
		return err
	}
	return f, nil
}

func (a *app) tuneReport(r *eval.Tuned, asJSON bool) error {
	if asJSON {
		if err := a.writeJSON(r); err != nil {
			return err
		}
		return a.out.Flush()
	}
	var table strings.Builder
	if err := r.WriteTable(&table); err != nil {
		return failed("write the table", err)
	}
	fmt.Fprint(a.out, transcript.Visible(table.String()))
	if r.Recommended {
		for _, name := range changedValues(r) {
			fmt.Fprintf(a.out, "  %s: %s\n", name, r.Best[name])
		}
	}
	return a.out.Flush()
}

// changedValues are the settings that are better otherwise.
func changedValues(r *eval.Tuned) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(r.Best)) {
		if r.Best[name] != r.Now[name] {
			out = append(out, name)
		}
	}
	return out
}

// writeTuned puts what is recommended into a configuration file. Lines of other
// settings and comments stay as they are.
func (a *app) writeTuned(ctx context.Context, r *eval.Tuned, o tuneOptions) error {
	if o.write == "" {
		return nil
	}
	if !r.Recommended {
		return &failure{code: exitFailure, err: errors.New("nothing is recommended, so nothing was written")}
	}
	before, err := os.ReadFile(o.write)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failed("read the configuration", err)
	}
	if err == nil && !o.yes {
		if in, ok := a.in.(*os.File); !ok || !a.isTerm(in) {
			return usagef("%s is there already: confirm the change with --yes", o.write)
		}
		fmt.Fprintf(a.err, "change %s in %s? [y/N] ", strings.Join(changedValues(r), ", "), line(o.write))
		answer, err := readLine(ctx, a.in)
		if err != nil {
			return err
		}
		if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
			return &failure{code: exitFailure, err: errors.New("nothing was written")}
		}
	}
	after := mergeSettings(before, r)
	if err := writeWhole(o.write, func(w io.Writer) error { _, err := w.Write(after); return err }); err != nil {
		return failed("write "+o.write, err)
	}
	if !a.quiet {
		fmt.Fprintf(a.err, "wrote %s\n", line(o.write))
	}
	return nil
}

// mergeSettings puts settings into the text of a configuration file: in place of
// their lines, else at the end.
func mergeSettings(text []byte, r *eval.Tuned) []byte {
	for _, name := range changedValues(r) {
		row := []byte(name + ": " + r.Best[name])
		at := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `[ \t]*:[ \t]*[^\s#]*`)
		if at.Match(text) {
			text = at.ReplaceAllLiteral(text, row)
			continue
		}
		if len(text) > 0 && text[len(text)-1] != '\n' {
			text = append(text, '\n')
		}
		text = append(append(text, row...), '\n')
	}
	return text
}
