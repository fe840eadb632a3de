package eval

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// parser reads one dataset and collects what is wrong with it.
type parser struct {
	data   []byte
	items  []Item
	faults []Fault
	seen   map[string]int // id → line
}

// fault notes what is wrong at an offset; an item's later faults may be many,
// so their number is bounded.
func (p *parser) fault(offset int, format string, args ...any) {
	if len(p.faults) >= maxFaults {
		return
	}
	line, column := p.place(offset)
	p.faults = append(p.faults, Fault{line, column, fmt.Sprintf(format, args...)})
}

// place turns an offset into a line and a column.
func (p *parser) place(offset int) (line, column int) {
	before := p.data[:min(max(0, offset), len(p.data))]
	line = 1 + bytes.Count(before, []byte("\n"))
	begin := bytes.LastIndexByte(before, '\n') + 1
	return line, 1 + utf8.RuneCount(before[begin:])
}

// encoding takes the byte order mark away and refuses what is not UTF-8.
func (p *parser) encoding() {
	if bytes.HasPrefix(p.data, []byte{0xff, 0xfe}) || bytes.HasPrefix(p.data, []byte{0xfe, 0xff}) {
		p.fault(0, "the file is UTF-16; save it as UTF-8")
		return
	}
	p.data = bytes.TrimPrefix(p.data, []byte("\ufeff"))
	for at := 0; at < len(p.data); {
		r, n := utf8.DecodeRune(p.data[at:])
		if r == utf8.RuneError && n == 1 {
			p.fault(at, "not valid UTF-8; save the file as UTF-8")
			return // one byte in another encoding is followed by more
		}
		at += n
	}
}

// start is the first character that is neither blank nor of a comment; 0 where
// there is none.
func (p *parser) start() byte {
	for line := range bytes.Lines(p.data) {
		if line = bytes.TrimSpace(line); len(line) > 0 && !comment(line) {
			return line[0]
		}
	}
	return 0
}

func comment(line []byte) bool {
	return bytes.HasPrefix(line, []byte("#")) || bytes.HasPrefix(line, []byte("//"))
}

// lines reads JSON lines.
func (p *parser) lines() {
	at := 0
	for line := range bytes.Lines(p.data) {
		trimmed := bytes.TrimSpace(line)
		if len(trimmed) > 0 && !comment(trimmed) {
			p.object(trimmed, at+bytes.Index(line, trimmed[:1]))
		}
		at += len(line)
	}
}

// array reads one JSON array of items. What stands behind a broken place of it
// cannot be told apart, so that the first syntax error ends it.
func (p *parser) array() {
	begin := bytes.IndexByte(p.data, '[')
	dec := json.NewDecoder(bytes.NewReader(p.data[begin:]))
	_, err := dec.Token()
	for err == nil && dec.More() {
		var raw json.RawMessage
		if err = dec.Decode(&raw); err == nil {
			p.object(raw, begin+int(dec.InputOffset())-len(raw))
		}
	}
	if err == nil {
		_, err = dec.Token()
	}
	if err != nil {
		at := begin + int(dec.InputOffset())
		var whole []json.RawMessage // the decoder counts from the value under way
		if syntax, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(p.data[begin:], &whole)); ok {
			at = begin + int(syntax.Offset) - 1
		}
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			at = len(p.data)
		}
		p.fault(at, "broken JSON array: %s", plainJSON(err))
		return
	}
	if rest := bytes.TrimSpace(p.data[begin+int(dec.InputOffset()):]); len(rest) > 0 {
		p.fault(begin+int(dec.InputOffset()), "something follows the end of the array; give one array, or JSON lines without one")
	}
}

// object reads one item from its JSON text, which begins at an offset.
func (p *parser) object(raw []byte, offset int) {
	var item Item
	if err := json.Unmarshal(raw, &item); err != nil {
		p.jsonFault(err, raw, offset)
		return
	}
	bad := len(p.faults)
	p.fieldNames(raw, offset)
	p.accept(item, offset, len(p.faults) > bad)
}

// jsonFault says what is wrong with an item that cannot be read.
func (p *parser) jsonFault(err error, raw []byte, offset int) {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at := offset + int(syntax.Offset) - 1
		if int(syntax.Offset) >= len(raw) && strings.Contains(err.Error(), "unexpected end") {
			p.fault(offset+len(raw), "the JSON object is not closed; each line holds one whole object, or the file one array of them")
			return
		}
		p.fault(at, "broken JSON: %s; each line holds one object such as {\"id\": \"q1\", \"question\": \"…\"}", plainJSON(err))
		return
	}
	if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if typed.Field == "" {
			p.fault(offset, "a JSON %s, but an object such as {\"id\": \"q1\", \"question\": \"…\"} is expected", typed.Value)
			return
		}
		field := typed.Field[strings.LastIndexByte(typed.Field, '.')+1:]                     // the path names Go's embedded structs, too
		at := bytes.LastIndex(raw[:min(int(typed.Offset), len(raw))], []byte(`"`+field+`"`)) // the offset is that of the value's end
		p.fault(offset+max(0, at), "%q is a %s, but %s is expected", field, typed.Value, wanted(typed.Type))
		return
	}
	p.fault(offset, "%s", plainJSON(err))
}

func plainJSON(err error) string { return strings.TrimPrefix(err.Error(), "json: ") }

// wanted names a type for people.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Int:
		return "a whole number"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.String {
			return "a list of texts"
		}
		return "a list of objects"
	default:
		return "an object"
	}
}

// knownFields are the fields of an item and of a turn.
func knownFields() []string {
	return []string{"id", "lang", "kind", "title", "question", "expected_keywords", "expected_answer", "relevant", "turns", "turn", "standalone"}
}

// fieldNames finds names that are almost those of fields: what was meant for
// one would be left out in silence. Other fields are the dataset's own.
func (p *parser) fieldNames(raw []byte, offset int) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return
	}
	var names []string
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if near := almost(name); near != "" {
			p.fault(offset+max(0, bytes.Index(raw, []byte(`"`+name+`"`))), "there is no field %q; did you mean %q?", name, near)
		}
	}
	for _, turn := range turnsOf(fields["turns"]) {
		p.fieldNames(turn, offset+max(0, bytes.Index(raw, turn)))
	}
}

func turnsOf(raw json.RawMessage) []json.RawMessage {
	var turns []json.RawMessage
	_ = json.Unmarshal(raw, &turns) // no turns, no names
	return turns
}

// almost returns the field that a name differs from by case, signs or a final
// s only; empty where it is that field, or like none.
func almost(name string) string {
	known := knownFields()
	if slices.ContainsFunc(known, func(field string) bool { return strings.EqualFold(name, field) }) {
		return "" // encoding/json takes any case
	}
	if i := slices.IndexFunc(known, func(field string) bool { return bareName(field) == bareName(name) }); i >= 0 {
		return known[i]
	}
	return ""
}

func bareName(s string) string {
	return strings.TrimSuffix(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s), "s")
}

// csvHeader reports whether the first line names the columns of a table.
func (p *parser) csvHeader() bool {
	for line := range bytes.Lines(p.data) {
		if line = bytes.TrimSpace(line); len(line) > 0 && !comment(line) {
			fields := strings.FieldsFunc(strings.ToLower(string(line)), func(r rune) bool { return strings.ContainsRune(",;\t\" ", r) })
			return slices.Contains(fields, "question") || slices.Contains(fields, "id")
		}
	}
	return false
}

// csv reads a table with a header. A row is a question; keywords and pages are
// lists separated by ";", or by "|" where the columns are separated by ";".
func (p *parser) csv() {
	r := csv.NewReader(bytes.NewReader(p.data))
	r.Comment, r.FieldsPerRecord, r.Comma = '#', -1, p.delimiter()
	inCell := ";"
	if r.Comma == ';' {
		inCell = "|"
	}
	var header []string
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			line, column := 0, 0
			if broken, ok := errors.AsType[*csv.ParseError](err); ok {
				line, column, err = broken.Line, broken.Column, broken.Err
			}
			p.faults = append(p.faults, Fault{line, column, "broken CSV: " + err.Error() + "; a cell with quotes in it is written \"like \"\"this\"\"\""})
			return
		}
		if header == nil {
			if header = p.header(record); header == nil {
				return
			}
			continue
		}
		line, _ := r.FieldPos(0)
		if len(record) != len(header) {
			p.faults = append(p.faults, Fault{line, 0, fmt.Sprintf("%d cells, but the header names %d columns; put a cell that holds %q in quotes", len(record), len(header), string(r.Comma))})
			continue
		}
		p.accept(rowItem(header, record, inCell), p.lineStart(line), false)
	}
}

// delimiter is what separates the columns of the header.
func (p *parser) delimiter() rune {
	for line := range bytes.Lines(p.data) {
		if line = bytes.TrimSpace(line); len(line) > 0 && !comment(line) {
			best := ','
			for _, d := range []rune{';', '\t'} {
				if bytes.Count(line, []byte(string(d))) > bytes.Count(line, []byte(string(best))) {
					best = d
				}
			}
			return best
		}
	}
	return ','
}

// header checks the names of columns.
func (p *parser) header(record []string) []string {
	var names []string
	bad := len(p.faults)
	for _, cell := range record {
		name := strings.ToLower(strings.TrimSpace(cell))
		if near := almost(name); near != "" {
			p.faults = append(p.faults, Fault{1, 0, fmt.Sprintf("there is no column %q; did you mean %q?", name, near)})
		}
		names = append(names, name)
	}
	for _, needed := range []string{"id", "question"} {
		if !slices.Contains(names, needed) {
			p.faults = append(p.faults, Fault{1, 0, fmt.Sprintf("the header has no column %q; expected are id, question and, as you like, lang, kind, expected_keywords, expected_answer, relevant", needed)})
		}
	}
	if len(p.faults) > bad {
		return nil
	}
	return names
}

func rowItem(header, record []string, inCell string) Item {
	var item Item
	list := func(cell string) []string {
		var out []string
		for part := range strings.SplitSeq(cell, inCell) {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
		return out
	}
	for i, name := range header {
		cell := strings.TrimSpace(record[i])
		switch name {
		case "id":
			item.ID = cell
		case "lang":
			item.Lang = cell
		case "kind":
			item.Kind = cell
		case "title":
			item.Title = cell
		case "question":
			item.Question = cell
		case "expected_answer":
			item.ExpectedAnswer = cell
		case "expected_keywords":
			item.ExpectedKeywords = list(cell)
		case "relevant":
			item.Relevant = list(cell)
		}
	}
	return item
}

// lineStart is the offset at which a line begins.
func (p *parser) lineStart(line int) int {
	at := 0
	for range line - 1 {
		i := bytes.IndexByte(p.data[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	return at
}
