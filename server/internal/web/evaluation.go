package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/eval"
	"example.com/ragflow/graph"
)

// collected is the dataset that people fill from their conversations.
const collected = "collected"

// evaluation keeps datasets and runs in a folder, one file each.
type evaluation struct {
	folder string // "" if nothing can be kept

	mu      sync.Mutex
	running string // dataset that is asked now
	done    int
	total   int
	fault   string // of the last run
}

type evaluationPage struct {
	Folder   string
	Datasets []datasetRow
	Runs     []runRow
	Running  string
	Done     int
	Total    int
	Fault    string
	Compared *eval.Comparison
	Kinds    []kindRow
	A, B     string
}

type datasetRow struct {
	Name      string
	Questions int
	Fault     string
}

type runRow struct {
	ID     string
	Result *eval.Result
}

// kindRow is how many questions of a kind were answered rightly in two runs.
type kindRow struct {
	Kind           string
	A, B, OfA, OfB int
}

// evaluated is the page of datasets and runs. ?a= and ?b= name two to compare.
func (s *site) evaluated(w http.ResponseWriter, r *http.Request) {
	e := s.evaluation
	p := evaluationPage{Folder: e.folder, A: r.URL.Query().Get("a"), B: r.URL.Query().Get("b")}
	e.mu.Lock()
	p.Running, p.Done, p.Total, p.Fault = e.running, e.done, e.total, e.fault
	e.mu.Unlock()
	for _, path := range e.files("datasets", ".jsonl") {
		row := datasetRow{Name: nameOf(path)}
		d, err := eval.Load(path)
		if row.Questions = d.Questions(); err != nil {
			row.Fault = err.Error()
		}
		p.Datasets = append(p.Datasets, row)
	}
	for _, name := range eval.BuiltIn() {
		if d, err := eval.Load(name); err == nil {
			p.Datasets = append(p.Datasets, datasetRow{Name: name, Questions: d.Questions()})
		}
	}
	runs := map[string]*eval.Result{}
	for _, path := range e.files("runs", ".json") {
		if result, err := eval.ReadResult(path); err == nil { // one of another version is left out
			runs[nameOf(path)] = result
			p.Runs = append(p.Runs, runRow{nameOf(path), result})
		}
	}
	slices.SortStableFunc(p.Runs, func(a, b runRow) int { return b.Result.Started.Compare(a.Result.Started) })
	if a, b := runs[p.A], runs[p.B]; a != nil && b != nil {
		compared, err := eval.Compare(a, b)
		if err != nil {
			s.failed(w, r, http.StatusUnprocessableEntity, err.Error())
			return
		}
		p.Compared, p.Kinds = compared, kinds(a, b)
	}
	s.show(w, r, http.StatusOK, "evaluation", p)
}

// kinds counts right answers by the kind of question.
func kinds(a, b *eval.Result) (out []kindRow) {
	rows := map[string]*kindRow{}
	count := func(r *eval.Result, add func(row *kindRow, right int)) {
		for _, o := range r.Outcomes {
			if rows[o.Kind] == nil {
				rows[o.Kind] = &kindRow{Kind: o.Kind}
			}
			right := 0
			if o.Verdict == eval.VerdictRight {
				right = 1
			}
			add(rows[o.Kind], right)
		}
	}
	count(a, func(row *kindRow, right int) { row.A, row.OfA = row.A+right, row.OfA+1 })
	count(b, func(row *kindRow, right int) { row.B, row.OfB = row.B+right, row.OfB+1 })
	for _, kind := range sortedKeys(rows) {
		out = append(out, *rows[kind])
	}
	return out
}

func nameOf(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

func (e *evaluation) files(kind, ending string) []string {
	if e.folder == "" {
		return nil
	}
	found, _ := filepath.Glob(filepath.Join(e.folder, kind, "*"+ending)) // the pattern is right
	return found
}

// errNoDataset is the error for a dataset that is not there.
var errNoDataset = fmt.Errorf("there is no such dataset: %w", graph.ErrNotFound)

// load returns a dataset by the name that the page shows.
func (e *evaluation) load(name string) (eval.Dataset, error) {
	for _, path := range e.files("datasets", ".jsonl") {
		if nameOf(path) == name {
			return eval.Load(path) //nolint:wrapcheck // it names the file
		}
	}
	if slices.Contains(eval.BuiltIn(), name) {
		return eval.Load(name) //nolint:wrapcheck // it names the dataset
	}
	return eval.Dataset{}, errNoDataset
}

// evaluate asks all questions of a dataset, in the background. One run is made at a time.
func (s *site) evaluate(w http.ResponseWriter, r *http.Request) {
	e := s.evaluation
	d, err := e.load(r.FormValue("dataset"))
	if err != nil {
		s.fault(w, r, err)
		return
	}
	e.mu.Lock()
	busy := e.running != ""
	if !busy {
		e.running, e.done, e.total, e.fault = d.Name, 0, d.Questions(), ""
	}
	e.mu.Unlock()
	if !busy && e.folder != "" {
		go s.runEvaluation(context.WithoutCancel(r.Context()), d)
	}
	http.Redirect(w, r, "/evaluation", http.StatusSeeOther)
}

func (s *site) runEvaluation(ctx context.Context, d eval.Dataset) {
	e := s.evaluation
	result, err := eval.Run(ctx, forgetful{s.a}, d, eval.Options{Workers: 1, Model: modelOf(s.a), Progress: func(done, total int) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.done, e.total = done, total
	}})
	if result != nil && len(result.Outcomes) > 0 {
		err = errors.Join(err, e.save(result))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running = ""; err != nil {
		e.fault = err.Error()
	}
}

// save writes a run to a file of its own.
func (e *evaluation) save(r *eval.Result) error {
	folder := filepath.Join(e.folder, "runs")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("keep the run: %w", err)
	}
	data, err := json.Marshal(r)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, r.Started.UTC().Format("2006-01-02T150405Z")+".json"), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep the run: %w", err)
	}
	return nil
}

// forgetful asks without leaving conversations behind.
type forgetful struct{ a *ragflow.Assistant }

func (f forgetful) Ask(ctx context.Context, q ragflow.Question) (*ragflow.Reply, error) {
	reply, err := f.a.Ask(ctx, q)
	if err == nil && q.Thread == "" {
		time.AfterFunc(time.Minute, func() { _ = f.a.Threads().Delete(ctx, reply.ThreadID) }) // the turns of a dialogue follow
	}
	return reply, err //nolint:wrapcheck // it is the assistant's
}

// modelOf names what writes the answers of an assistant.
func modelOf(a *ragflow.Assistant) string {
	if c := a.Config().Models.Chat; c != nil && !a.Config().Settings.Offline {
		return c.Model()
	}
	return offline
}

// collect adds a question of a conversation to the dataset of collected ones, with its answer as the one expected.
func (s *site) collect(w http.ResponseWriter, r *http.Request) {
	_, reply, err := s.answered(r)
	if err == nil {
		err = s.evaluation.add(reply)
	}
	if err != nil {
		s.fault(w, r, err)
		return
	}
	http.Redirect(w, r, "/evaluation", http.StatusSeeOther)
}

// add writes a line of the collected dataset. A question that is there already changes nothing.
func (e *evaluation) add(r *ragflow.Reply) error {
	if e.folder == "" {
		return errors.New("datasets are kept in the data folder, and there is none")
	}
	item := eval.Item{ID: r.RunID, Question: r.Question}
	if r.Abstained {
		item.Kind = eval.NoAnswer
	} else {
		item.ExpectedAnswer = citation.ReplaceAllString(r.Answer, "")
	}
	for _, c := range r.Citations {
		if !slices.Contains(item.Relevant, c.Source) {
			item.Relevant = append(item.Relevant, c.Source)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	path := filepath.Join(e.folder, "datasets", collected+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("keep the question: %w", err)
	}
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep the question: %w", err)
	}
	if strings.Contains(string(before), `"id":"`+r.RunID+`"`) {
		return nil
	}
	line, err := json.Marshal(item)
	if err == nil {
		err = os.WriteFile(path, append(before, append(line, '\n')...), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep the question: %w", err)
	}
	return nil
}
