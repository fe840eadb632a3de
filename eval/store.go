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

// Store keeps runs in a folder: one JSON file a run, as `ragflow eval --json` writes it,
// named by the id of the run.
type Store struct {
	Dir string
}

// Facts about stored runs; match them with errors.Is.
var (
	ErrNoRun     = errors.New("no such run")
	ErrRunFormat = errors.New("not a run of ragflow eval, or of a newer version")
)

const runExt = ".json"

// Save stores a run, complete or not, and gives it an id made of its time and dataset.
func (s Store) Save(r *Result) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of runs: %w", err)
	}
	base := r.Started.UTC().Format("20060102-150405") + "-" + fileName(r.Dataset.Name)
	var file *os.File
	for n := 1; file == nil; n++ { // two runs of one second get different ids
		if r.ID = base; n > 1 {
			r.ID = fmt.Sprintf("%s-%d", base, n)
		}
		var err error
		file, err = os.OpenFile(filepath.Join(s.Dir, r.ID+runExt), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil && (!errors.Is(err, fs.ErrExist) || n > 10_000) {
			return fmt.Errorf("store the run: %w", err)
		}
	}
	enc := json.NewEncoder(file)
	enc.SetIndent("", " ")
	if err := errors.Join(enc.Encode(r), file.Close()); err != nil {
		return fmt.Errorf("store the run: %w", errors.Join(err, os.Remove(file.Name())))
	}
	return nil
}

// fileName makes a file name of any name: letters, digits, points and dashes of ASCII,
// at most 40.
func fileName(name string) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_' {
			return r
		}
		return '-'
	}, name)
	return cmp.Or(strings.Trim(safe[:min(len(safe), 40)], "-."), "dataset")
}

// Load returns a run by its id, a beginning of an id that no other has, or "last"; or one
// in a file, as `ragflow eval --json` writes it.
func (s Store) Load(name string) (*Result, error) {
	path, err := s.find(name)
	if errors.Is(err, ErrNoRun) {
		if info, statErr := os.Stat(name); statErr == nil && !info.IsDir() {
			path, err = name, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return decodeFile(path)
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

// RunInfo is a stored run in a list.
type RunInfo struct {
	ID        string    `json:"id"`
	Started   time.Time `json:"started"`
	Complete  bool      `json:"complete"`
	Dataset   string    `json:"dataset"`
	Questions int       `json:"questions"`
	Model     string    `json:"model"`
	Problem   string    `json:"problem,omitempty"` // why the run cannot be read
}

// List returns the stored runs, the newest first. One that cannot be read says so and
// hides no other.
func (s Store) List() ([]RunInfo, error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	runs := []RunInfo{}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), runExt)
		if !ok || e.IsDir() {
			continue
		}
		info := RunInfo{ID: id}
		if r, err := decodeFile(filepath.Join(s.Dir, e.Name())); err != nil {
			info.Problem = err.Error()
		} else {
			info = RunInfo{
				ID: id, Started: r.Started, Complete: r.Complete, Dataset: r.Dataset.Name,
				Questions: r.Dataset.Questions, Model: r.Setup.Model,
			}
		}
		runs = append(runs, info)
	}
	slices.SortFunc(runs, func(a, b RunInfo) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(len(b.ID), len(a.ID)), cmp.Compare(b.ID, a.ID))
	})
	return runs, nil
}

// find returns the file of a stored run.
func (s Store) find(name string) (string, error) {
	runs, err := s.List()
	if err != nil {
		return "", err
	}
	var begin []string
	for _, r := range runs {
		switch {
		case r.ID == name || name == "last":
			return filepath.Join(s.Dir, r.ID+runExt), nil
		case name != "" && strings.HasPrefix(r.ID, name):
			begin = append(begin, r.ID)
		}
	}
	switch {
	case len(begin) == 1:
		return filepath.Join(s.Dir, begin[0]+runExt), nil
	case len(begin) > 1:
		return "", fmt.Errorf("%w: %d ids begin with %q", ErrNoRun, len(begin), name)
	}
	return "", fmt.Errorf("%w: %q", ErrNoRun, name)
}
