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

	"example.com/ragflow/internal/document"
)

// Reasons for leaving a file out, to be matched with errors.Is.
var (
	ErrNoLoader   = errors.New("no loader for this kind of file")
	ErrBinary     = errors.New("binary file")
	ErrTooLarge   = document.ErrTooLarge
	ErrNotRegular = errors.New("not a regular file")
	ErrNoPath     = errors.New("the path is empty")
	ErrBroken     = document.ErrBroken
	ErrEncrypted  = document.ErrEncrypted
	ErrNoText     = document.ErrNoText
)

// FileError is the error of a file or folder that is left out.
type FileError struct {
	Path string // of the file
	Err  error  // wraps one of the reasons above, or an error of the file system
}

func (e *FileError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Unwrap returns the reason.
func (e *FileError) Unwrap() error { return e.Err }

// File is a document found but not yet read.
type File struct {
	Root    string    // absolute, without symbolic links: the folder that is walked, or the file itself
	Source  string    // path with slashes below the folder; for a file that is its own root, its name
	Path    string    // to open it
	Size    int64     // bytes, including its metadata file
	ModTime time.Time // of the newer of the file and its metadata file
}

// Files yields the documents in a folder, in lexical order of their path elements, or the single file that
// root names. A file that cannot be read or has no loader is yielded as a *FileError, and the walk continues.
// If root cannot be opened, its error is the only one yielded; it wraps fs.ErrNotExist or another error of
// the file system. The end of ctx ends the walk with its error.
//
// Hidden files and folders, node_modules, and files excluded by .gitignore and .ragflowignore are left out
// without an error. The rules are those of git; .ragflowignore has precedence. In a repository the files
// above root count too. Symbolic links to files of the folder are followed; other links are yielded as
// errors, so there are no loops. A file that root names is read whatever its extension; without a known one
// it is plain text. In a folder, a file without an extension is plain text if it begins as text, except
// licences and keys.
func Files(ctx context.Context, root string) iter.Seq2[File, error] { return FilesBelow(ctx, root, "") }

// FilesBelow is Files for one file or folder below a root, by its path with slashes. It yields
// nothing if there is none, or if the rules of the root leave it out.
func FilesBelow(ctx context.Context, root, below string) iter.Seq2[File, error] {
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
		w := walker{root: name, below: below, yield: yield}
		if err := w.folder(ctx, name, "", outerIgnores(name)); err != nil && !errors.Is(err, errStopped) {
			yield(File{}, err)
		}
	}
}

// errStopped ends a walk whose reader broke off.
var errStopped = errors.New("stopped")

// walker walks a folder.
type walker struct {
	root  string
	below string // the file or folder to walk to; empty: all
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

// folder walks a folder at the path source below the root.
func (w *walker) folder(ctx context.Context, folder, source string, rules *ignores) error {
	entries, err := w.entries(folder, source)
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
		case Hidden(e.Name()), rules.ignored(path, e.IsDir()), besideDocument(path):
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

// entries lists a folder by name. On the way to w.below it holds only the next step.
func (w *walker) entries(folder, source string) ([]fs.DirEntry, error) {
	rest, found := strings.CutPrefix(w.below, source)
	if !found || rest == "" {
		return os.ReadDir(folder)
	}
	step, _, _ := strings.Cut(rest, "/")
	info, err := os.Lstat(filepath.Join(folder, step))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return []fs.DirEntry{fs.FileInfoToDirEntry(info)}, nil
}

func (w *walker) file(path, source string, link bool) error {
	f, err := newFile(w.root, path, source)
	if link && err == nil && !w.holds(path) {
		err = errOutside
	}
	if errors.Is(err, fs.ErrNotExist) {
		if _, gone := os.Lstat(path); gone != nil {
			return nil //nolint:nilerr // removed since the folder was read; a broken link still exists
		}
	}
	if err == nil && kindOf(path) == "" {
		ext := filepath.Ext(path)
		switch {
		case newFormats[strings.ToLower(ext)] != "":
			err = fmt.Errorf("%w: %s: save it as %s", ErrNoLoader, ext, newFormats[strings.ToLower(ext)])
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

// newFormats are the endings of old formats that are not read, with those to save such a file as.
var newFormats = map[string]string{".doc": ".docx", ".xls": ".xlsx", ".xlsb": ".xlsx", ".ppt": ".pptx"}

// isLicence reports files that most program folders have, and that nobody asks about.
func isLicence(path string) bool {
	return slices.Contains([]string{"license", "licence", "copying", "copyright"}, strings.ToLower(filepath.Base(path)))
}

// beginsAsText reports whether the beginning of a file has only control characters of text, and is not a key.
// An empty file is text.
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

// errOutside protects files outside a folder that several people can write to: a link could show their
// content to every user.
var errOutside = fmt.Errorf("%w: symbolic link to a file outside of the folder; name that file itself to have it read", ErrNotRegular)

// holds reports whether the target of a link is in the walked folder.
func (w *walker) holds(link string) bool {
	target, err := filepath.EvalSymlinks(link)
	if err != nil {
		return false
	}
	below, err := filepath.Rel(w.root, target)
	return err == nil && filepath.IsLocal(below)
}

// Hidden reports whether the walk leaves out files and folders of a name without an error.
func Hidden(name string) bool {
	return strings.HasPrefix(name, ".") || name == "node_modules"
}

// besideDocument reports whether a file is the metadata file of another one in its folder.
func besideDocument(path string) bool {
	described, ok := describes(path)
	if !ok {
		return false
	}
	_, err := os.Stat(described)
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

// inBytes formats a number of bytes.
func inBytes(n int64) string {
	switch {
	case n >= 1<<20:
		return strings.Replace(fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)), ".0 ", " ", 1)
	case n >= 1<<10:
		return strings.Replace(fmt.Sprintf("%.1f KiB", float64(n)/(1<<10)), ".0 ", " ", 1)
	}
	return fmt.Sprintf("%d bytes", n)
}

// reason removes the path from an error of the file system, because FileError has it.
func reason(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}
