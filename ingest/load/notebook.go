package load

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"example.com/ragflow/ingest/document"
)

// longestOutput bounds, in bytes, what is kept of what a cell printed.
const longestOutput = 2000

// readNotebook makes Markdown of a Jupyter notebook: texts as they are, code as
// fenced blocks, and the beginning of what the code printed. Its lines lead to
// those of the file.
func (d *draft) readNotebook() error {
	s := d.Text[d.Body:]
	if err := checkJSON(s); err != nil {
		return err
	}
	top := gjson.Parse(s)
	language := top.Get("metadata.kernelspec.language").String()
	if language == "" {
		language = top.Get("metadata.language_info.name").String()
	}
	w := notebookWriter{builder: d.builder(), lines: lineCounter{s: s}}
	var err error
	top.Get("cells").ForEach(func(_, c gjson.Result) bool {
		switch c.Get("cell_type").String() {
		case "markdown", "raw", "heading":
			w.cell(c.Get("source"), "", len(s))
		case "code":
			w.cell(c.Get("source"), language, len(s))
			c.Get("outputs").ForEach(func(_, o gjson.Result) bool {
				printed := o.Get("text")
				if !printed.Exists() {
					printed = o.Get("data.text/plain")
				}
				w.cell(printed, "text", longestOutput)
				return true
			})
		}
		err = w.full()
		return err == nil
	})
	if err != nil {
		return err
	}
	if w.out.Len() == 0 {
		return fmt.Errorf("%w: it has no cells with text", ErrNoText)
	}
	w.finish(d)
	d.Blocks = markdownBlocks(d.Text, 0)
	return nil
}

// notebookWriter writes the cells of a notebook.
type notebookWriter struct {
	builder
	lines lineCounter
}

// cell writes the first lines of a text, which is a string or a list of its lines: as a
// fenced block where fence names what they are.
func (w *notebookWriter) cell(source gjson.Result, fence string, most int) {
	var text []string
	var at []int
	size := 0
	for _, part := range source.Array() { // a string is a list of itself
		line := w.lines.of(part.Index)
		for l := range strings.Lines(part.String()) {
			if size += len(l); size > most {
				break
			}
			text, at = append(text, strings.TrimRight(l, " \t\r\n")), append(at, line)
		}
	}
	for len(text) > 0 && text[0] == "" {
		text, at = text[1:], at[1:]
	}
	for len(text) > 0 && text[len(text)-1] == "" {
		text = text[:len(text)-1]
	}
	if len(text) == 0 {
		return
	}
	w.begin(document.Block{})
	w.at(at[0])
	mark := "```"
	for fence != "" && strings.Contains(strings.Join(text, "\n"), mark) {
		mark += "`"
	}
	if fence != "" {
		w.out.WriteString(mark + fence + "\n")
	}
	for i, l := range text {
		if i > 0 {
			w.out.WriteByte('\n')
		}
		w.at(at[i])
		w.out.WriteString(l)
	}
	if fence != "" {
		w.out.WriteString("\n" + mark)
	}
}
