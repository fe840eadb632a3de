package ingest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// Facts about named collections; match them with errors.Is.
var (
	ErrNoCollection   = errors.New("there is no such collection")
	ErrCollectionName = errors.New("the name of a collection has 1 to 64 of the characters a-z, 0-9, - and _, and begins with a letter or digit")
)

// collectionsDir is the folder of the named collections in the data folder.
const collectionsDir = "collections"

// CollectionDir returns the folder of a named collection in a data folder, whether it
// exists or not. Its index is index.db there.
func CollectionDir(dataDir, name string) string { return filepath.Join(dataDir, collectionsDir, name) }

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
