// Package document defines the types that loaders and chunkers share: a document
// that was read, its blocks, and the lines and pages of its text.
//
//   - Document.Text is valid UTF-8. If the file is, Text is the file byte for byte, so
//     that offsets in it are offsets in the file. [Document.Converted] reports whether
//     they differ.
//   - The blocks of a document follow each other without gaps. A document without
//     blocks consists of its [Paragraphs].
package document
