package corpus

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Reasons for leaving a file out, to be matched with errors.Is.
var (
	ErrNoLoader   = errors.New("no loader for this kind of file")
	ErrBinary     = errors.New("binary file")
	ErrTooLarge   = errors.New("file too large")
	ErrNotRegular = errors.New("not a regular file")
)

// FileError says why one file or folder was left out.
type FileError struct {
	Path string // where it lies
	Err  error  // wraps one of the reasons above, or what the file system said
}

func (e *FileError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Unwrap returns the reason.
func (e *FileError) Unwrap() error { return e.Err }

// File is a document that was found and not yet read.
type File struct {
	Root    string // absolute, free of symbolic links: the folder that is walked, or the file itself
	Source  string // path under Root with slashes; of a file that is its own root, its name
	Path    string // to open it
	Size    int64  // bytes
	ModTime time.Time
}

// Files yields the documents in a folder, in lexical order of their path
// elements, or the single file that root names. What cannot be read or has no
// loader is yielded as a *FileError, and the walk goes on. If root itself
// cannot be opened, that is the only thing yielded; the error then wraps
// fs.ErrNotExist or what else the file system said. The end of ctx ends the
// walk with its error.
//
// Hidden files and folders and node_modules are passed over in silence.
// Symbolic links to files are followed, those to folders are not, so there are
// no loops; they are told like other files that are left out. A file that root names itself is taken whatever its extension;
// without one that is known, it is plain text.
func Files(ctx context.Context, root string) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		abs, info, err := resolve(root)
		if err != nil {
			yield(File{}, fmt.Errorf("open documents %q: %w", root, err))
			return
		}
		if !info.IsDir() {
			f, err := newFile(abs, abs, filepath.Base(abs))
			if err != nil {
				err = &FileError{abs, err}
			}
			yield(f, err)
			return
		}
		walk(ctx, abs, yield)
	}
}

func resolve(root string) (string, fs.FileInfo, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return "", nil, err
	}
	abs, err = filepath.EvalSymlinks(abs)
	if err != nil {
		return "", nil, err
	}
	info, err := os.Stat(abs)
	return abs, info, err
}

func walk(ctx context.Context, root string, yield func(File, error) bool) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		tell := func(f File, err error) error {
			if err != nil {
				err = &FileError{path, reason(err)}
			}
			if !yield(f, err) {
				return fs.SkipAll
			}
			return nil
		}
		switch {
		case err != nil: // an unreadable folder has been entered in vain; its siblings follow
			return tell(File{}, err)
		case path == root:
			return nil
		case passedOver(d.Name()):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		}
		source, err := filepath.Rel(root, path)
		if err != nil {
			return tell(File{}, err)
		}
		f, err := newFile(root, path, filepath.ToSlash(source))
		if err == nil && kindOf(path) == "" {
			f, err = File{}, noLoader(path)
		}
		return tell(f, err)
	})
	if err != nil {
		yield(File{}, err)
	}
}

// passedOver reports names that hold no documents of the person's own.
func passedOver(name string) bool {
	return strings.HasPrefix(name, ".") || name == "node_modules"
}

func noLoader(path string) error {
	if ext := filepath.Ext(path); ext != "" {
		return fmt.Errorf("%w: %s", ErrNoLoader, ext)
	}
	return fmt.Errorf("%w: it has no extension", ErrNoLoader)
}

func newFile(root, path, source string) (File, error) {
	info, err := os.Stat(path) // follows links
	switch {
	case err != nil:
		return File{}, reason(err)
	case info.IsDir():
		return File{}, fmt.Errorf("%w: symbolic link to a folder", ErrNotRegular)
	case !info.Mode().IsRegular():
		return File{}, ErrNotRegular
	}
	return File{Root: root, Source: source, Path: path, Size: info.Size(), ModTime: info.ModTime()}, nil
}

// reason drops the path from an error of the file system: FileError names it.
func reason(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}
