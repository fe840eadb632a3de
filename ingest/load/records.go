package load

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"example.com/ragflow/ingest/document"
)

// Bounds of records.
const (
	maxData     = 32 << 20 // bytes of a JSON or CSV file
	maxDepth    = 64       // of JSON
	longestName = 80       // runes of a value that names a record
	shortRecord = 300      // bytes of a record without a text that is written on one line, as a row of a table is
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
	w := d.builder()
	n, bad, first := 0, 0, 0
	for line := range strings.Lines(d.Text[d.Body:]) {
		n++
		if strings.TrimSpace(line) == "" {
			continue
		}
		if checkJSON(line) != nil {
			if bad++; bad == 1 {
				first = n
			}
			continue
		}
		if err := w.record(jsonFields(gjson.Parse(line), ""), n); err != nil {
			return err
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
	s := d.Text[d.Body:]
	if err := checkJSON(s); err != nil {
		return err
	}
	w := d.builder()
	lines := document.LineCounter{Text: s}
	var err error
	record := func(fields []field, at int) {
		if err == nil {
			err = w.record(fields, lines.At(at))
		}
	}
	top := gjson.Parse(s)
	if allObjects(top, 1) {
		top.ForEach(func(_, v gjson.Result) bool {
			record(jsonFields(v, ""), v.Index)
			return err == nil
		})
	} else {
		var own []field
		var lists []gjson.Result
		top.ForEach(func(key, v gjson.Result) bool {
			if top.IsObject() && allObjects(v, 2) {
				lists = append(lists, v)
			} else {
				own = append(own, jsonFields(v, key.Str)...)
			}
			return true
		})
		record(own, top.Index)
		for _, list := range lists {
			list.ForEach(func(_, v gjson.Result) bool {
				record(jsonFields(v, ""), v.Index)
				return err == nil
			})
		}
	}
	w.finish(d)
	return err
}

// checkJSON reports what is wrong with a JSON value, with the line.
func checkJSON(s string) error {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	most := 200_000 + len(s)/5
	for depth, n := 0, 0; ; n++ {
		token, err := d.Token()
		kind, why := ErrBroken, ""
		switch t, _ := token.(json.Delim); {
		case errors.Is(err, io.EOF) && depth == 0 && n > 0:
			return nil
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			why = "it ends in the middle"
		case err != nil:
			why = err.Error()
		case depth == 0 && n > 0:
			why = "something follows the value"
		case depth > maxDepth:
			kind, why = ErrTooLarge, fmt.Sprintf("nested deeper than %d", maxDepth)
		case n > most:
			kind, why = ErrTooLarge, fmt.Sprintf("more than %d values", most)
		case t == '{' || t == '[':
			depth++
		case t == '}' || t == ']':
			depth--
		}
		if why != "" {
			lines := document.LineCounter{Text: s}
			return fmt.Errorf("%w: JSON, line %d: %s", kind, lines.At(int(d.InputOffset())), why)
		}
	}
}

// allObjects reports whether v is a list of that many objects or more, and of nothing else.
func allObjects(v gjson.Result, least int) bool {
	n, all := 0, v.IsArray()
	if all {
		v.ForEach(func(_, kid gjson.Result) bool {
			n, all = n+1, kid.IsObject()
			return all
		})
	}
	return all && n >= least
}

// jsonFields are the scalars below a value, with their paths. A list of scalars is one of
// them.
func jsonFields(v gjson.Result, name string) []field {
	if v.Type != gjson.JSON {
		return []field{{name, strings.TrimSpace(v.String())}}
	}
	var out []field
	var items []string
	scalars := v.IsArray()
	v.ForEach(func(key, kid gjson.Result) bool {
		scalars = scalars && kid.Type != gjson.JSON
		path := name
		if v.IsObject() {
			path = strings.TrimPrefix(name+"."+key.String(), ".")
		}
		items = append(items, strings.TrimSpace(kid.String()))
		out = append(out, jsonFields(kid, path)...)
		return true
	})
	if scalars {
		return []field{{name, strings.Join(items, ", ")}}
	}
	return out
}

// readTable makes a part of each row of a CSV or TSV file.
func (d *draft) readTable() error {
	s := d.Text[d.Body:]
	r := csv.NewReader(strings.NewReader(s))
	r.Comma = separator(d.Source, s)
	for line := range strings.Lines(s) {
		if strings.Count(line, string(r.Comma)) > maxCells {
			return fmt.Errorf("%w: a row of more than %d cells", ErrTooLarge, maxCells)
		}
	}
	r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord, r.TrimLeadingSpace = -1, true, true, true
	w := d.builder()
	table := tableWriter{builder: &w}
	for n := 0; ; n++ {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrBroken, err)
		}
		if n == 0 && isHead(row) {
			table.head = slices.Clone(row)
			continue
		}
		line, _ := r.FieldPos(0)
		if err := table.row(row, line); err != nil {
			return err
		}
	}
	table.end()
	w.finish(d)
	return nil
}

// tableWriter writes rows of data: "column: value", separated by semicolons, so that every
// part says what its values are.
type tableWriter struct {
	*builder
	head []string // names of the columns; nil without
	rows int      // below head
}

func (t *tableWriter) row(row []string, line int) error {
	var cells []string
	for i, cell := range row {
		cell = strings.Join(strings.Fields(strings.ToValidUTF8(cell, "?")), " ")
		if cell == "" {
			continue
		}
		if i < len(t.head) && strings.TrimSpace(t.head[i]) != "" {
			cell = strings.TrimSpace(t.head[i]) + ": " + cell
		}
		cells = append(cells, cell)
	}
	t.rows++
	t.part(strings.Join(cells, "; "), line)
	return t.full()
}

// end writes the names of the columns where nothing came below them.
func (t *tableWriter) end() {
	if t.rows == 0 {
		t.part(strings.Join(t.head, "; "), 1)
	}
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
