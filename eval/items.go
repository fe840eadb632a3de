package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Read reads a dataset: JSON lines or a JSON array, packed with gzip or not. Lines that begin with # or // are comments in JSON lines.
// Everything that is wrong is reported at once, as a [*DatasetError]. A dataset
// without questions is read as such.
func Read(r io.Reader) ([]Item, error) {
	in, err := unpacked(r)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(in, MaxDatasetBytes+1))
	if err == nil && len(data) > MaxDatasetBytes {
		err = fmt.Errorf("more than %d MiB; split it", MaxDatasetBytes>>20)
	}
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	p := &itemReader{seen: map[string]int{}}
	switch first := firstLine(data); {
	case !utf8.Valid(data):
		p.wrong.add(1+bytes.Count(data[:invalidAt(data)], []byte("\n")), "not valid UTF-8; save the file as UTF-8")
	case bytes.HasPrefix(first, []byte("[")):
		p.array(data)
	default:
		p.lines(data)
	}
	if err := p.wrong.err(); err != nil {
		return nil, err
	}
	return p.items, nil
}

// invalidAt is the offset of the first byte that is not UTF-8.
func invalidAt(data []byte) int {
	return len(data) - len(bytes.TrimLeftFunc(data, func(r rune) bool { return r != utf8.RuneError }))
}

// firstLine is the first line that is neither blank nor a comment.
func firstLine(data []byte) []byte {
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) > 0 && !isComment(line) {
			return line
		}
	}
	return nil
}

func isComment(line []byte) bool {
	return bytes.HasPrefix(line, []byte("#")) || bytes.HasPrefix(line, []byte("//"))
}

// itemReader reads the items of one dataset.
type itemReader struct {
	items []Item
	wrong faults
	seen  map[string]int // line by id
}

func (p *itemReader) lines(data []byte) {
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if line = bytes.TrimSpace(line); len(line) > 0 && !isComment(line) {
			p.object(line, n)
		}
	}
}

// array reads one JSON array of items. The first syntax error ends it.
func (p *itemReader) array(data []byte) {
	dec := json.NewDecoder(bytes.NewReader(data))
	line := func() int { return 1 + bytes.Count(data[:dec.InputOffset()], []byte("\n")) }
	_, err := dec.Token()
	for err == nil && dec.More() {
		var raw json.RawMessage
		if err = dec.Decode(&raw); err == nil {
			p.object(raw, line()-bytes.Count(raw, []byte("\n")))
		}
	}
	if err == nil {
		_, err = dec.Token()
	}
	if err != nil {
		p.wrong.add(line(), "broken JSON array: %s", err)
	} else if rest := data[dec.InputOffset():]; len(bytes.TrimSpace(rest)) > 0 {
		p.wrong.add(line(), "something follows the end of the array; give one array, or JSON lines without one")
	}
}

// object reads one item from its JSON text.
func (p *itemReader) object(raw []byte, line int) {
	var item Item
	if err := json.Unmarshal(raw, &item); err != nil {
		if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && typed.Field != "" {
			field := typed.Field[strings.LastIndexByte(typed.Field, '.')+1:] // the path names Go's embedded structs, too
			p.wrong.add(line, "%q is a %s, but %s is expected", field, typed.Value, expectedType(typed.Type.String()))
			return
		}
		p.wrong.add(line, "not a JSON object such as {\"id\": \"q1\", \"question\": \"…\"}: %s", err)
		return
	}
	p.accept(item, line)
}

// expectedType names a type of Go for people.
func expectedType(goType string) string {
	switch goType {
	case "string":
		return "a text"
	case "int":
		return "a whole number"
	case "[]string":
		return "a list of texts"
	}
	return "a list of objects"
}

// accept checks an item and keeps it where all is well.
func (p *itemReader) accept(item Item, line int) {
	before := len(p.wrong)
	wrong := func(bad bool, format string, args ...any) {
		if bad {
			p.wrong.add(line, format, args...)
		}
	}
	wrong(strings.TrimSpace(item.ID) == "", `no id; give each item one of its own, such as "id": "q1"`)
	wrong(utf8.RuneCountInString(item.ID) > maxID || strings.ContainsFunc(item.ID, func(r rune) bool { return !unicode.IsPrint(r) }),
		"the id %.40q has more than %d characters, or some that cannot be printed", item.ID, maxID)
	wrong(p.seen[item.ID] > 0, "id %q is that of line %d; each item needs one of its own", item.ID, p.seen[item.ID])
	p.seen[item.ID] = line
	wrong((item.Question == "") == (len(item.Turns) == 0), "item %q: either question or turns must be there, and not both", item.ID)
	wrong(len(item.Turns) > MaxTurns, "item %q has %d turns, but at most %d are taken", item.ID, len(item.Turns), MaxTurns)
	wrong(len(p.items) == MaxItems, "more than %d items; split the dataset", MaxItems)
	check := func(question string, e Expected) {
		wrong(question != "" && strings.TrimSpace(question) == "", "the question is empty")
		wrong(utf8.RuneCountInString(question) > MaxQuestion, "the question has %d characters, but at most %d are used of one",
			utf8.RuneCountInString(question), MaxQuestion)
		blank := func(s string) bool { return strings.TrimSpace(s) == "" }
		wrong(slices.ContainsFunc(e.ExpectedKeywords, blank), "%q holds an empty text", "expected_keywords")
		wrong(slices.ContainsFunc(e.Relevant, blank), "%q holds an empty text", "relevant")
	}
	check(item.Question, item.Expected)
	for i := range item.Turns {
		t := &item.Turns[i]
		if t.Turn == 0 {
			t.Turn = i + 1
		}
		wrong(t.Turn != i+1, "item %q: turn %d stands in place %d; turns are numbered 1, 2, 3 … in the order they are asked", item.ID, t.Turn, i+1)
		wrong(t.Question == "", "the question of turn %d is empty", i+1)
		check(t.Question, t.Expected)
	}
	if len(p.wrong) == before {
		p.items = append(p.items, item)
	}
}
