// Package document defines the types that loaders and chunkers share: a document
// that was read, its blocks, and the lines and pages of its text.
//
//   - Document.Text is valid UTF-8 and, for every file that is, the file itself
//     byte for byte, so that offsets lead into the file. [Document.Converted]
//     reports where they do not.
//   - The blocks of a document follow each other without gaps. A document without
//     blocks is made of [Paragraphs].
package document
