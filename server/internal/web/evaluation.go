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
	"example.com/ragflow/internal/newfile"
	"example.com/ragflow/server/internal/door"
)

// collected is the dataset that people fill from their conversations.
const collected = "collected"

// evaluation keeps datasets and runs in a folder, one file each.
type evaluation struct {
	folder string // "" if nothing can be kept

	mu sync.Mutex // guards progress
	progress
}

// progress is how far a run is.
type progress struct {
	Running     string // dataset that is asked now
	Done, Total int    // questions
	Fault       fault  // of the last run
}

type evaluationPage struct {
	progress

	Folder   string
	Datasets []datasetRow
	Runs     []runRow
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

// kindRow is how many questions of a kind were answered rightly, and how many there were, in each of two runs.
type kindRow struct {
	Kind      string
	Right, Of [2]int
}

// evaluated is the page of datasets and runs. ?a= and ?b= name two to compare.
func (s *site) evaluated(r *http.Request) (answer, error) {
	e := &s.evaluation
	p := evaluationPage{Folder: e.folder, A: r.URL.Query().Get("a"), B: r.URL.Query().Get("b")}
	e.mu.Lock()
	p.progress = e.progress
	e.mu.Unlock()
	for _, path := range e.datasets() {
		d, err := eval.Load(path)
		row := datasetRow{Name: nameOf(path), Questions: d.Questions()}
		if err != nil {
			row.Fault = err.Error()
		}
		p.Datasets = append(p.Datasets, row)
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
			return answer{}, &door.StatusError{Status: http.StatusUnprocessableEntity, Err: err}
		}
		p.Compared, p.Kinds = compared, rightByKind(a, b)
	}
	return answer{name: "evaluation", data: p}, nil
}

// rightByKind counts right answers by the kind of question.
func rightByKind(runs ...*eval.Result) (out []kindRow) {
	rows := map[string]kindRow{}
	for i, r := range runs {
		for _, o := range r.Outcomes {
			row := rows[o.Kind]
			row.Kind = o.Kind
			if row.Of[i]++; o.Verdict == eval.VerdictRight {
				row.Right[i]++
			}
			rows[o.Kind] = row
		}
	}
	for _, kind := range sortedKeys(rows) {
		out = append(out, rows[kind])
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

// datasets are the files of datasets, and the names of those that are built in.
func (e *evaluation) datasets() []string {
	return append(e.files("datasets", ".jsonl"), eval.BuiltIn()...)
}

// load returns a dataset by the name that the page shows.
func (e *evaluation) load(name string) (eval.Dataset, error) {
	for _, path := range e.datasets() {
		if nameOf(path) == name {
			return eval.Load(path)
		}
	}
	return eval.Dataset{}, graph.ErrNotFound
}

// evaluate asks all questions of a dataset, in the background. One run is made at a time.
func (s *site) evaluate(r *http.Request) (answer, error) {
	e := &s.evaluation
	d, err := e.load(r.FormValue("dataset"))
	if err != nil {
		return answer{}, err
	}
	e.mu.Lock()
	busy := e.Running != ""
	if !busy {
		e.progress = progress{Running: d.Name, Total: d.Questions()}
	}
	e.mu.Unlock()
	if !busy && e.folder != "" {
		go s.runEvaluation(context.WithoutCancel(r.Context()), d)
	}
	return answer{to: "/evaluation"}, nil
}

func (s *site) runEvaluation(ctx context.Context, d eval.Dataset) {
	e := &s.evaluation
	result, err := eval.Run(ctx, forgetful{s.a}, d, eval.Options{Workers: 1, Model: modelOf(s.a), Progress: func(done, total int) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.Done, e.Total = done, total
	}})
	if result != nil && len(result.Outcomes) > 0 {
		err = errors.Join(err, e.save(result))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.Running = ""; err != nil {
		e.Fault = newFault(err)
	}
}

// save writes a run to a file of its own.
func (e *evaluation) save(r *eval.Result) error {
	data, err := json.Marshal(r)
	if err == nil {
		err = newfile.WriteBytes(filepath.Join(e.folder, "runs", r.Started.UTC().Format("2006-01-02T150405Z")+".json"), data)
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
func (s *site) collect(r *http.Request) (answer, error) {
	_, reply, err := s.answered(r)
	if err == nil {
		err = s.evaluation.add(reply)
	}
	return answer{to: "/evaluation"}, err
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
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep the question: %w", err)
	}
	if strings.Contains(string(before), `"id":"`+r.RunID+`"`) {
		return nil
	}
	line, err := json.Marshal(item)
	if err == nil {
		err = newfile.WriteBytes(path, append(before, append(line, '\n')...))
	}
	if err != nil {
		return fmt.Errorf("keep the question: %w", err)
	}
	return nil
}
