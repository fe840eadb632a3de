// Package chunk cuts documents into chunks.
//
//	chunks := chunk.Cut(doc, chunk.Options{})
//
// # Rules
//
//   - A chunk is an exact slice: chunk.Text == doc.Text[chunk.Start:chunk.End].
//     The chunks of a document are in order, each ends behind the one before, and
//     they hold all of its text but front matter and blank space. Only those of
//     the recursive and semantic chunkers overlap. A page of nothing but
//     shortcodes and comments may have no chunks.
//   - Ids depend on the path under the root, the span and the text, not on where
//     the root is: two machines agree, and an edit changes the ids of the chunks
//     it touches and of those it moves.
//   - The same document and options give the same chunks, always.
//
// # How it works
//
// [Cut] uses one of the [Chunkers]; the adaptive one chooses by document. Most
// take the blocks of the document, make sections of them by heading and pack each
// section into chunks of at most Options.Size tokens. A block that fits stays
// whole; one that does not is split where its own structure allows: a list
// between items, code and tables between lines, prose between sentences, and
// what has no structure at all between words or runes. A paragraph that ends in a
// colon stays with what it announces. Headings without text, shortcodes and
// comments never become chunks of their own.
//
// The code chunker finds declarations by the words and the indentation of their lines.
package chunk
