package ingest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/internal/document"
	"example.com/ragflow/internal/folder"
	"example.com/ragflow/internal/load"
	"example.com/ragflow/state"
)

// Errors of single documents; match them with errors.Is.
var (
	ErrNoDocument = errors.New("there is no such document")
	ErrNoFolder   = errors.New("the library has no folder for documents") // Options.Dir
	ErrName       = errors.New(`the name of a document is a relative path of at most 500 bytes, without the characters \ : * ? " < > |, hidden files and names that some systems reserve`)
	ErrKind       = load.ErrNoLoader // documents of this kind are not read
	ErrTooLarge   = load.ErrTooLarge // more than maxDocument bytes, or 60 KiB of metadata
)

// maxDocument is how many bytes a document has at most.
const maxDocument = 64 << 20

const (
	maxName     = 500      // bytes
	maxElement  = 240      // bytes of a part of a name; file systems take 255, and metadata files add to a name
	maxMetadata = 60 << 10 // bytes; package load reads a little more
	metaEnd     = ".meta.json"
	incoming    = ".incoming" // a folder in Options.Dir for files that are being written
)

// Document is a document that was put into a library. Its JSON is for programs.
type Document struct {
	FileStatus           // Source is its name
	Time       time.Time `json:"time"` // when it was put
}

// Put stores a document in Options.Dir, in place of an earlier one of that name, and indexes
// it. The name is its path in the folder, with slashes. Metadata describes the document as
// front matter does; nil: only the document itself does. A document that cannot be read is
// stored, and its status says why.
//
// Errors match ErrName, ErrKind, ErrTooLarge, ErrNoFolder, ErrReadOnly, or are those of r and
// of the file system. After an error the folder holds the earlier document or the new one,
// whole, and the next sync indexes it.
func (l *Library) Put(ctx context.Context, name string, r io.Reader, metadata state.Metadata) (Document, error) {
	if err := l.store(name, r, metadata); err != nil {
		return Document{}, fmt.Errorf("put %q: %w", name, err)
	}
	if _, err := l.Sync(ctx, filepath.Join(l.o.Dir, name)); err != nil {
		return Document{}, err
	}
	list, err := l.Documents(ctx)
	if i := slices.IndexFunc(list, func(d Document) bool { return d.Source == name }); i >= 0 {
		return list[i], nil
	}
	return Document{}, cmp.Or(err, ErrNoDocument) // another call deleted it
}

// PutText is Put for a text of a program, in Markdown. The name ends in .md, which is added
// if it is missing. The title and the metadata become the front matter of the file.
func (l *Library) PutText(ctx context.Context, name, title, text string, metadata state.Metadata) (Document, error) {
	if path.Ext(name) != ".md" {
		name += ".md"
	}
	front := state.Metadata{}
	maps.Copy(front, metadata)
	if title != "" {
		front["title"] = title
	}
	head, err := encodeMetadata(front) // JSON is YAML
	if err != nil {
		return Document{}, fmt.Errorf("put %q: %w", name, err)
	}
	return l.Put(ctx, name, io.MultiReader(strings.NewReader("---\n"+string(head)+"\n---\n\n"), strings.NewReader(text)), nil)
}

// Delete deletes a document, its metadata and what is indexed of it. The error matches
// ErrNoDocument if there is none.
func (l *Library) Delete(ctx context.Context, name string) error {
	dir, err := l.writable(name)
	if err == nil {
		err = errors.Join(l.remove(dir, name), dir.Close())
	}
	if err != nil {
		return fmt.Errorf("delete %q: %w", name, err)
	}
	_, err = l.Sync(ctx, filepath.Join(l.o.Dir, name))
	return err
}

func (l *Library) remove(dir *os.Root, name string) error {
	l.storing.Lock()
	defer l.storing.Unlock()
	info, err := dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && info.IsDir():
		return ErrNoDocument
	case err != nil:
		return err
	}
	return errors.Join(dir.Remove(name), removeMetadata(dir, name, ""))
}

// Open opens a document for reading. Errors match ErrName, ErrNoFolder or ErrNoDocument.
func (l *Library) Open(name string) (*os.File, error) {
	f, err := (*os.File)(nil), l.checkName(name)
	if err == nil {
		f, err = os.OpenInRoot(l.o.Dir, name)
	}
	if err == nil {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return f, nil
		}
		err = errors.Join(fs.ErrNotExist, f.Close())
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNoDocument
	}
	return nil, fmt.Errorf("open %q: %w", name, err)
}

// Documents lists the documents that were put and indexed, by name, or those of names.
func (l *Library) Documents(ctx context.Context, names ...string) ([]Document, error) {
	root, err := folder.Resolve(l.o.Dir)
	if err != nil {
		return []Document{}, nil //nolint:nilerr // none was put yet
	}
	known, err := l.index.Files(ctx, root)
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(known))
	}
	out := []Document{}
	for _, name := range names {
		if f, ok := known[name]; ok {
			d := Document{FileStatus: fileStatus(f)}
			if info, err := os.Stat(folder.Locate(root, name)); err == nil {
				d.Time = info.ModTime()
			}
			out = append(out, d)
		}
	}
	return out, err
}

// store writes a document and its metadata into the folder.
func (l *Library) store(name string, r io.Reader, metadata state.Metadata) (err error) {
	var beside []byte
	if metadata != nil {
		if beside, err = encodeMetadata(metadata); err != nil {
			return err
		}
	}
	dir, err := l.writable(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	if document.KindOf(name) == "" {
		return fmt.Errorf("%w: %s", ErrKind, path.Ext(name))
	}
	document, err := receive(dir, r)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Remove(document) }() // it is renamed unless there is an error
	if err := dir.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	l.storing.Lock()
	defer l.storing.Unlock()
	switch err := dir.Rename(document, name); {
	case err != nil:
		return err
	case beside == nil:
		return removeMetadata(dir, name, "")
	}
	return errors.Join(place(dir, name+metaEnd, beside), removeMetadata(dir, name, metaEnd))
}

// receive writes a temporary file and returns its name.
func receive(dir *os.Root, r io.Reader) (name string, err error) {
	name = path.Join(incoming, rand.Text())
	f, err := dir.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	n, err := io.Copy(f, io.LimitReader(r, maxDocument+1))
	if err == nil && n > maxDocument {
		err = fmt.Errorf("%w: more than %d MiB", ErrTooLarge, maxDocument>>20)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, dir.Remove(name))
	}
	return name, nil
}

// place writes a small file whole or not at all.
func place(dir *os.Root, name string, content []byte) error {
	temporary, err := receive(dir, bytes.NewReader(content))
	if err != nil {
		return err
	}
	return dir.Rename(temporary, name)
}

// writable opens the folder to change a document, and makes it if it is missing. It deletes
// what writers left that were killed a day ago or earlier.
func (l *Library) writable(name string) (*os.Root, error) {
	err := l.checkName(name)
	if err == nil && l.index.ReadOnly() {
		err = ErrReadOnly
	}
	if err == nil {
		err = os.MkdirAll(filepath.Join(l.o.Dir, incoming), 0o700)
	}
	if err != nil {
		return nil, err
	}
	dir, err := os.OpenRoot(l.o.Dir)
	if err != nil {
		return nil, err
	}
	entries, _ := fs.ReadDir(dir.FS(), incoming) // else the next call deletes them
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			_ = dir.Remove(path.Join(incoming, e.Name())) // another process may have done so
		}
	}
	// The rules of a repository around the folder are not for documents that were put.
	const rules = ".ragflowignore"
	if _, err = dir.Lstat(rules); errors.Is(err, fs.ErrNotExist) {
		err = place(dir, rules, []byte("!*\n"))
	}
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return dir, nil
}

// removeMetadata deletes the metadata files of a document but the one with the ending keep.
func removeMetadata(dir *os.Root, name, keep string) (err error) {
	for _, end := range folder.MetadataEnds() {
		if end == keep {
			continue
		}
		if e := dir.Remove(name + end); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

func encodeMetadata(m state.Metadata) ([]byte, error) {
	text, err := json.Marshal(m)
	if err == nil && len(text) > maxMetadata {
		err = fmt.Errorf("%w: more than %d KiB", ErrTooLarge, maxMetadata>>10)
	}
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	return text, nil
}

// reserved are names of devices on Windows, with any ending.
var reserved = regexp.MustCompile(`(?i)^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\.|$)`)

// checkName refuses names of documents that leave the folder, that a system cannot store, that
// the walk of the folder leaves out, or that cannot be printed.
func (l *Library) checkName(name string) error {
	if l.o.Dir == "" {
		return ErrNoFolder
	}
	if len(name) > maxName || !utf8.ValidString(name) || folder.Described(name) != name {
		return ErrName
	}
	for element := range strings.SplitSeq(name, "/") {
		if element == "" || len(element) > maxElement || element != strings.TrimSpace(element) || strings.HasSuffix(element, ".") ||
			folder.Hidden(element) || reserved.MatchString(element) || strings.ContainsAny(element, `\:*?"<>|`) ||
			strings.ContainsFunc(element, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return ErrName
		}
	}
	return nil
}
