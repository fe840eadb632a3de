package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"example.com/ragflow/internal/document"
)

const maxOutput = 2000 // bytes of the output of a cell that are kept

// cellText is a text of a notebook: a string or a list of lines.
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

type notebookCell struct {
	Type    string          `json:"cell_type"`
	Source  cellText        `json:"source"`
	Outputs json.RawMessage `json:"outputs"` // decoded one by one, too
}

const maxCell = 4 << 20 // bytes of a cell with its outputs

// readNotebook converts a Jupyter notebook into Markdown: texts unchanged, code as fenced blocks, and the
// beginning of the outputs.
func (d *draft) readNotebook() error {
	var n struct {
		Cells    json.RawMessage `json:"cells"` // decoded one by one, to save memory
		Metadata struct {
			Kernel struct {
				Language string `json:"language"`
			} `json:"kernelspec"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal([]byte(d.Text[d.Body:]), &n); err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	w := d.builder()
	if err := elements(n.Cells, func(raw json.RawMessage) error {
		var c notebookCell
		if len(raw) > maxCell {
			d.Warnings = append(d.Warnings, "a cell of more than "+inBytes(maxCell)+" was left out")
		} else if err := json.Unmarshal(raw, &c); err != nil {
			return fmt.Errorf("%w: %w", ErrBroken, err)
		}
		if err := w.cell(c, n.Metadata.Kernel.Language); err != nil {
			return err
		}
		return w.full()
	}); err != nil {
		return err
	}
	if w.out.Len() == 0 {
		return fmt.Errorf("%w: it has no cells with text", ErrNoText)
	}
	w.finish(d)
	d.Title = titleOf(d.Blocks)
	return nil
}

// elements decodes the elements of a JSON list one by one; empty data has none.
func elements(list json.RawMessage, take func(json.RawMessage) error) error {
	if len(list) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(list))
	_, err := d.Token() // the bracket
	for err == nil && d.More() {
		var raw json.RawMessage
		if err = d.Decode(&raw); err == nil {
			if err := take(raw); err != nil {
				return err
			}
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return nil
}

// cell writes a cell and the beginning of its outputs.
func (w *builder) cell(c notebookCell, language string) error {
	if c.Type != "code" {
		w.paragraph(string(c.Source))
		return nil
	}
	code := func(text cellText, language string) {
		if t := strings.Trim(string(text), "\n"); t != "" {
			w.paragraph(document.Fenced(t, language))
		}
	}
	code(c.Source, language)
	return elements(c.Outputs, func(raw json.RawMessage) error {
		var o struct {
			Text cellText `json:"text"`
			Data struct {
				Plain cellText `json:"text/plain"`
			} `json:"data"`
		}
		if err := json.Unmarshal(raw, &o); err != nil {
			return fmt.Errorf("%w: %w", ErrBroken, err)
		}
		printed := o.Text + o.Data.Plain
		if len(printed) > maxOutput {
			printed = printed[:1+strings.LastIndexByte(string(printed[:maxOutput]), '\n')]
		}
		code(printed, "text")
		return nil
	})
}
