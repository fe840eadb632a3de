package eval

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// ErrDataset is the error of an invalid dataset. The message lists the first faults with their positions.
var ErrDataset = errors.New("broken dataset")

// MaxDatasetBytes is the maximum size of a dataset, maxResultBytes that of a stored run.
const (
	MaxDatasetBytes = 64 << 20
	maxResultBytes  = 512 << 20
)

// readAll reads at most so many bytes, and fails if there are more.
func readAll(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("more than %d MiB; split it", most>>20)
	}
	return data, err
}

// Read reads a dataset: JSON lines, a JSON array, or one object {"questions": [{"question": "…", "groundTruth": "…"}]},
// whose items need no id. Lines that begin with # or // are comments. Faults are reported together, as an error that
// matches ErrDataset. A dataset without questions is not an error.
func Read(r io.Reader) ([]Item, error) {
	data, err := readAll(r, MaxDatasetBytes)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	p := &itemReader{seen: map[string]string{}}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	var whole struct {
		Questions []json.RawMessage `json:"questions"`
	}
	switch {
	case bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")):
		var items []json.RawMessage
		if err := json.Unmarshal(data, &items); err != nil {
			p.wrong("file", "broken JSON array: %s", err)
		}
		p.objects(items)
	case json.Unmarshal(data, &whole) == nil && whole.Questions != nil:
		p.numbered = true
		p.objects(whole.Questions)
	default:
		n := 0
		for line := range bytes.Lines(data) {
			n++
			if line = bytes.TrimSpace(line); len(line) > 0 && !bytes.HasPrefix(line, []byte("#")) && !bytes.HasPrefix(line, []byte("//")) {
				p.object(line, fmt.Sprintf("line %d", n))
			}
		}
	}
	if len(p.faults) > 0 {
		const most = 5
		return nil, fmt.Errorf("%w: %s", ErrDataset, strings.Join(p.faults[:min(most, len(p.faults))], "; "))
	}
	return p.items, nil
}

// itemReader reads the items of one dataset.
type itemReader struct {
	items  []Item
	faults []string
	seen   map[string]string // position by id

	numbered bool // an item without an id is called by its position
}

// objects reads items from their JSON texts.
func (p *itemReader) objects(items []json.RawMessage) {
	for i, item := range items {
		p.object(item, fmt.Sprintf("item %d", i+1))
	}
}

// wrong records a fault at a position.
func (p *itemReader) wrong(place, format string, args ...any) {
	p.faults = append(p.faults, place+": "+fmt.Sprintf(format, args...))
}

// object reads one item from its JSON text.
func (p *itemReader) object(raw []byte, place string) {
	var item struct {
		Item
		GroundTruth string `json:"groundTruth"` // expected_answer in datasets of other programs
	}
	err := json.Unmarshal(raw, &item)
	typed, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case !utf8.Valid(raw):
		p.wrong(place, "not valid UTF-8; save the file as UTF-8")
	case ok && typed.Field != "":
		field := typed.Field[strings.LastIndexByte(typed.Field, '.')+1:] // the path also names embedded Go structs
		p.wrong(place, "%q is a %s, but %s is expected", field, typed.Value, inJSON(typed.Type))
	case err != nil:
		p.wrong(place, "not a JSON object such as {\"id\": \"q1\", \"question\": \"…\"}: %s", err)
	default:
		if p.numbered && item.ID == "" {
			item.ID = "q" + strings.TrimPrefix(place, "item ")
		}
		item.ExpectedAnswer = cmp.Or(item.ExpectedAnswer, item.GroundTruth)
		p.accept(item.Item, place)
	}
}

// inJSON names the value of JSON that a Go type is read from.
func inJSON(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "a list"
	case reflect.Struct:
		return `an object such as {"question": "…"}`
	default:
		return "a " + t.Kind().String()
	}
}

// accept checks and adds an item.
func (p *itemReader) accept(item Item, place string) {
	wrong := func(bad bool, format string, args ...any) {
		if bad {
			p.wrong(place, format, args...)
		}
	}
	blank := func(s string) bool { return strings.TrimSpace(s) == "" }
	wrong(blank(item.ID), `no id; give each item one of its own, such as "id": "q1"`)
	wrong(p.seen[item.ID] != "", "id %q is that of %s; each item needs one of its own", item.ID, p.seen[item.ID])
	p.seen[item.ID] = place
	wrong((item.Question == "") == (len(item.Turns) == 0), "item %q: either question or turns must be there, and not both", item.ID)
	wrong(item.Question != "" && blank(item.Question), "the question is empty")
	expectations := []Expected{item.Expected}
	for i := range item.Turns {
		t := &item.Turns[i]
		if t.Turn == 0 {
			t.Turn = i + 1
		}
		wrong(t.Turn != i+1, "item %q: turn %d stands in place %d; turns are numbered 1, 2, 3 … in the order they are asked", item.ID, t.Turn, i+1)
		wrong(blank(t.Question), "the question of turn %d is empty", i+1)
		expectations = append(expectations, t.Expected)
	}
	for _, e := range expectations {
		wrong(slices.ContainsFunc(e.ExpectedKeywords, blank), "%q holds an empty text", "expected_keywords")
		wrong(slices.ContainsFunc(e.Relevant, blank), "%q holds an empty text", "relevant")
	}
	p.items = append(p.items, item)
}
