package folder

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

	"example.com/ragflow/internal/document"
)

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
		w := walker{root: name, below: below, yield: yield}
		if isFile(name) {
			f, err := newFile(name, name, filepath.Base(name))
			_ = w.tell(name, f, err) // there is only one
			return
		}
		w.rules = map[string]*ignores{filepath.Dir(name): outerIgnores(name)}
		if err := filepath.WalkDir(name, func(path string, e fs.DirEntry, err error) error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return w.visit(path, e, err)
		}); err != nil {
			yield(File{}, err)
		}
	}
}

// walker walks a folder.
type walker struct {
	root  string
	below string // the file or folder to walk to; empty: all
	yield func(File, error) bool
	rules map[string]*ignores // of the folders so far
}

// tell yields a file, or the reason for leaving it out.
func (w *walker) tell(path string, f File, err error) error {
	if err != nil {
		f, err = File{}, &FileError{path, Reason(err)}
	}
	if !w.yield(f, err) {
		return filepath.SkipAll
	}
	return nil
}

// visit yields a file, enters a folder, or leaves it out. err says that a folder cannot be read.
func (w *walker) visit(path string, e fs.DirEntry, err error) error {
	if err != nil {
		return w.tell(path, File{}, err)
	}
	above := w.rules[filepath.Dir(path)]
	if path == w.root {
		w.rules[path] = above.enter(path)
		return nil
	}
	source, err := filepath.Rel(w.root, path)
	source = filepath.ToSlash(source)
	leads := w.below == "" || strings.HasPrefix(source+"/", w.below+"/") || strings.HasPrefix(w.below+"/", source+"/")
	switch out := !leads || Hidden(e.Name()) || above.ignored(path, e.IsDir()) || besideDocument(path); {
	case err != nil || out && !e.IsDir():
		return err
	case out:
		return filepath.SkipDir
	case e.IsDir():
		w.rules[path] = above.enter(path)
		return nil
	}
	return w.file(path, source, e.Type()&fs.ModeSymlink != 0)
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

// file yields a file, or why it is left out.
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
	if err == nil && document.KindOf(path) == "" {
		ext := filepath.Ext(path)
		switch {
		case newFormats[strings.ToLower(ext)] != "":
			err = fmt.Errorf("%w: %s: save it as %s", document.ErrNoLoader, ext, newFormats[strings.ToLower(ext)])
		case ext != "":
			err = fmt.Errorf("%w: %s", document.ErrNoLoader, ext)
		case isLicence(path):
			err = fmt.Errorf("%w: a licence", document.ErrNoLoader)
		case !beginsAsText(path):
			err = fmt.Errorf("%w: it has no extension, and holds no text or a key", document.ErrNoLoader)
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
