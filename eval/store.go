package eval

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Store keeps runs in a folder, one folder a run:
//
//	run.json       the result without outcomes
//	items.jsonl    one line for each item that is done, as it came; in the order of the dataset once all are
//	dataset.jsonl  the items that are asked, so that a run can be resumed without the file they came from
//
// A run that was interrupted at any moment keeps every item that was recorded.
type Store struct {
	Dir string
}

// Facts about stored runs; match them with errors.Is.
var (
	ErrNoRun     = errors.New("no such run")
	ErrRunFormat = errors.New("not a run of ragflow eval, or of a newer version")
)

const (
	headerFile  = "run.json"
	itemsFile   = "items.jsonl"
	datasetFile = "dataset.jsonl"
)

// itemLine is a line of items.jsonl.
type itemLine struct {
	Item     string    `json:"item"`
	Outcomes []Outcome `json:"outcomes"`
}

// Journal is a run while it is going on. It is not safe for concurrent use.
type Journal struct {
	dir   string
	file  *os.File
	order []string // items as the dataset has them
}

// Create begins a run: it gives r an id, which tells the time and the dataset,
// and writes all but outcomes. The caller closes the journal.
func (s Store) Create(r *Result, d Dataset, o Options) (*Journal, error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of runs: %w", err)
	}
	base := r.Started.UTC().Format("20060102-150405") + "-" + fileName(d.Name)
	for n := 1; ; n++ { // two runs of one second get different ids
		r.ID = base
		if n > 1 {
			r.ID = fmt.Sprintf("%s-%d", base, n)
		}
		err := os.Mkdir(filepath.Join(s.Dir, r.ID), 0o700)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) || n > 10_000 {
			return nil, fmt.Errorf("make the folder of the run: %w", err)
		}
	}
	dir := filepath.Join(s.Dir, r.ID)
	var lines bytes.Buffer
	enc := json.NewEncoder(&lines)
	for _, item := range o.withDefaults().choose(d.Items) {
		if err := enc.Encode(item); err != nil {
			return nil, fmt.Errorf("keep the dataset: %w", err)
		}
	}
	err := errors.Join(writeFile(filepath.Join(dir, datasetFile), lines.Bytes()), writeHeader(dir, r))
	if err != nil {
		return nil, fmt.Errorf("keep the run: %w", err)
	}
	return open(dir, lines.Bytes())
}

// fileName makes a name of a file of any name: letters, digits, points and
// dashes of ASCII, 40 at most.
func fileName(name string) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_' {
			return r
		}
		return '-'
	}, name)
	return cmp.Or(strings.Trim(safe[:min(len(safe), 40)], "-."), "dataset")
}

func open(dir string, dataset []byte) (*Journal, error) {
	items, err := Read(bytes.NewReader(dataset))
	if err != nil {
		return nil, fmt.Errorf("the dataset of the run: %w", err)
	}
	j := &Journal{dir: dir}
	for _, item := range items {
		j.order = append(j.order, item.ID)
	}
	j.file, err = os.OpenFile(filepath.Join(dir, itemsFile), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keep the run: %w", err)
	}
	if info, err := j.file.Stat(); err != nil || info.Size() == 0 {
		return j, err
	}
	_, err = j.file.WriteString("\n") // ends a last line that a crash left unfinished
	return j, err
}

// Record keeps what became of an item; see [Options].
func (j *Journal) Record(item string, done []Outcome) error {
	line, err := json.Marshal(itemLine{item, done})
	if err == nil {
		_, err = j.file.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep the outcome of %s: %w", item, err)
	}
	return nil
}

// Finish writes the run as it ended: header and, in the order of the dataset,
// outcomes. The journal is closed.
func (j *Journal) Finish(r *Result) error {
	var lines bytes.Buffer
	byItem := map[string][]Outcome{}
	for _, o := range r.Outcomes {
		byItem[o.Item] = append(byItem[o.Item], o)
	}
	enc := json.NewEncoder(&lines)
	for _, item := range j.order {
		if done := byItem[item]; done != nil {
			if err := enc.Encode(itemLine{item, done}); err != nil {
				return fmt.Errorf("keep the run: %w", err)
			}
		}
	}
	err := errors.Join(j.file.Close(), writeFile(filepath.Join(j.dir, itemsFile), lines.Bytes()))
	if err == nil {
		err = writeHeader(j.dir, r)
	}
	if err != nil {
		return fmt.Errorf("keep the run: %w", err)
	}
	return nil
}

// writeHeader writes a result without outcomes.
func writeHeader(dir string, r *Result) error {
	header := *r
	header.Outcomes = []Outcome{}
	data, err := json.MarshalIndent(header, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, headerFile), append(data, '\n'))
}

// writeFile puts a file in place as a whole.
func writeFile(path string, data []byte) error {
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Resume opens a run to go on with: its dataset, and a result that holds what
// is done. The caller closes the journal.
func (s Store) Resume(name string) (*Journal, *Result, Dataset, error) {
	dir, err := s.find(name)
	if err != nil {
		return nil, nil, Dataset{}, err
	}
	r, err := loadRun(dir)
	if err != nil {
		return nil, nil, Dataset{}, err
	}
	data, err := os.ReadFile(filepath.Join(dir, datasetFile))
	if err != nil {
		return nil, nil, Dataset{}, fmt.Errorf("the dataset of the run: %w", err)
	}
	items, err := Read(bytes.NewReader(data))
	if err != nil {
		return nil, nil, Dataset{}, fmt.Errorf("the dataset of the run: %w", err)
	}
	j, err := open(dir, data)
	return j, r, Dataset{Name: r.Dataset.Name, Items: items}, err
}

// Load returns a run by its id, its name (the newest of that name), a beginning
// of an id that no other has, or "last"; or one that lies in a file, as
// `ragflow eval --json` writes it, or in a folder.
func (s Store) Load(name string) (*Result, error) {
	dir, err := s.find(name)
	if err == nil {
		return loadRun(dir)
	}
	info, statErr := os.Stat(name)
	switch {
	case !errors.Is(err, ErrNoRun) || statErr != nil:
		return nil, err
	case info.IsDir():
		return loadRun(name)
	}
	return decodeFile(name)
}

func decodeFile(path string) (*Result, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the run: %w", err)
	}
	var r Result
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &r); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrRunFormat, err)
	}
	if r.Format < 1 || r.Format > ResultFormat {
		return nil, fmt.Errorf("%s: %w", path, ErrRunFormat)
	}
	r.Summarise()
	return &r, nil
}

// loadRun reads the folder of a run, finished or not. Of an item that was asked
// again the last outcomes count; a line that was cut off is an item that is not
// done.
func loadRun(dir string) (*Result, error) {
	r, err := decodeFile(filepath.Join(dir, headerFile))
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(dir, itemsFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the run: %w", err)
	}
	var order []string
	done := map[string][]Outcome{}
	for line := range bytes.Lines(data) {
		var item itemLine
		if json.Unmarshal(line, &item) != nil {
			continue
		}
		if done[item.Item] == nil {
			order = append(order, item.Item)
		}
		done[item.Item] = item.Outcomes
	}
	for _, id := range order {
		r.Outcomes = append(r.Outcomes, done[id]...)
	}
	r.Summarise()
	return r, nil
}

// RunInfo is a stored run in a list.
type RunInfo struct {
	ID         string    `json:"id"`
	Name       string    `json:"name"`
	Started    time.Time `json:"started"`
	Complete   bool      `json:"complete"`
	Dataset    string    `json:"dataset"`
	Questions  int       `json:"questions"`
	Model      string    `json:"model"`
	JudgeModel string    `json:"judge_model"`
	Problem    string    `json:"problem,omitempty"` // why the run cannot be read
}

// List returns the stored runs, the newest first. One that cannot be read says
// so and hides no other.
func (s Store) List() ([]RunInfo, error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	runs := []RunInfo{}
	for _, e := range entries {
		r, err := decodeFile(filepath.Join(s.Dir, e.Name(), headerFile))
		switch {
		case !e.IsDir() || errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			runs = append(runs, RunInfo{ID: e.Name(), Problem: err.Error()})
		default:
			runs = append(runs, RunInfo{
				ID: e.Name(), Name: r.Name, Started: r.Started, Complete: r.Complete, Dataset: r.Dataset.Name,
				Questions: r.Dataset.Questions, Model: r.Setup.Model, JudgeModel: r.JudgeModel,
			})
		}
	}
	slices.SortFunc(runs, func(a, b RunInfo) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(len(b.ID), len(a.ID)), cmp.Compare(b.ID, a.ID))
	})
	return runs, nil
}

// find returns the folder of a run.
func (s Store) find(name string) (string, error) {
	runs, err := s.List()
	if err != nil {
		return "", err
	}
	var begin []string
	for _, r := range runs {
		if r.ID == name || name == "last" {
			return filepath.Join(s.Dir, r.ID), nil
		}
		if name != "" && strings.HasPrefix(r.ID, name) {
			begin = append(begin, r.ID)
		}
	}
	for _, r := range runs {
		if name != "" && r.Name == name {
			return filepath.Join(s.Dir, r.ID), nil
		}
	}
	switch len(begin) {
	case 0:
		return "", fmt.Errorf("%w: %q", ErrNoRun, name)
	case 1:
		return filepath.Join(s.Dir, begin[0]), nil
	}
	return "", fmt.Errorf("%w: %d ids begin with %q", ErrNoRun, len(begin), name)
}
