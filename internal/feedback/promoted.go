package feedback

import (
	"crypto/sha256"
	"encoding/hex"
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
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/state"
)

// FolderName returns the name of the folder of answers that were promoted from the documents of a root.
func FolderName(root string) string { return short(root) }

// Remove deletes the promoted answer of a run from a folder, if it is there.
func Remove(folder, run string) error {
	var faults []error
	for _, by := range []Author{Program, Person} {
		if err := os.Remove(Path(folder, run, by)); !errors.Is(err, fs.ErrNotExist) {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// Author is who worded a promoted answer. It begins the name of the file, which is what citations show.
type Author string

// The authors of promoted answers.
const (
	Program Author = "promoted-answer"    // passages that the program cited, word for word
	Person  Author = "answer-by-a-person" // a person, whose statements the sources that they cite say
)

// Path returns the file of the promoted answer of a run.
func Path(folder, run string, by Author) string {
	return filepath.Join(folder, string(by)+"-"+short(run)+".md")
}

// IsPromoted reports whether a file in a folder of promoted answers is named as one.
func IsPromoted(name string) bool {
	return strings.HasPrefix(name, string(Program)) || strings.HasPrefix(name, string(Person))
}

func short(of string) string {
	sum := sha256.Sum256([]byte(of))
	return hex.EncodeToString(sum[:6])
}

// WritePromoted writes a Markdown file with a question as title and the cited passages as text, each with its place.
// With picks, which are the passages within the sources of the turn, the better answer of the person comes before them.
func WritePromoted(path string, f *Feedback, cited []state.Citation, picks []cite.Pick) error {
	h := head{
		Title: f.Question, Type: "promoted answer", Thread: f.ThreadID, Run: f.RunID,
		Promoted: f.Time.Format(time.RFC3339), Picks: picks, Sources: f.Passages,
	}
	var parts []string
	if len(picks) > 0 {
		h.Type = "answer of a person"
		parts = []string{cite.Strip(f.Better), "A person wrote this answer from:"}
	}
	for _, c := range cited {
		if passage := fmt.Sprintf("%s\n\nFrom %s", strings.TrimSpace(c.Quote), placeOf(c)); !slices.Contains(parts, passage) {
			parts = append(parts, passage)
		}
	}
	front, err := yaml.Marshal(h)
	if err != nil {
		return err
	}
	return newfile.WriteBytes(path, fmt.Appendf(nil, "---\n%s---\n\n%s\n", front, strings.Join(parts, "\n\n")))
}

// head is the front matter of a promoted answer.
type head struct {
	Title    string      `yaml:"title"`
	Type     string      `yaml:"document_type"`
	Thread   string      `yaml:"thread"`
	Run      string      `yaml:"run"`
	Promoted string      `yaml:"promoted"`
	Sources  []string    `yaml:"sources"`
	Picks    []cite.Pick `yaml:"picks,omitempty"` // of a person's answer; else the citations of the run count
}

func placeOf(c state.Citation) string { return fmt.Sprintf("%s:%d", c.Source, c.StartLine) }

// Promoted is a promoted answer in a folder.
type Promoted struct {
	Path  string
	Run   string
	Picks []cite.Pick // of a person's answer; nil: it holds what the run cites
}

// ReadPromoted returns the promoted answers in a folder. Files that cannot be read or name no run are left out. A
// missing folder has none.
func ReadPromoted(folder string) (out []Promoted, err error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		if filepath.Ext(path) != ".md" {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			continue // the index reports unreadable files
		}
		var h head
		front, _, _ := strings.Cut(strings.TrimPrefix(string(data), "---\n"), "\n---\n")
		if yaml.Unmarshal([]byte(front), &h) == nil && h.Run != "" {
			out = append(out, Promoted{path, h.Run, h.Picks})
		}
	}
	return out, err
}
