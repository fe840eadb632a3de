package load

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Root is where documents come from: a folder, a file, or a glob.
type Root struct {
	Name   string // absolute and free of symbolic links; of a glob, with the glob at its end
	Folder string // that sources are relative to

	single bool   // Name is a file
	glob   string // that sources have to match; "" takes all
}

// Resolve finds out what a path names. A path that exists is itself, even where
// it contains signs of a glob. Else *, ? and [ make it a glob: * and ? match characters of a
// name, ** matches any folders. The folder is the path before the first of them. The error wraps fs.ErrNotExist or what the file
// system said; a glob that matches nothing is no error.
func Resolve(path string) (Root, error) {
	if path == "" { // filepath.Abs would take it for the working folder
		return Root{}, fmt.Errorf("open documents %q: %w", path, ErrNoPath)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return Root{}, fmt.Errorf("open documents %q: %w", path, err)
	}
	folder, glob := abs, ""
	if _, err := os.Lstat(abs); err != nil && strings.ContainsAny(abs, "*?[") {
		folder, glob = splitGlob(abs)
	}
	folder, err = filepath.EvalSymlinks(folder)
	if err != nil {
		return Root{}, fmt.Errorf("open documents %q: %w", path, reason(err))
	}
	info, err := os.Stat(folder)
	if err != nil {
		return Root{}, fmt.Errorf("open documents %q: %w", path, reason(err))
	}
	switch {
	case glob != "" && !info.IsDir():
		return Root{}, fmt.Errorf("open documents %q: %q is no folder: %w", path, folder, fs.ErrNotExist)
	case glob != "":
		return Root{Name: filepath.Join(folder, filepath.FromSlash(glob)), Folder: folder, glob: glob}, nil
	case info.IsDir():
		return Root{Name: folder, Folder: folder}, nil
	}
	return Root{Name: folder, Folder: filepath.Dir(folder), single: true}, nil
}

// splitGlob parts a path before the first element that is a glob and does not
// exist as it is written.
func splitGlob(abs string) (folder, glob string) {
	elements := strings.Split(filepath.ToSlash(abs), "/")
	for i, e := range elements {
		if !strings.ContainsAny(e, "*?[") {
			continue
		}
		literal := filepath.FromSlash(strings.Join(elements[:i+1], "/"))
		if _, err := os.Lstat(literal); err == nil || i == 0 {
			continue
		}
		folder = filepath.FromSlash(strings.Join(elements[:i], "/"))
		if folder == "" || strings.HasSuffix(folder, ":") {
			folder += string(filepath.Separator)
		}
		return folder, strings.Join(elements[i:], "/")
	}
	return abs, ""
}

// Locator finds the paths of sources. It asks the file system once for consecutive sources of
// one root. The zero value is ready; it is for one goroutine, and for one answer: files change.
type Locator struct{ root, folder string }

// Locate returns the path of a source of a root, given by its Name. It asks the file system
// whether a root is a single file, and takes a missing root for a folder.
func (l *Locator) Locate(root, source string) string {
	if filepath.Base(root) == source {
		if info, err := os.Stat(root); err == nil && !info.IsDir() {
			return root
		}
	}
	if l.folder == "" || l.root != root {
		l.root, l.folder = root, root
		if _, err := os.Lstat(root); err != nil {
			l.folder, _ = splitGlob(root)
		}
	}
	return filepath.Join(l.folder, filepath.FromSlash(source))
}

// matches reports whether the root's glob takes a source.
func (r Root) matches(source string) bool {
	return r.glob == "" || doublestar.MatchUnvalidated(r.glob, source)
}

// within reports whether a folder may hold sources that match the glob.
func (r Root) within(folder string) bool {
	elements := strings.Split(r.glob, "/")
	depth := strings.Count(folder, "/") + 1
	if r.glob == "" || slices.Contains(elements[:min(depth, len(elements))], "**") {
		return true
	}
	return depth < len(elements) && doublestar.MatchUnvalidated(strings.Join(elements[:depth], "/"), folder)
}
