// Package load reads documents.
//
//	for file, err := range load.Files(ctx, "docs") {
//		if err != nil {
//			continue // err says which file is left out, and why; the walk goes on
//		}
//		doc, err := load.Load(ctx, file, load.Limits{})
//		…
//	}
//
// A file that cannot be read is a [*FileError] and stops nothing. Whether it is
// too large, binary or of an unknown kind is asked with errors.Is.
//
// # How it works
//
// [Files] walks a folder in lexical order. [Load] reads one file, finds its
// encoding, its metadata and its blocks. Goldmark finds where the blocks of a
// Markdown page begin; nothing is rendered, and HTML in it is text like any other.
//
// Of the tree of an HTML page, menus, navigation and hidden text are left out (htmlskip.go);
// the rest is written as Markdown would be (htmlpage.go).
//
// A PDF is read by PDFium in a sandbox (pdf.go); its lines become paragraphs,
// headings and rows by where they are and how they look (pdflayout.go).
//
// Documents of office programs and EPUBs are archives of XML (archive.go, office.go), unpacked as
// streams within a budget that grows with the file (budget.go). What is no text is made into some
// by a builder: a record, a row or a paragraph is a block.
package load
