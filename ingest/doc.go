// Package ingest turns folders into an index and keeps the two equal.
//
// [Library.Sync] walks the folders, reads new and changed files with package
// internal/load, cuts them into chunks and puts them into the index. A file is looked
// at by size and time first, then by its hash, then chunk by chunk, so that an edit
// costs what it changed. A file that cannot be read is reported and stops nothing.
package ingest
