package load

import (
	"encoding/json"
	"fmt"
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

// notebook is the part of a Jupyter notebook that is read.
type notebook struct {
	Cells []struct {
		Type    string   `json:"cell_type"`
		Source  cellText `json:"source"`
		Outputs []struct {
			Text cellText `json:"text"`
			Data struct {
				Plain cellText `json:"text/plain"`
			} `json:"data"`
		} `json:"outputs"`
	} `json:"cells"`
	Metadata struct {
		Kernel struct {
			Language string `json:"language"`
		} `json:"kernelspec"`
	} `json:"metadata"`
}

// readNotebook makes Markdown of a Jupyter notebook: texts as they are, code as fenced
// blocks, and the beginning of what the code printed.
func (d *draft) readNotebook() error {
	var n notebook
	if err := json.Unmarshal([]byte(d.Text[d.Body:]), &n); err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	w := d.builder()
	code := func(text cellText, language string) {
		if t := strings.Trim(string(text), "\n"); t != "" {
			w.paragraph(fenced(t, language))
		}
	}
	for _, c := range n.Cells {
		if c.Type != "code" {
			w.paragraph(string(c.Source))
			continue
		}
		code(c.Source, n.Metadata.Kernel.Language)
		for _, o := range c.Outputs {
			printed := o.Text + o.Data.Plain
			if len(printed) > longestOutput {
				printed = printed[:1+strings.LastIndexByte(string(printed[:longestOutput]), '\n')]
			}
			code(printed, "text")
		}
		if err := w.full(); err != nil {
			return err
		}
	}
	if w.out.Len() == 0 {
		return fmt.Errorf("%w: it has no cells with text", ErrNoText)
	}
	w.finish(d)
	d.Title = titleOf(d.Blocks)
	return nil
}
