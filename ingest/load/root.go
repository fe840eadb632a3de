package load

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Root is where documents come from: a folder, a file, or a glob.
type Root struct {
	Name   string // absolute and free of symbolic links; of a glob, with the glob at its end
	Folder string // that sources are relative to

	single  bool    // Name is a file
	pattern pattern // that sources have to match; nil takes all
}

// Resolve finds out what a path names. A path that exists is itself, even where
// it holds signs of a glob. Else *, ? and [ make it one: * and ? stand for
// characters of a name, ** for any folders between. The folder is what stands
// before the first of them. The error wraps fs.ErrNotExist or what the file
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
		return Root{Name: filepath.Join(folder, filepath.FromSlash(glob)), Folder: folder, pattern: newPattern(glob)}, nil
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

// Locate returns the path of a source of a root, given by its Name. It asks the
// file system whether a root is a single file, and takes what is gone for a
// folder.
func Locate(root, source string) string { return new(Locator).Locate(root, source) }

// Locator locates sources as [Locate] does, but asks the file system once for those of
// one root that follow each other. The zero value is ready; it is for one goroutine, and
// for one answer: what it found out may change.
type Locator struct{ root, folder string }

// Locate is the function of that name.
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
