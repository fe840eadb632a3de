package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Reasons for leaving a file out, to be matched with errors.Is.
var (
	ErrNoLoader   = errors.New("no loader for this kind of file")
	ErrBinary     = errors.New("binary file")
	ErrTooLarge   = errors.New("file too large")
	ErrNotRegular = errors.New("not a regular file")
	ErrNoPath     = errors.New("the path is empty")
	ErrBroken     = errors.New("the file is damaged")
	ErrEncrypted  = errors.New("the file is encrypted")
	ErrNoText     = errors.New("no text in it")
)

// FileError says why one file or folder was left out.
type FileError struct {
	Path string // of the file
	Err  error  // wraps one of the reasons above, or what the file system said
}

func (e *FileError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Unwrap returns the reason.
func (e *FileError) Unwrap() error { return e.Err }

// File is a document that was found and not yet read.
type File struct {
	Root    string    // absolute, free of symbolic links: the folder that is walked, or the file itself
	Source  string    // path with slashes under the folder; of a file that is its own root, its name
	Path    string    // to open it
	Size    int64     // bytes, with those of its metadata file
	ModTime time.Time // of the file, or of its metadata file where that is newer
}

// Files yields the documents in a folder, in lexical order of their path elements, or the
// single file that root names. What cannot be read or has no loader is yielded as a
// *FileError, and the walk goes on. If root itself cannot be opened, that is the only thing
// yielded; the error then wraps fs.ErrNotExist or what else the file system said. The end of
// ctx ends the walk with its error.
//
// Hidden files and folders and node_modules are left out without an error, and so is what
// .gitignore and .ragflowignore exclude, by the rules of git; .ragflowignore decides. In a
// repository the files above root count too. Symbolic links to files of the folder are
// followed. Those to files outside of it are not, and those to folders are not, so there are
// no loops; they are yielded as errors like other files that are left out. A file that root
// names itself is taken whatever its extension; without one that is known, it is plain text.
// In a folder, a file without an extension is plain text where it begins as text; licences
// and keys are left out.
func Files(ctx context.Context, root string) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		name, err := Resolve(root)
		if err != nil {
			yield(File{}, err)
			return
		}
		if isFile(name) {
			f, err := newFile(name, name, filepath.Base(name))
			if err != nil {
				err = &FileError{name, err}
			}
			yield(f, err)
			return
		}
		w := walker{root: name, yield: yield}
		if err := w.folder(ctx, name, "", outerIgnores(name)); err != nil && !errors.Is(err, errStopped) {
			yield(File{}, err)
		}
	}
}

// errStopped ends a walk whose reader has seen enough.
var errStopped = errors.New("stopped")

// walker walks a folder.
type walker struct {
	root  string
	yield func(File, error) bool
}

// tell yields a file, or the reason for leaving it out.
func (w *walker) tell(path string, f File, err error) error {
	if err != nil {
		f, err = File{}, &FileError{path, reason(err)}
	}
	if !w.yield(f, err) {
		return errStopped
	}
	return nil
}

// folder walks a folder, which is at source under the root.
func (w *walker) folder(ctx context.Context, folder, source string, rules *ignores) error {
	entries, err := os.ReadDir(folder) // sorted by name
	if err != nil {
		if err = w.tell(folder, File{}, err); err != nil {
			return err
		}
	}
	rules = rules.enter(folder)
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		path, below := filepath.Join(folder, e.Name()), source+e.Name()
		switch {
		case passedOver(e.Name()), rules.ignored(path, e.IsDir()), besideDocument(path):
		case e.IsDir():
			err = w.folder(ctx, path, below+"/", rules)
		default:
			err = w.file(path, below, e.Type()&fs.ModeSymlink != 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) file(path, source string, link bool) error {
	f, err := newFile(w.root, path, source)
	if link && err == nil && !w.holds(path) {
		err = errOutside
	}
	if errors.Is(err, fs.ErrNotExist) {
		if _, gone := os.Lstat(path); gone != nil {
			return nil //nolint:nilerr // gone since the folder was read; a link that leads nowhere is still there
		}
	}
	if err == nil && kindOf(path) == "" {
		ext := filepath.Ext(path)
		switch {
		case ext != "":
			err = fmt.Errorf("%w: %s", ErrNoLoader, ext)
		case isLicence(path):
			err = fmt.Errorf("%w: a licence", ErrNoLoader)
		case !beginsAsText(path):
			err = fmt.Errorf("%w: it has no extension, and holds no text or a key", ErrNoLoader)
		}
	}
	return w.tell(path, f, err)
}

// isLicence reports files that every folder of programs has, and that nobody asks about.
func isLicence(path string) bool {
	return slices.Contains([]string{"license", "licence", "copying", "copyright"}, strings.ToLower(filepath.Base(path)))
}

// beginsAsText reports whether the beginning of a file holds no control characters but those
// of text, and is no key. An empty file is text.
func beginsAsText(path string) bool {
	r, err := os.Open(path)
	if err != nil {
		return true // Load reports the error
	}
	defer func() { _ = r.Close() }() // only read from
	start, err := io.ReadAll(io.LimitReader(r, 1<<10))
	return err == nil && !bytes.HasPrefix(start, []byte("-----BEGIN ")) && !bytes.ContainsFunc(start, func(c rune) bool {
		return c < ' ' && !strings.ContainsRune("\t\n\f\r\x1b", c)
	})
}

// errOutside protects files outside of a folder that several people write to: a link in it
// would show their content to everyone who may ask.
var errOutside = fmt.Errorf("%w: symbolic link to a file outside of the folder; name that file itself to have it read", ErrNotRegular)

// holds reports whether the target of a link is in the folder that is walked.
func (w *walker) holds(link string) bool {
	target, err := filepath.EvalSymlinks(link)
	if err != nil {
		return false
	}
	below, err := filepath.Rel(w.root, target)
	return err == nil && filepath.IsLocal(below)
}

// passedOver reports names that hold no documents of the person's own.
func passedOver(name string) bool {
	return strings.HasPrefix(name, ".") || name == "node_modules"
}

// besideDocument reports whether a file is the metadata file of another one in its folder, so
// that it is no document itself.
func besideDocument(path string) bool {
	document, ok := describes(path)
	if !ok {
		return false
	}
	_, err := os.Stat(document)
	return err == nil
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
	f := File{Root: root, Source: source, Path: path, Size: info.Size(), ModTime: info.ModTime()}
	if info, err := os.Stat(sidecarOf(path)); err == nil {
		f.Size += info.Size()
		if info.ModTime().After(f.ModTime) {
			f.ModTime = info.ModTime()
		}
	}
	return f, nil
}

// inBytes is a number of bytes as a person reads it.
func inBytes(n int64) string {
	switch {
	case n >= 1<<20:
		return strings.Replace(fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)), ".0 ", " ", 1)
	case n >= 1<<10:
		return strings.Replace(fmt.Sprintf("%.1f KiB", float64(n)/(1<<10)), ".0 ", " ", 1)
	}
	return fmt.Sprintf("%d bytes", n)
}

// reason drops the path from an error of the file system: FileError names it.
func reason(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}
