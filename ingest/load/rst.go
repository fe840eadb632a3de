package load

import (
	"fmt"

	"example.com/ragflow/internal/rst"
)

// readRST makes Markdown of reStructuredText. Its lines lead to those of the file.
func (d *Document) readRST() error {
	raw := d.Text[d.Body:]
	found := links{}
	found.rst(raw)
	page := rst.Read(raw)
	if len(page.Markdown) > maxMade {
		return fmt.Errorf("%w: more than %s of text in it", ErrTooLarge, inBytes(maxMade))
	}
	d.Links, d.Meta = found.list, page.Fields
	d.Text, d.Body, d.Converted = page.Markdown, 0, true
	d.places = make([]linePlace, len(page.Places))
	for i, p := range page.Places {
		d.places[i] = linePlace{p.Offset, p.Line}
	}
	return nil
}
