package load

import (
	"fmt"

	"example.com/ragflow/internal/adoc"
)

// readASCIIDoc makes Markdown of AsciiDoc. Its lines lead to those of the file.
func (d *Document) readASCIIDoc() error {
	page := adoc.Read(d.Text[d.Body:])
	if len(page.Markdown) > maxMade {
		return fmt.Errorf("%w: more than %s of text in it", ErrTooLarge, inBytes(maxMade))
	}
	d.Meta = page.Fields
	d.Text, d.Body, d.Converted = page.Markdown, 0, true
	d.places = make([]linePlace, len(page.Places))
	for i, p := range page.Places {
		d.places[i] = linePlace{p.Offset, p.Line}
	}
	return nil
}
