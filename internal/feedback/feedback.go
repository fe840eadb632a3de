// Package feedback stores opinions on answers: ratings as lines of a file, and good answers as documents that
// later questions find. It makes datasets of them, and learns from them how far each leg of the search is to be
// trusted.
//
//	err := feedback.AppendFeedback(dataDir, &feedback.Feedback{RunID: run, Rating: feedback.RatingUp})
//	list, err := feedback.ReadFeedback(dataDir)
package feedback

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"example.com/ragflow/internal/newfile"
	"example.com/ragflow/state"
)

// Ratings of an answer, and the mark that a person put to forget what was learnt from those before it.
const (
	RatingUp   = "up"
	RatingDown = "down"
	Reset      = "reset"
)

const feedbackFile = "feedback.jsonl" // in the data folder: one [Feedback] per line, oldest first

// maxLine is the most bytes of a line that is read. The limits of a rating keep lines far below it.
const maxLine = 1 << 20

// Feedback is one stored rating. Its JSON is the schema of `ragflow feedback up
// --json` and a line of feedback.jsonl.
type Feedback struct {
	Time     time.Time `json:"time"` // UTC
	ThreadID string    `json:"thread_id"`
	RunID    string    `json:"run_id"`
	Question string    `json:"question"`
	Rating   string    `json:"rating"` // RatingUp or RatingDown
	Note     string    `json:"note"`
	Document string    `json:"document"` // path of the promoted answer, or ""

	Owner       string             `json:"owner,omitempty"`       // of the thread
	Quality     *float64           `json:"quality,omitempty"`     // 0–1, if a program gave it
	Before      []string           `json:"before,omitempty"`      // the questions of the thread before this one, oldest first
	Answer      string             `json:"answer,omitempty"`      // the rated answer; empty if it declined
	Better      string             `json:"better,omitempty"`      // a better answer, in the words of the person
	Unsupported []string           `json:"unsupported,omitempty"` // sentences of Better that no source which they cite says, each with the closest sentence of a source
	Sources     []string           `json:"sources,omitempty"`     // pages that Better cites, else those that the answer cites
	Passages    []string           `json:"passages,omitempty"`    // of Sources, as "page:line"
	Legs        map[string]float64 `json:"legs,omitempty"`        // 1/rank of the best cited passage in the list of each leg of the search
}

// Cite sets the passages that an answer cites, and their pages.
func (f *Feedback) Cite(cited []state.Citation) {
	f.Sources, f.Passages = nil, nil
	for _, c := range cited {
		if !slices.Contains(f.Sources, c.Source) {
			f.Sources = append(f.Sources, c.Source)
		}
		if place := placeOf(c); !slices.Contains(f.Passages, place) {
			f.Passages = append(f.Passages, place)
		}
	}
}

// List lists feedback, newest first. Its JSON is the schema of `ragflow feedback list --json`.
type List struct {
	Feedback []Feedback         `json:"feedback"`
	Up       int                `json:"up"`      // answers whose last rating is good
	Down     int                `json:"down"`    // answers whose last rating is bad
	Weights  map[string]float64 `json:"weights"` // factors of the legs of the search, that ADAPTIVE_SOURCE_WEIGHTS applies
}

// ReadFeedback returns the ratings stored in a data folder, newest first. The error of an invalid line names
// it.
func ReadFeedback(dataDir string) (*List, error) {
	out := &List{Feedback: []Feedback{}, Weights: map[string]float64{}}
	since := 0 // ratings before the last reset
	path := filepath.Join(dataDir, feedbackFile)
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	} else if err != nil {
		return nil, fmt.Errorf("read feedback: %w", err)
	}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		var f Feedback
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			return nil, errors.Join(fmt.Errorf("%s:%d: not a line of feedback: %w", path, n, err), file.Close())
		}
		if f.Rating == Reset {
			since = len(out.Feedback)
			continue
		}
		out.Feedback = append(out.Feedback, f)
	}
	out.Weights = factors(out.Feedback[since:])
	slices.Reverse(out.Feedback)
	for _, f := range out.Latest() {
		if f.Rating == RatingUp {
			out.Up++
		} else {
			out.Down++
		}
	}
	return out, errors.Join(lines.Err(), file.Close())
}

// Latest returns the last rating of each answer, newest first.
func (l *List) Latest() (out []Feedback) {
	seen := map[string]bool{}
	for _, f := range l.Feedback {
		if !seen[f.RunID] {
			out = append(out, f)
		}
		seen[f.RunID] = true
	}
	return out
}

// maxFile is the size from which on a file of ratings takes no more.
const maxFile = 64 << 20

// AppendFeedback stores a rating in a data folder. The line is added in one write, so lines of two processes
// do not mix.
func AppendFeedback(dataDir string, f *Feedback) error {
	line, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("store feedback: %w", err)
	}
	path := filepath.Join(dataDir, feedbackFile)
	if info, err := os.Stat(path); len(line) >= maxLine || err == nil && info.Size() > maxFile {
		return fmt.Errorf("store feedback: a rating has at most %d KiB and %s at most %d MiB: export the ratings and move the file away", maxLine>>10, path, maxFile>>20)
	}
	if err := newfile.Append(path, append(line, '\n')); err != nil {
		return fmt.Errorf("store feedback: %w", err)
	}
	return nil
}
