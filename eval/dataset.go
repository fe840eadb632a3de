package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// NoAnswer is the kind of a question that the documents do not answer.
const NoAnswer = "no-answer"

// Item is one line of a dataset: a question or, with Turns, a dialogue.
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
	Turn       int    `json:"turn"`
	Question   string `json:"question"`
	Standalone string `json:"standalone,omitempty"` // what it means without the dialogue; not for the system under test
	Expected
}

// Expected is what a good answer holds.
type Expected struct {
	ExpectedKeywords []string `json:"expected_keywords"`
	ExpectedAnswer   string   `json:"expected_answer"`
	Relevant         []string `json:"relevant"` // pages, as paths under the folder of documents
}

// maxLine bounds a line of a dataset.
const maxLine = 16 << 20

// Read reads a dataset of JSON lines. Empty lines are left out. An item
// without an id, with neither question nor turns, or with an id that was there
// before is an error that names the line.
func Read(r io.Reader) ([]Item, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var items []Item
	seen := map[string]int{}
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if len(line) == 0 {
			continue
		}
		var item Item
		if err := json.Unmarshal(line, &item); err != nil {
			return nil, fmt.Errorf("dataset line %d: %w", n, err)
		}
		switch {
		case item.ID == "":
			return nil, fmt.Errorf("dataset line %d: no id", n)
		case (item.Question == "") == (len(item.Turns) == 0):
			return nil, fmt.Errorf("dataset line %d (%s): either question or turns must be there", n, item.ID)
		case seen[item.ID] > 0:
			return nil, fmt.Errorf("dataset line %d: id %q is that of line %d", n, item.ID, seen[item.ID])
		}
		seen[item.ID] = n
		items = append(items, item)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	return items, nil
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
