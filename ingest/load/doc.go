// Package load reads documents and cuts them into chunks.
//
//	for file, err := range load.Files(ctx, "docs") {
//		if err != nil {
//			continue // err says which file is left out, and why; the walk goes on
//		}
//		doc, err := load.Load(ctx, file, load.Limits{})
//		…
//		chunks := load.Chunk(doc, load.ChunkOptions{})
//	}
//
// # Rules
//
//   - A chunk is an exact slice: chunk.Text == doc.Text[chunk.Start:chunk.End].
//     The chunks of a document are in order, each ends behind the one before, and
//     they hold all of its text but front matter and blank space. Only those of
//     the recursive and semantic chunkers overlap. A page that holds nothing but
//     shortcodes and comments may have no chunks.
//   - doc.Text is valid UTF-8 and, for every file that is, the file itself byte
//     for byte, so that offsets lead into the file. [Document.Converted] says
//     where they do not.
//   - A file that cannot be read is a [*FileError] and stops nothing. Whether it
//     is too large, binary or of an unknown kind is asked with errors.Is.
//   - Ids depend on the path under the root, the span and the text, not on where
//     the root lies: two machines agree, and an edit changes the ids of the
//     chunks it touches and of those it moves.
//   - The same bytes and options give the same chunks, always.
//
// # How it works
//
// [Files] walks a folder in lexical order. [Load] reads one file, finds its
// encoding and its front matter. [Chunk] cuts it by one of the [Chunkers]; the
// adaptive one chooses by document. Most ask goldmark for the blocks of a
// Markdown page, build sections of them by heading and pack each section
// into chunks of at most ChunkOptions.Size tokens. A block that fits stays
// whole; one that does not is split where its own structure allows: a list
// between items, code and tables between lines, prose between sentences, and
// what has no structure at all between words or runes. A paragraph that ends
// in a colon stays with what it announces. Headings without text, shortcodes
// and comments never stand alone. Plain text is
// paragraphs and the titles between them, then the same.
//
// A PDF is read by PDFium in a sandbox (pdfengine.go); its lines become
// paragraphs, headings and tables by where they stand and how they look
// (pdflayout.go).
//
// Word, OpenDocument and EPUB are archives of XML (archive.go), unpacked and
// parsed within limits. Formats that are not text for people are made into some
// by a builder: a record, a row or a paragraph is a block.
//
// The code chunker finds declarations: those of Go with the parser of Go, those
// of Python by indentation, those of languages with braces by their statements.
// A scanner that tells code from strings and comments serves all but Go.
//
// Goldmark's block parser only finds where blocks begin; nothing is rendered,
// and HTML in a page is text like any other.
package load
