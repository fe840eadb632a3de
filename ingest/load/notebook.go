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
	w := notebookWriter{builder: d.builder(), lines: document.LineCounter{Text: s}}
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
	lines document.LineCounter
}

// cell writes the first lines of a text, which is a string or a list of its lines: as a
// fenced block where fence names what they are.
func (w *notebookWriter) cell(source gjson.Result, fence string, most int) {
	var b strings.Builder
	source.ForEach(func(_, part gjson.Result) bool { // a string is a list of itself
		for l := range strings.Lines(part.String()) {
			if b.Len()+len(l) > most {
				return false
			}
			b.WriteString(strings.TrimRight(l, " \t\r\n") + "\n")
		}
		return true
	})
	text := strings.Trim(b.String(), "\n")
	if text == "" {
		return
	}
	w.begin(document.Block{})
	w.at(w.lines.At(source.Index))
	mark := "```"
	for fence != "" && strings.Contains(text, mark) {
		mark += "`"
	}
	if fence != "" {
		text = mark + fence + "\n" + text + "\n" + mark
	}
	w.out.WriteString(text)
}
