package load

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"strings"

	"example.com/ragflow/ingest/document"
)

// readEPUB makes the text of an electronic book: its chapters in reading order,
// each read as a page of HTML.
func (d *draft) readEPUB(data []byte) error {
	d.Encoding = "epub"
	a, err := openArchive(data)
	if err != nil {
		return err
	}
	container, err := a.tree("META-INF/container.xml")
	if err != nil {
		return err
	}
	name := container.child("container", "rootfiles", "rootfile").get("full-path")
	root, err := a.tree(name)
	if err != nil {
		return err
	}
	book := root.child("package")
	if e := a.optional("META-INF/encryption.xml"); e.child("encryption", "EncryptedData", "EncryptionMethod").get("Algorithm") != "" &&
		!strings.Contains(e.child("encryption", "EncryptedData", "EncryptionMethod").get("Algorithm"), "font") &&
		!strings.Contains(e.child("encryption", "EncryptedData", "EncryptionMethod").get("Algorithm"), "obfuscation") {
		return fmt.Errorf("%w: its publisher protects it", ErrEncrypted)
	}
	chapters := map[string]string{}
	book.child("manifest").each("item", func(e *element) {
		if strings.Contains(e.get("media-type"), "html") && !hasToken(e.get("properties"), "nav") {
			chapters[e.get("id")] = e.get("href")
		}
	})
	var w builder
	var faults []string
	book.child("spine").each("itemref", func(e *element) {
		href, ok := chapters[e.get("idref")]
		if !ok || err != nil {
			return
		}
		delete(chapters, e.get("idref")) // each once
		if plain, unescapeErr := url.PathUnescape(href); unescapeErr == nil {
			href = plain
		}
		if len(w.blocks) >= document.MaxBlocks {
			faults = append(faults, fmt.Sprintf("chapter %s left out: the book has more than %d paragraphs", href, document.MaxBlocks))
			return
		}
		page, readErr := a.read(path.Join(path.Dir(name), href))
		if readErr != nil {
			faults = append(faults, fmt.Sprintf("chapter %s left out: %v", href, readErr))
			return
		}
		w.chapter(page)
		err = w.full()
	})
	if err != nil {
		return err
	}
	if w.out.Len() == 0 {
		return fmt.Errorf("%w: no chapter of it can be read", ErrNoText)
	}
	w.finish(d)
	d.Warnings = append(d.Warnings, faults...)
	d.Meta, d.Title = officeMeta(book.child("metadata"))
	d.Title = cmp.Or(d.Title, titleOf(d.Blocks))
	return nil
}

// chapter appends a page of HTML.
func (w *builder) chapter(page []byte) {
	var d draft
	if d.readHTML(page) != nil || d.Text == "" {
		return
	}
	if w.out.Len() > 0 {
		w.out.WriteString("\n\n")
	}
	from := w.out.Len()
	for _, b := range d.Blocks {
		b.Start += from
		if b.Level > 0 {
			b.Heading = strings.TrimSpace(strings.TrimLeft(d.Text[b.Start-from:b.End], "# "))
		}
		parts := make([]document.Block, len(b.Parts))
		for i, p := range b.Parts {
			p.Start += from
			parts[i] = p
		}
		if b.Parts = nil; len(parts) > 0 {
			b.Parts = parts
		}
		w.blocks = append(w.blocks, b)
	}
	w.out.WriteString(strings.TrimRight(d.Text, "\n"))
}
