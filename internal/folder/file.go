package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// Reasons for leaving a file out, to be matched with errors.Is; document.ErrNoLoader is another one.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrNoPath     = errors.New("the path is empty")
)

// FileError is the error of a file or folder that is left out.
type FileError struct {
	Path string // of the file
	Err  error  // wraps one of the reasons above, one of package document, or an error of the file system
}

func (e *FileError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Unwrap returns the reason.
func (e *FileError) Unwrap() error { return e.Err }

// Reason removes the path from an error of the file system, because FileError has it.
func Reason(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}

// File is a document found but not yet read.
type File struct {
	Root    string    // absolute, without symbolic links: the folder that is walked, or the file itself
	Source  string    // path with slashes below the folder; for a file that is its own root, its name
	Path    string    // to open it
	Size    int64     // bytes, including its metadata file
	ModTime time.Time // of the newer of the file and its metadata file
}

func newFile(root, path, source string) (File, error) {
	info, err := os.Stat(path) // follows links
	switch {
	case err != nil:
		return File{}, Reason(err)
	case info.IsDir():
		return File{}, fmt.Errorf("%w: symbolic link to a folder", ErrNotRegular)
	case !info.Mode().IsRegular():
		return File{}, ErrNotRegular
	}
	f := File{Root: root, Source: source, Path: path, Size: info.Size(), ModTime: info.ModTime()}
	if info, err := os.Stat(Sidecar(path)); err == nil {
		f.Size += info.Size()
		if info.ModTime().After(f.ModTime) {
			f.ModTime = info.ModTime()
		}
	}
	return f, nil
}

// MetadataEnds are the endings that a metadata file adds to the name of its document:
// handbook.pdf.meta.yaml.
func MetadataEnds() []string { return []string{".meta.yaml", ".meta.yml", ".meta.json"} }

// Sidecar returns the metadata file of a document; "" without one.
func Sidecar(path string) string {
	for _, end := range MetadataEnds() {
		if info, err := os.Stat(path + end); err == nil && info.Mode().IsRegular() {
			return path + end
		}
	}
	return ""
}

// describes returns the name of the document of a metadata file.
func describes(name string) (described string, ok bool) {
	for _, end := range MetadataEnds() {
		if described, ok = strings.CutSuffix(name, end); ok && described != "" {
			return described, true
		}
	}
	return "", false
}

// Described returns the document that a metadata file belongs to, by its name, and all other
// names as they are.
func Described(name string) string {
	if described, ok := describes(name); ok {
		return described
	}
	return name
}
