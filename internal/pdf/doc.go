// Package pdf reads the text of PDFs.
//
//	file, err := pdf.Read(ctx, data, nil)
//
// Its paragraphs, headings, programs and tables are Markdown, and each row of a table names its values.
//
// # How it works
//
// PDFium reads the file in a sandbox (read.go). A page gives lines of words, with their places and their look
// (page.go). Pages that are pictures are recognised, if there is a reader for them (ocr.go).
//
// Tables are found in the words of a page (flows.go): first between ruling lines (rulings.go, grid.go), then
// between gutters (gutters.go). Both make rows of cells (table.go).
//
// The lines of all pages become paragraphs and headings by their position and look (layout.go), and the tables
// become rows that name their values (rows.go).
//
// For people, pages are drawn (draw.go), and the lines of a passage are found on them (find.go).
package pdf
