// Package feedback stores opinions on answers: ratings as lines of a file, and good answers as documents that
// later questions find.
//
//	err := feedback.AppendFeedback(dataDir, &feedback.Feedback{RunID: run, Rating: feedback.RatingUp})
//	list, err := feedback.ReadFeedback(dataDir)
package feedback

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"example.com/ragflow/internal/newfile"
	"example.com/ragflow/state"
)

// Ratings of an answer.
const (
	RatingUp   = "up"
	RatingDown = "down"
)

const feedbackFile = "feedback.jsonl" // in the data folder: one [Feedback] per line, oldest first

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
}

// List lists feedback, newest first. Its JSON is the schema of `ragflow feedback list --json`.
type List struct {
	Feedback []Feedback `json:"feedback"`
}

// ReadFeedback returns the ratings stored in a data folder, newest first. The error of an invalid line names
// it.
func ReadFeedback(dataDir string) (*List, error) {
	out := &List{Feedback: []Feedback{}}
	path := filepath.Join(dataDir, feedbackFile)
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	} else if err != nil {
		return nil, fmt.Errorf("read feedback: %w", err)
	}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var f Feedback
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			return nil, errors.Join(fmt.Errorf("%s:%d: not a line of feedback: %w", path, n, err), file.Close())
		}
		out.Feedback = append([]Feedback{f}, out.Feedback...)
	}
	return out, errors.Join(lines.Err(), file.Close())
}

// AppendFeedback stores a rating in a data folder. The line is added in one write, so lines of two processes
// do not mix.
func AppendFeedback(dataDir string, f *Feedback) error {
	line, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("store feedback: %w", err)
	}
	if err := newfile.Append(filepath.Join(dataDir, feedbackFile), append(line, '\n')); err != nil {
		return fmt.Errorf("store feedback: %w", err)
	}
	return nil
}

// PromotedName returns a file name, without extension, for the answer of a run or the folder of a root.
func PromotedName(of string) string {
	sum := sha256.Sum256([]byte(of))
	return hex.EncodeToString(sum[:6])
}

// WritePromoted writes a Markdown file with a question as title and the cited passages as text, each with its
// place.
func WritePromoted(path string, f *Feedback, t state.Turn) error {
	var sources, passages []string
	for _, c := range t.Citations {
		source := fmt.Sprintf("%s:%d", c.Source, c.StartLine)
		if passage := fmt.Sprintf("%s\n\nFrom %s", strings.TrimSpace(c.Quote), source); !slices.Contains(passages, passage) {
			sources, passages = append(sources, source), append(passages, passage)
		}
	}
	head, err := yaml.Marshal(map[string]any{
		"title": f.Question, "document_type": "promoted answer", "thread": f.ThreadID, "run": f.RunID,
		"promoted": f.Time.Format(time.RFC3339), "sources": sources,
	})
	if err != nil {
		return err
	}
	return newfile.WriteBytes(path, fmt.Appendf(nil, "---\n%s---\n\n%s\n", head, strings.Join(passages, "\n\n")))
}

// Promoted returns the promoted answers in a folder: the run of each file, by path. Files that cannot be read
// or name no run are left out. A missing folder has none.
func Promoted(folder string) (map[string]string, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	out := map[string]string{}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		if filepath.Ext(path) != ".md" {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			continue // the index reports unreadable files
		}
		var head struct {
			Run string `yaml:"run"`
		}
		front, _, _ := strings.Cut(strings.TrimPrefix(string(data), "---\n"), "\n---\n")
		if yaml.Unmarshal([]byte(front), &head) == nil && head.Run != "" {
			out[path] = head.Run
		}
	}
	return out, err
}
