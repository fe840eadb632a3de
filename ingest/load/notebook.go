package load

import (
	"encoding/json"
	"fmt"
	"strings"

	"example.com/ragflow/ingest/document"
)

// longestOutput bounds, in bytes, what is kept of what a cell printed.
const longestOutput = 2000

// readNotebook makes Markdown of a Jupyter notebook: texts as they are, code as
// fenced blocks, and the beginning of what the code printed. Its lines lead to
// those of the file.
func (d *draft) readNotebook() error {
	r := jsonReader{text: d.Text[d.Body:], d: json.NewDecoder(strings.NewReader(d.Text[d.Body:])), line: 1}
	r.d.UseNumber()
	r.raw = true
	top, err := r.value("", 0)
	if err != nil {
		return r.trouble(err)
	}
	language := top.get("metadata", "kernelspec", "language").scalar
	if language == "" {
		language = top.get("metadata", "language_info", "name").scalar
	}
	cells := top.get("cells").kids
	for _, sheet := range top.get("worksheets").kids { // before version 4
		cells = append(cells, sheet.get("cells").kids...)
	}
	var w builder
	for _, c := range cells {
		switch source := c.lines("source", "input"); c.get("cell_type").scalar {
		case "markdown", "raw", "heading":
			w.lines(source, "")
		case "code":
			w.lines(source, language)
			for _, o := range c.get("outputs").kids {
				w.lines(printed(o), "text")
			}
		}
		if err := w.full(); err != nil {
			return err
		}
	}
	if w.out.Len() == 0 {
		return fmt.Errorf("%w: it has no cells with text", ErrNoText)
	}
	w.finish(d)
	d.Blocks = markdownBlocks(d.Text, 0)
	return nil
}

// get is the value along a path of keys; the zero value without one.
func (v jsonValue) get(keys ...string) jsonValue {
	for _, key := range keys {
		next := jsonValue{}
		for _, k := range v.kids {
			if k.key == key {
				next = k
				break
			}
		}
		v = next
	}
	return v
}

// lines are the lines of a text under one of some keys, which may be a string or
// a list of them. Each is a value with the line of the file it comes from.
func (v jsonValue) lines(keys ...string) []jsonValue {
	for _, key := range keys {
		switch k := v.get(key); k.kind {
		case 's':
			var out []jsonValue
			for l := range strings.Lines(k.scalar) {
				out = append(out, jsonValue{scalar: l, line: k.line})
			}
			return out
		case '[':
			return k.kids
		}
	}
	return nil
}

// printed is the text of an output, its beginning where it is long.
func printed(o jsonValue) []jsonValue {
	lines := o.lines("text")
	if lines == nil {
		lines = o.get("data").lines("text/plain")
	}
	size := 0
	for i, l := range lines {
		if size += len(l.scalar); size > longestOutput {
			return lines[:i]
		}
	}
	return lines
}

// lines writes lines, as a fenced block where fence names what they are.
func (w *builder) lines(lines []jsonValue, fence string) {
	for len(lines) > 0 && strings.TrimSpace(lines[0].scalar) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1].scalar) == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 {
		return
	}
	w.begin(document.Block{})
	w.at(lines[0].line)
	mark := "```"
	if fence != "" {
		for _, l := range lines {
			for strings.Contains(l.scalar, mark) {
				mark += "`"
			}
		}
		w.out.WriteString(mark + fence + "\n")
	}
	for i, l := range lines {
		if i > 0 {
			w.out.WriteByte('\n')
		}
		w.at(l.line)
		w.out.WriteString(strings.TrimRight(l.scalar, " \t\r\n"))
	}
	if fence != "" {
		w.out.WriteString("\n" + mark)
	}
}
