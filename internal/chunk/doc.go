// Package chunk cuts documents into chunks.
//
//	chunks := chunk.Cut(doc, chunk.Options{})
//
// # Rules
//
//   - A chunk is an exact slice: chunk.Text == doc.Text[chunk.Start:chunk.End].
//     The chunks of a document are in order, each ends after the one before, and
//     together they hold all text except front matter and blank space. Only the
//     recursive and semantic chunkers make chunks that overlap. A page that has only
//     shortcodes and comments may have no chunks.
//   - Ids depend on the path under the root, the span and the text, not on the path
//     of the root: they are the same on two machines, and an edit changes the ids of
//     the chunks that it touches or moves.
//   - The same document and options always give the same chunks.
//
// # How it works
//
// [Cut] uses one of the [Chunkers]; the adaptive one chooses by document. Most group
// the blocks of the document into sections by heading and pack each section into
// chunks of at most Options.Size tokens. A block that fits stays whole. A larger one is
// split along its structure: a list between items, code and tables between lines,
// prose between sentences, and text without structure between words or runes. A
// paragraph that ends in a colon stays with the block after it. Headings without text,
// shortcodes and comments never become separate chunks.
//
// The code chunker finds declarations by the words and the indentation of their lines.
package chunk
