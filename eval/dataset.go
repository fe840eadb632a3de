package eval

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// NoAnswer is the kind of a question without an answer in the documents.
const NoAnswer = "no-answer"

// Answerable reports whether questions of a kind have an answer in the documents: all kinds but [NoAnswer]
// and "unanswerable".
func Answerable(kind string) bool {
	switch strings.ReplaceAll(strings.ToLower(kind), "_", "-") {
	case NoAnswer, "unanswerable":
		return false
	}
	return true
}

// Item is one entry of a dataset: a question or, with Turns, a dialogue.
type Item struct {
	ID       string `json:"id"`
	Lang     string `json:"lang"`
	Kind     string `json:"kind,omitempty"` // of a question: howto, fact, …, no-answer
	Title    string `json:"title,omitempty"`
	Question string `json:"question,omitempty"`
	Expected
	Turns []Turn `json:"turns,omitempty"`
}

// Turn is one question of a dialogue, to be asked in order.
type Turn struct {
	Turn       int    `json:"turn"`           // from 1; default: its position
	Kind       string `json:"kind,omitempty"` // as for an item; empty: that of the dialogue
	Question   string `json:"question"`
	Standalone string `json:"standalone,omitempty"` // the question without references to the dialogue; hidden from the system under test
	Expected
}

// Expected describes a good answer. Each part may be omitted; it is then not measured.
type Expected struct {
	ExpectedKeywords []string `json:"expected_keywords"`
	ExpectedAnswer   string   `json:"expected_answer"`
	Relevant         []string `json:"relevant"` // pages, as paths below the folder of documents
}

// Dataset is a set of questions and dialogues with a name.
type Dataset struct {
	Name  string // name of a built-in set, or of the file without folder and extension
	Items []Item
}

// Questions returns the number of questions, counting each turn of a dialogue.
func (d Dataset) Questions() int {
	n := 0
	for _, item := range d.Items {
		n += max(1, len(item.Turns))
	}
	return n
}

// ErrEmptyDataset is the error of a dataset without questions.
var ErrEmptyDataset = errors.New("the dataset holds no questions")

// ReadFile reads a dataset from a file; see [Read].
func ReadFile(path string) ([]Item, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	items, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return items, nil
}

//go:embed datasets/*.jsonl
var datasets embed.FS

// BuiltIn returns the built-in datasets: docker-8 has eight questions about the Docker documentation, guide
// asks about the guide of this project (folder docs of a clone).
func BuiltIn() []string { return []string{"docker-8", "guide"} }

// Load returns a dataset by the name of a built-in one (see [BuiltIn]) or by the path of a file. A file with
// a built-in name needs a path such as ./guide.
func Load(name string) (Dataset, error) {
	if slices.Contains(BuiltIn(), name) {
		data, err := datasets.ReadFile("datasets/" + name + ".jsonl")
		if err != nil {
			return Dataset{}, fmt.Errorf("built-in dataset %q: %w", name, err)
		}
		items, err := Read(bytes.NewReader(data))
		return Dataset{Name: name, Items: items}, err
	}
	items, err := ReadFile(name)
	if err != nil {
		return Dataset{}, err
	}
	base, _, _ := strings.Cut(filepath.Base(name), ".")
	return Dataset{Name: base, Items: items}, nil
}
