package eval

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// NoAnswer is the kind of a question that the documents do not answer.
const NoAnswer = "no-answer"

// Answerable reports whether the documents are expected to answer a question
// of a kind. Besides [NoAnswer], "unanswerable" says that they are not.
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
	Turn       int    `json:"turn"`           // from 1; numbered by place where left out
	Kind       string `json:"kind,omitempty"` // as that of an item; empty: the dialogue's
	Question   string `json:"question"`
	Standalone string `json:"standalone,omitempty"` // what it means without the dialogue; not for the system under test
	Expected
}

// Expected is what a good answer holds. All of it may be left out: what is not
// expected is not measured.
type Expected struct {
	ExpectedKeywords []string `json:"expected_keywords"`
	ExpectedAnswer   string   `json:"expected_answer"`
	Relevant         []string `json:"relevant"` // pages, as paths under the folder of documents
}

// Dataset is a set of questions and dialogues with a name.
type Dataset struct {
	Name  string // of the file without folder and extension, or of a built-in set
	Items []Item
}

// Hash names the content of a dataset: SHA-256, in hex, of its items. It does
// not depend on the form of the file: JSON lines, an array and CSV of the same
// questions have the same hash.
func (d Dataset) Hash() string {
	sum := sha256.New()
	enc := json.NewEncoder(sum)
	for _, item := range d.Items {
		_ = enc.Encode(item) // neither texts and numbers nor a hash can fail
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Questions counts the questions, each turn of a dialogue being one.
func (d Dataset) Questions() int {
	n := 0
	for _, item := range d.Items {
		n += max(1, len(item.Turns))
	}
	return n
}

// Bounds of a dataset. Beyond them it is refused, not cut.
const (
	MaxDatasetBytes = 64 << 20 // of the file, unpacked
	MaxItems        = 100_000
	MaxTurns        = 1_000  // of one dialogue
	MaxQuestion     = 10_000 // runes of a question: as many as are used of one
	maxID           = 200    // runes of an id
	maxFaults       = 1_000  // how many are collected
)

// DatasetError tells all that is wrong with a dataset.
type DatasetError struct {
	Faults []Fault // in the order of the file, never empty
}

// Fault is one thing that is wrong with a dataset.
type Fault struct {
	Line   int    // from 1
	Column int    // in characters, from 1; 0 where the line as a whole is meant
	What   string // what is wrong, and what is expected
}

func (f Fault) String() string {
	if f.Column == 0 {
		return fmt.Sprintf("line %d: %s", f.Line, f.What)
	}
	return fmt.Sprintf("line %d, column %d: %s", f.Line, f.Column, f.What)
}

// Error names the first faults, on one line.
func (e *DatasetError) Error() string {
	const most = 5
	var parts []string
	for _, f := range e.Faults[:min(most, len(e.Faults))] {
		parts = append(parts, f.String())
	}
	if more := len(e.Faults) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return "dataset " + strings.Join(parts, "; ")
}

// ErrEmptyDataset is a dataset without a question.
var ErrEmptyDataset = errors.New("the dataset holds no questions")

// Read reads a dataset: JSON lines, a JSON array, or CSV with a header; packed
// with gzip or not. In JSON lines empty lines and those that begin with # or //
// are left out; a byte order mark and CRLF are fine anywhere. Everything that
// is wrong is reported at once, as a [*DatasetError]. A dataset without
// questions is read as such.
func Read(r io.Reader) ([]Item, error) {
	data, err := readBounded(r)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	p := &parser{data: data, seen: map[string]int{}}
	p.encoding()
	if len(p.faults) == 0 {
		switch first := p.start(); {
		case first == '[':
			p.array()
		case first == '{' || first == 0 || !p.csvHeader():
			p.lines()
		default:
			p.csv()
		}
	}
	if len(p.faults) > 0 {
		return nil, &DatasetError{p.faults}
	}
	return p.items, nil
}

// readBounded reads all of r, unpacked, up to the limit.
func readBounded(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxDatasetBytes+1))
	if err == nil && bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		var unpacked *gzip.Reader
		if unpacked, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			data, err = io.ReadAll(io.LimitReader(unpacked, MaxDatasetBytes+1))
		}
	}
	if err == nil && len(data) > MaxDatasetBytes {
		err = fmt.Errorf("more than %d MiB; split it", MaxDatasetBytes>>20)
	}
	return data, err
}

// ReadFile reads a dataset from a file; see [Read].
func ReadFile(path string) ([]Item, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open dataset: %w", err)
	}
	defer f.Close() //nolint:errcheck // read only
	items, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return items, nil
}

// Load returns a dataset by the name of a built-in one (see [BuiltIn]) or by
// the path of a file. A file in the way of a built-in name is reached by a path
// such as ./guide.
func Load(name string) (Dataset, error) {
	if slices.Contains(BuiltIn(), name) {
		return builtIn(name)
	}
	items, err := ReadFile(name)
	if err != nil {
		return Dataset{}, err
	}
	base, _, _ := strings.Cut(filepath.Base(name), ".")
	return Dataset{Name: base, Items: items}, nil
}

// Pages lists all pages that the dataset calls relevant, sorted.
func (d Dataset) Pages() []string {
	var pages []string
	for _, item := range d.Items {
		pages = append(pages, item.Relevant...)
		for _, t := range item.Turns {
			pages = append(pages, t.Relevant...)
		}
	}
	slices.Sort(pages)
	return slices.Compact(pages)
}

// Kinds lists the kinds of questions there are, sorted.
func (d Dataset) Kinds() []string {
	var kinds []string
	for _, item := range d.Items {
		for _, o := range questionsOf(item) {
			if o.Kind != "" {
				kinds = append(kinds, o.Kind)
			}
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}
