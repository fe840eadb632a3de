package ingest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// Errors of named collections; match them with errors.Is.
var (
	ErrNoCollection     = errors.New("there is no such collection")
	ErrCollectionExists = errors.New("the collection exists already")
	ErrCollectionName   = errors.New("the name of a collection has 1 to 64 of the characters a-z, 0-9, - and _, and begins with a letter or digit")
)

// collectionsDir is the folder of the named collections in the data folder.
const collectionsDir = "collections"

// CollectionDir returns the folder of a named collection in a data folder, whether it exists or
// not. Its index is index.db in it.
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

// DeleteCollection deletes a named collection: its index, its settings and the documents that
// were put into it, but no folder that it only indexes. Its [Library] must be closed before.
// Another process that has it open answers from it until it closes it, unless the system
// forbids to delete open files, which is an error. An index on a server stays: see
// [Library.Forget]. The error matches ErrNoCollection if there is none.
func DeleteCollection(dataDir, name string) error {
	if err := CheckCollection(name); err != nil {
		return err
	}
	dir := CollectionDir(dataDir, name)
	gone := filepath.Join(filepath.Dir(dir), "."+rand.Text())
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
	return nil
}

var collectionForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// CheckCollection reports whether a collection may have a name: that of a folder on every
// system, which differs from all others there. The error matches ErrCollectionName.
func CheckCollection(name string) error {
	if !collectionForm.MatchString(name) || reserved.MatchString(name) {
		return fmt.Errorf("collection %q: %w", name, ErrCollectionName)
	}
	return nil
}

// Collections lists the named collections of a data folder by name. A folder that does not
// exist has none.
func Collections(dataDir string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(dataDir, collectionsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list collections: %w", err)
	}
	names := []string{}
	for _, e := range entries {
		if e.IsDir() && CheckCollection(e.Name()) == nil {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
