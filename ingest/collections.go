package ingest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Errors of named collections; match them with errors.Is.
var (
	ErrNoCollection     = errors.New("there is no such collection")
	ErrCollectionExists = errors.New("the collection exists already")
	ErrCollectionName   = errors.New("the name of a collection has 1 to 64 of the characters a-z, 0-9, - and _, and begins with a letter or digit")
)

// collectionsDir is the folder of the named collections in the data folder.
const collectionsDir = "collections"

// CollectionDir returns the folder of a named collection in a data folder, whether it
// exists or not. Its index is index.db there.
func CollectionDir(dataDir, name string) string { return filepath.Join(dataDir, collectionsDir, name) }

// DocumentsDir returns the folder for the documents that are put into a named collection,
// for Options.Dir.
func DocumentsDir(dataDir, name string) string {
	return filepath.Join(CollectionDir(dataDir, name), "documents")
}

// MakeCollection makes the folder of a named collection. Errors match ErrCollectionName or
// ErrCollectionExists.
func MakeCollection(dataDir, name string) error {
	if err := CheckCollection(name); err != nil {
		return err
	}
	err := os.MkdirAll(filepath.Join(dataDir, collectionsDir), 0o700)
	if err == nil {
		err = os.Mkdir(CollectionDir(dataDir, name), 0o700)
	}
	if errors.Is(err, fs.ErrExist) {
		err = ErrCollectionExists
	}
	if err != nil {
		return fmt.Errorf("make collection %q: %w", name, err)
	}
	return nil
}

// deletedEnd is the ending of collections that are being deleted.
const deletedEnd = ".deleted"

// DeleteCollection deletes a named collection: its index, its settings and the documents that
// were put into it, but no folder that it only indexes. Its [Library] must be closed before;
// another process that has it open answers from what it has until it closes it, where the
// system permits to delete open files, and is an error otherwise. An index on a server stays:
// see [Library.Forget]. The error matches ErrNoCollection if there is none.
func DeleteCollection(dataDir, name string) error {
	if err := CheckCollection(name); err != nil {
		return err
	}
	dir := CollectionDir(dataDir, name)
	gone := filepath.Join(filepath.Dir(dir), "."+newID()+deletedEnd)
	err := os.Rename(dir, gone) // so that nobody sees half of it
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNoCollection
	}
	if err == nil {
		err = os.RemoveAll(gone)
	}
	if err != nil {
		return fmt.Errorf("delete collection %q: %w", name, err)
	}
	left, _ := os.ReadDir(filepath.Dir(dir)) // the rest of collections that a killed process deleted
	for _, e := range left {
		if strings.HasSuffix(e.Name(), deletedEnd) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(filepath.Dir(dir), e.Name())))
		}
	}
	return err
}

// CheckCollection reports whether a collection may have a name. The error matches
// ErrCollectionName.
func CheckCollection(name string) error {
	if !collectionName(name) {
		return fmt.Errorf("collection %q: %w", name, ErrCollectionName)
	}
	return nil
}

var (
	collectionForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)
	windowsDevice  = regexp.MustCompile(`^(con|prn|aux|nul|(com|lpt)[0-9])$`)
)

// collectionName reports whether a collection may have a name: one that is the
// name of a folder on every system, and differs from all others there.
func collectionName(s string) bool {
	return collectionForm.MatchString(s) && !windowsDevice.MatchString(s)
}

// Collections lists the named collections of a data folder, in order. A folder
// without any, or that is not there, has none.
func Collections(dataDir string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(dataDir, collectionsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list collections: %w", err)
	}
	names := []string{}
	for _, e := range entries {
		if e.IsDir() && collectionName(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
