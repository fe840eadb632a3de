// Package ingest turns documents into an index and keeps the two equal.
//
// A [Library] is one collection: folders and files, documents that were put, and their index.
//
//	l := ingest.New(db, ingest.Options{Docs: []string{"docs"}, Clock: time.Now})
//	report, err := l.Sync(ctx)
//
// [Library.Sync] walks the folders, reads new and changed files with package internal/load,
// cuts them into chunks and puts them into the index. Files are compared by size and time
// first, then by hash, then chunk by chunk, so that the cost of an edit depends on its size. A
// file that cannot be read is in the report and stops nothing.
//
// Each sync is a [Job] with an id, progress and a result, which others can watch and cancel.
// Syncs of different roots run side by side; a root is changed by one job at a time. A job
// keeps what it has stored when it is cancelled or the process ends.
//
// [Library.Put] stores a document as a file in Options.Dir, and [Library.PutText] a text of a
// program. Both index only that file.
//
// [Library.Ready] returns the roots to answer from. The version of a [View] tells whether a
// snapshot of the index is still up to date.
package ingest
