// Package source shows the documents that answers cite: a passage in its document, a page of a PDF with the
// passage marked, a row in its table, a mail with its head. It returns plain values for templates. No value holds
// HTML, an image or an address of a document that a browser would follow by itself; text of documents is safe to
// show, but it is not escaped.
//
//	reader := source.New(door.Documents{Assistant: a})
//	view, err := reader.View(ctx, id, source.Passage{Start: c.Start, End: c.End, Quote: c.Quote})
//
// Ids are those of [door.Documents], and so is the rule of who may read what: a document that the caller may not
// read is unknown to it. The context must be that of a request that passed the gate.
//
// # How it works
//
// A document is read again as it was indexed (text.go). The passage is found in its text, and lines around it are
// cut into marked and unmarked segments (lines.go). Further views are made of the same lines: blocks of Markdown
// (markdown.go), rows of a table (table.go), the head and body of a mail (mail.go). Pages of PDFs are drawn by
// package pdf and kept for a while (picture.go).
package source
