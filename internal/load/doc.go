// Package load reads documents.
//
//	for file, err := range folder.Files(ctx, "docs") {
//		if err != nil {
//			continue // err says which file is left out, and why
//		}
//		doc, err := load.Load(ctx, file, load.Limits{})
//		…
//	}
//
// A file that cannot be read is a [*folder.FileError]; the others are still read. Match with errors.Is whether it is
// too large, binary or of an unknown kind.
//
// # How it works
//
// Package folder finds the files. [Load] reads one file and finds its encoding, its metadata and its blocks
// (package markup). PDFs are read by package pdf (pdf.go).
//
// Menus, navigation and hidden text of an HTML page are left out (htmlskip.go); the rest is written as
// Markdown (htmlpage.go).
//
// A mail is a letter, whether it comes from a .eml (eml.go), .mbox (mbox.go) or .msg file (msg.go). Quotes in
// it are marked (package quote, htmlmail.go), and attached files are read by the readers of their own kinds (mail.go).
//
// Office documents and EPUBs are archives of XML (archive.go, office.go), unpacked as streams within a budget
// that grows with the file (budget.go). The numbers of clauses and headings, which a file does not contain, are
// counted as a word processor does (listnumber.go). A builder turns formats without text into blocks: records, rows or
// paragraphs.
//
// The rows of a sheet go through a grid (grid.go), which finds the tables by the first rows of each, and the
// names, labels and sections of their rows (gridtable.go). Every row then names its values (table.go).
package load
