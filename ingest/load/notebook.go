package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// longestOutput bounds, in bytes, what is kept of what a cell printed.
const longestOutput = 2000

// cellText is a text of a notebook, which is a string or a list of its lines.
type cellText string

// UnmarshalJSON implements json.Unmarshaler.
func (t *cellText) UnmarshalJSON(data []byte) error {
	var lines []string
	if err := json.Unmarshal(data, &lines); err != nil {
		return json.Unmarshal(data, (*string)(t))
	}
	*t = cellText(strings.Join(lines, ""))
	return nil
}

// notebook is the part of a Jupyter notebook that is read. Its cells are decoded one by one, so
// that many take no memory.
type notebook struct {
	Cells    json.RawMessage `json:"cells"`
	Metadata struct {
		Kernel struct {
			Language string `json:"language"`
		} `json:"kernelspec"`
	} `json:"metadata"`
}

// notebookCell is a cell.
type notebookCell struct {
	Type    string   `json:"cell_type"`
	Source  cellText `json:"source"`
	Outputs []struct {
		Text cellText `json:"text"`
		Data struct {
			Plain cellText `json:"text/plain"`
		} `json:"data"`
	} `json:"outputs"`
}

// maxCell bounds a cell with what it printed, in bytes.
const maxCell = 4 << 20

// readNotebook makes Markdown of a Jupyter notebook: texts as they are, code as fenced
// blocks, and the beginning of what the code printed.
func (d *draft) readNotebook() error {
	var n notebook
	if err := json.Unmarshal([]byte(d.Text[d.Body:]), &n); err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	w := d.builder()
	cells := json.NewDecoder(bytes.NewReader(n.Cells))
	_, err := cells.Token() // the bracket
	for err == nil && cells.More() {
		var raw json.RawMessage
		var c notebookCell
		if err = cells.Decode(&raw); len(raw) > maxCell {
			d.Warnings = append(d.Warnings, "a cell of more than "+inBytes(maxCell)+" was left out")
		} else if err == nil {
			err = json.Unmarshal(raw, &c)
		}
		w.cell(c, n.Metadata.Kernel.Language)
		if full := w.full(); full != nil {
			return full
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	if w.out.Len() == 0 {
		return fmt.Errorf("%w: it has no cells with text", ErrNoText)
	}
	w.finish(d)
	d.Title = titleOf(d.Blocks)
	return nil
}

// cell writes a cell of a notebook and the beginning of what it printed.
func (w *builder) cell(c notebookCell, language string) {
	if c.Type != "code" {
		w.paragraph(string(c.Source))
		return
	}
	code := func(text cellText, language string) {
		if t := strings.Trim(string(text), "\n"); t != "" {
			w.paragraph(fenced(t, language))
		}
	}
	code(c.Source, language)
	for _, o := range c.Outputs {
		printed := o.Text + o.Data.Plain
		if len(printed) > longestOutput {
			printed = printed[:1+strings.LastIndexByte(string(printed[:longestOutput]), '\n')]
		}
		code(printed, "text")
	}
}
