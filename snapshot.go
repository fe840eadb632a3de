package ragflow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"example.com/ragflow/search/index"
)

// SnapshotReport tells what [Assistant.Snapshot] wrote, or what
// [Assistant.Restore] put into the index. Its JSON is the schema of `ragflow
// index snapshot --json` and `ragflow index restore --json`.
type SnapshotReport struct {
	File        string               `json:"file"`
	Bytes       int64                `json:"bytes"` // of the file
	Collections []SnapshotCollection `json:"collections"`
}

// SnapshotCollection is one collection of a snapshot.
type SnapshotCollection struct {
	Root   string `json:"root"` // in the index that was asked
	Files  int    `json:"files"`
	Chunks int    `json:"chunks"`
}

// SnapshotError tells why a file cannot be restored: it is no snapshot, not
// whole, or of a newer version.
type SnapshotError = index.SnapshotError

// Snapshot writes the whole index, as it is at one moment, to a file, vectors
// and all: for a backup, or for another machine. Indexing may go on meanwhile. A
// file of that name is replaced only when the new one is whole.
func (a *Assistant) Snapshot(ctx context.Context, file string) (report *SnapshotReport, err error) {
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*.tmp")
	if err != nil {
		return nil, err
	}
	defer func() {
		if removeErr := os.Remove(f.Name()); !errors.Is(removeErr, fs.ErrNotExist) { // it was renamed
			err = errors.Join(err, removeErr)
		}
	}()
	held, err := a.index.Snapshot(ctx, f)
	if err == nil {
		err = f.Sync()
	}
	info, statErr := f.Stat()
	if err := errors.Join(err, statErr, f.Close()); err != nil {
		return nil, err
	}
	if err := os.Rename(f.Name(), file); err != nil {
		return nil, err
	}
	return snapshotReport(file, info.Size(), held), nil
}

// Restore puts the collections of a snapshot into the index, each in place of the
// one of the same folder; all else stays. docs are the folders here, in the order
// of Stats on the machine that made it; none keeps the paths that they have there.
// Files that differ from the snapshot are read by the next Index. An error that
// means the file is a [*SnapshotError]; then nothing has changed.
func (a *Assistant) Restore(ctx context.Context, file string, docs ...string) (report *SnapshotReport, err error) {
	if a.index.ReadOnly() {
		return nil, a.readOnly("no index can be restored into it")
	}
	var roots []string
	for _, d := range docs {
		root, err := resolveRoot(d)
		if err != nil {
			return nil, err
		}
		roots = append(roots, root)
	}
	a.indexing.Lock()
	defer a.indexing.Unlock()
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("restore: %w", &SnapshotError{Why: "this is not a file"})
	}
	restored, err := a.index.Restore(ctx, f, roots)
	if err != nil {
		return nil, err
	}
	a.engine.Store(nil) // the next question binds itself to the new state
	return snapshotReport(file, info.Size(), restored), nil
}

func snapshotReport(file string, size int64, list []index.Collection) *SnapshotReport {
	r := &SnapshotReport{File: file, Bytes: size, Collections: []SnapshotCollection{}}
	for _, c := range list {
		r.Collections = append(r.Collections, SnapshotCollection{c.Root, c.Files, c.Chunks})
	}
	return r
}
