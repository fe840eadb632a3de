package load

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"example.com/ragflow/ingest/document"
)

// Bounds of records.
const (
	maxData     = 32 << 20 // bytes of a JSON or CSV file
	maxRecords  = 600_000
	maxDepth    = 64  // of JSON
	longestName = 80  // runes of a value that names a record
	shortRecord = 300 // bytes of a record without a text that is written on one line, as a row of a table is
)

// field is a value of a record, with its path: address.city.
type field struct{ key, value string }

// recordKeys are the usual keys, in lower case, of the ids, titles and texts of records, in the
// order of trust.
func recordKeys() (ids, titles, texts []string) {
	return []string{"_id", "id", "doc_id", "docid", "document_id", "uuid", "key", "code", "slug"},
		[]string{"title", "name", "heading", "headline", "subject", "question", "label"},
		[]string{"text", "body", "content", "contents", "answer", "abstract", "passage", "description", "summary"}
}

// record writes a record as a part of its own, under its id and its title: first its text, then
// each other field on a line. The title of a record without a text is written among the fields,
// on one line where that is short.
func (w *builder) record(fields []field, line int) error {
	ids, titles, texts := recordKeys()
	take := func(keys []string, longest int) (field, bool) {
		for _, key := range keys {
			i := slices.IndexFunc(fields, func(f field) bool { return strings.EqualFold(f.key, key) })
			if i < 0 || fields[i].value == "" {
				continue
			}
			f := fields[i]
			if longest == 0 || len([]rune(f.value)) <= longest && !strings.Contains(f.value, "\n") {
				fields = slices.Delete(slices.Clone(fields), i, i+1)
				return f, true
			}
		}
		return field{}, false
	}
	id, _ := take(ids, longestName)
	title, _ := take(titles, 2*longestName)
	text, said := take(texts, 0)
	var rest []string
	for _, f := range fields {
		if f.value != "" {
			rest = append(rest, strings.TrimPrefix(f.key+": ", ": ")+f.value)
		}
	}
	if title.value == "" && !said && len(rest) == 0 {
		return nil
	}
	var path []string
	for _, s := range []string{id.value, title.value} {
		if s != "" {
			path = append(path, s)
		}
	}
	from := len(w.blocks)
	if !said && title.value != "" && len(rest) > 0 {
		rest = append([]string{strings.TrimPrefix(title.key+": ", ": ") + title.value}, rest...)
		if short := strings.Join(rest, "; "); len(short) <= shortRecord && !strings.Contains(short, "\n") {
			rest = []string{short}
		}
		title.value = ""
	}
	w.part(title.value, line)
	w.part(text.value, line)
	w.part(strings.Join(rest, "\n"), line)
	if len(w.blocks) > from {
		w.blocks[from].Apart, w.blocks[from].Path = true, path
	}
	return w.full()
}

func (w *builder) part(text string, line int) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	w.begin(document.Block{Kind: document.KindText})
	w.at(line)
	w.out.WriteString(text)
}

// readJSONLines makes a part of each line, which is a JSON value. Other lines are left out with
// a warning.
func (d *draft) readJSONLines() error {
	var w builder
	n, bad, first := 0, 0, 0
	for line := range strings.Lines(d.Text[d.Body:]) {
		n++
		if strings.TrimSpace(line) == "" {
			continue
		}
		fields, err := jsonFields([]byte(line))
		if err != nil {
			if bad++; bad == 1 {
				first = n
			}
			continue
		}
		if err := w.record(fields, n); err != nil {
			return err
		}
		if n > maxRecords {
			return fmt.Errorf("%w: more than %d records", ErrTooLarge, maxRecords)
		}
	}
	if bad > 0 && w.out.Len() == 0 {
		return fmt.Errorf("%w: no line of it is JSON", ErrBroken)
	}
	if bad > 0 {
		d.Warnings = append(d.Warnings, fmt.Sprintf("%s left out, the first is line %d: no JSON", plural(bad, "line"), first))
	}
	w.finish(d)
	return nil
}

// readJSON makes a part of each object of a list, and one of the values outside of lists.
func (d *draft) readJSON() error {
	r := jsonReader{text: d.Text[d.Body:], d: json.NewDecoder(strings.NewReader(d.Text[d.Body:])), line: 1}
	r.d.UseNumber()
	var w builder
	top, err := r.value("", 0)
	if err == nil {
		if _, tailErr := r.d.Token(); !errors.Is(tailErr, io.EOF) {
			err = errors.New("something follows the value")
		}
	}
	if err != nil {
		return r.trouble(err)
	}
	for _, rec := range top.records() {
		if err := w.record(rec.fields, rec.line); err != nil {
			return err
		}
	}
	w.finish(d)
	return nil
}

// trouble adds the line to an error.
func (r *jsonReader) trouble(err error) error {
	line := r.lineAt(r.d.InputOffset())
	switch {
	case errors.Is(err, ErrTooLarge):
		return fmt.Errorf("%w, line %d", err, line)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: JSON, line %d: it ends in the middle", ErrBroken, line)
	}
	return fmt.Errorf("%w: JSON, line %d: %w", ErrBroken, line, err)
}

// jsonValue is a value with its line.
type jsonValue struct {
	key    string
	scalar string
	kids   []jsonValue
	kind   byte // '{', '[' or 's' of a scalar
	line   int
}

type jsonRecord struct {
	fields []field
	line   int
}

// records splits a value: each object of a list is a record; an object with such lists is one
// record without them, followed by theirs.
func (v jsonValue) records() []jsonRecord {
	if v.kind == '[' && v.objects() {
		var out []jsonRecord
		for _, k := range v.kids {
			out = append(out, jsonRecord{k.fields(""), k.line})
		}
		return out
	}
	own := jsonRecord{line: v.line}
	var lists []jsonRecord
	for _, k := range v.kids {
		if v.kind == '{' && k.kind == '[' && len(k.kids) > 1 && k.objects() {
			lists = append(lists, k.records()...)
			continue
		}
		own.fields = append(own.fields, k.fields("")...)
	}
	if v.kind == 's' {
		own.fields = v.fields("")
	}
	return append([]jsonRecord{own}, lists...)
}

// objects reports whether all elements of a list are objects.
func (v jsonValue) objects() bool {
	return len(v.kids) > 0 && !slices.ContainsFunc(v.kids, func(k jsonValue) bool { return k.kind != '{' })
}

// fields are the scalars below a value, with their paths. A list of scalars is
// one of them.
func (v jsonValue) fields(prefix string) []field {
	name := v.key
	if prefix != "" && name != "" {
		name = prefix + "." + name
	} else if name == "" {
		name = prefix
	}
	switch {
	case v.kind == 's':
		return []field{{name, v.scalar}}
	case v.kind == '[' && !slices.ContainsFunc(v.kids, func(k jsonValue) bool { return k.kind != 's' }):
		var items []string
		for _, k := range v.kids {
			items = append(items, k.scalar)
		}
		return []field{{name, strings.Join(items, ", ")}}
	}
	var out []field
	for _, k := range v.kids {
		out = append(out, k.fields(name)...)
	}
	return out
}

// jsonFields are the scalars of a JSON value.
func jsonFields(data []byte) ([]field, error) {
	r := jsonReader{text: string(data), d: json.NewDecoder(bytes.NewReader(data)), line: 1}
	r.d.UseNumber()
	v, err := r.value("", 0)
	if err != nil {
		return nil, err
	}
	if _, err := r.d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the value")
	}
	return v.fields(""), nil
}

// jsonReader reads values in the order of the file and counts its lines.
type jsonReader struct {
	text string
	d    *json.Decoder
	at   int64 // offset that line was counted to
	line int
	n    int  // values
	raw  bool // strings as they are, with the white space around them
}

func (r *jsonReader) lineAt(offset int64) int {
	offset = min(offset, int64(len(r.text)))
	if offset > r.at {
		r.line += strings.Count(r.text[r.at:offset], "\n")
		r.at = offset
	}
	return r.line
}

func (r *jsonReader) value(key string, depth int) (jsonValue, error) {
	token, err := r.d.Token()
	if err != nil {
		return jsonValue{}, err
	}
	v := jsonValue{key: key, kind: 's', line: r.lineAt(r.d.InputOffset())}
	if r.n++; r.n > 20*maxRecords {
		return v, fmt.Errorf("%w: more than %d values", ErrTooLarge, 20*maxRecords)
	}
	if depth > maxDepth {
		return v, fmt.Errorf("%w: nested deeper than %d", ErrTooLarge, maxDepth)
	}
	switch t := token.(type) {
	case json.Delim:
		v.kind = byte(t) // '{' or '['
		for r.d.More() {
			name := ""
			if v.kind == '{' {
				k, err := r.d.Token()
				if err != nil {
					return v, err
				}
				name, _ = k.(string) // keys are strings
			}
			kid, err := r.value(name, depth+1)
			if err != nil {
				return v, err
			}
			v.kids = append(v.kids, kid)
		}
		_, err = r.d.Token() // the end
		return v, err
	case string:
		if v.scalar = t; !r.raw {
			v.scalar = strings.TrimSpace(t)
		}
	case json.Number:
		v.scalar = t.String()
	case bool:
		v.scalar = strconv.FormatBool(t)
	}
	return v, nil
}

// readTable makes a part of each row of a CSV or TSV file: "column: value",
// separated by semicolons, so that every part says what its values are.
func (d *draft) readTable() error {
	r := csv.NewReader(strings.NewReader(d.Text[d.Body:]))
	r.Comma = separator(d.Source, d.Text[d.Body:])
	r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord, r.TrimLeadingSpace = -1, true, true, true
	var w builder
	var head []string
	for n := 0; ; n++ {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrBroken, err)
		}
		if n > maxRecords {
			return fmt.Errorf("%w: more than %d rows", ErrTooLarge, maxRecords)
		}
		line, _ := r.FieldPos(0)
		if n == 0 && isHead(row) {
			head = slices.Clone(row)
			continue
		}
		var cells []string
		for i, cell := range row {
			cell = strings.Join(strings.Fields(cell), " ")
			if cell == "" {
				continue
			}
			if i < len(head) && strings.TrimSpace(head[i]) != "" {
				cell = strings.TrimSpace(head[i]) + ": " + cell
			}
			cells = append(cells, cell)
		}
		w.part(strings.Join(cells, "; "), line)
		if err := w.full(); err != nil {
			return err
		}
	}
	if w.out.Len() == 0 && len(head) > 0 {
		w.part(strings.Join(head, "; "), 1)
	}
	w.finish(d)
	return nil
}

// separator is the character between the cells of a table: a tab in .tsv files, else the most
// frequent candidate in the first lines.
func separator(source, s string) rune {
	if strings.HasSuffix(strings.ToLower(source), ".tsv") {
		return '\t'
	}
	sample := s[:min(len(s), 8<<10)]
	best, most := ',', 0
	for _, c := range []rune{',', ';', '\t', '|'} {
		if n := strings.Count(sample, string(c)); n > most {
			best, most = c, n
		}
	}
	return best
}

// isHead reports whether a first row names the columns: all cells differ, and none is a number.
func isHead(row []string) bool {
	seen := map[string]bool{}
	for _, cell := range row {
		cell = strings.TrimSpace(cell)
		if _, err := strconv.ParseFloat(cell, 64); err == nil || seen[cell] && cell != "" {
			return false
		}
		seen[cell] = true
	}
	return len(row) > 1 && len(cmp.Or(strings.TrimSpace(strings.Join(row, "")), "")) > 0
}
