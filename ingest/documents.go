package ingest

import (
	"bytes"
	"context"
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
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/internal/load"
	"example.com/ragflow/state"
)

// Errors of single documents; match them with errors.Is.
var (
	ErrNoDocument = errors.New("there is no such document")
	ErrNoFolder   = errors.New("the library has no folder for documents")
	ErrName       = errors.New("the name of a document is a relative path of at most 500 bytes, without the characters \\ : * ? \" < > |, hidden files and names that some systems reserve")
	ErrKind       = load.ErrNoLoader // no document of this kind can be read
	ErrTooLarge   = load.ErrTooLarge // a document with more than MaxDocument bytes, or too much metadata
)

// MaxDocument is the most bytes of a document.
const MaxDocument = 64 << 20

const (
	maxName     = 500      // bytes
	maxElement  = 240      // bytes of a part of a name; file systems take 255, and metadata files add to a name
	maxMetadata = 60 << 10 // bytes; load reads a little more
	metaEnd     = ".meta.json"
)

// Document is a document in Options.Dir.
type Document struct {
	Name   string    `json:"name"` // path with slashes in the folder, which is its source in the index
	Bytes  int64     `json:"bytes"`
	Time   time.Time `json:"time"`   // when it or its metadata was put
	Status string    `json:"status"` // waiting, indexed, empty, skipped or failed
	Reason string    `json:"reason"` // why it is empty, was skipped or failed
	Title  string    `json:"title"`
	Chunks int       `json:"chunks"`
}

// StatusWaiting is the status of a document that is not in the index yet.
const StatusWaiting = "waiting"

// Put stores a document with a name of its own in Options.Dir, in place of an earlier one of
// that name, and indexes it. Metadata describes the document as front matter does; nil: only
// the document itself does. A document that cannot be read is stored, and its status says so.
//
// Errors match ErrName, ErrKind, ErrTooLarge, ErrNoFolder, ErrReadOnly, or are those of r and
// of the file system. After an error the folder holds the earlier document or the new one,
// whole; the next sync indexes it.
func (l *Library) Put(ctx context.Context, name string, r io.Reader, metadata state.Metadata) (Document, error) {
	if err := l.store(name, r, metadata); err != nil {
		return Document{}, fmt.Errorf("put %q: %w", name, err)
	}
	return l.refresh(ctx, name)
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
	head, err := encodeMetadata(front)
	if err != nil {
		return Document{}, fmt.Errorf("put %q: %w", name, err)
	}
	return l.Put(ctx, name, io.MultiReader(strings.NewReader("---\n"+string(head)+"\n---\n\n"), strings.NewReader(text)), nil)
}

// Delete deletes a document of Options.Dir, its metadata and what is indexed of it. The error
// matches ErrNoDocument if there is none.
func (l *Library) Delete(ctx context.Context, name string) error {
	dir, err := l.dir(name, true)
	if err != nil {
		return fmt.Errorf("delete %q: %w", name, err)
	}
	l.storing.Lock()
	info, err := dir.Lstat(filepath.FromSlash(name))
	switch {
	case err == nil && info.IsDir():
		err = fs.ErrNotExist
	case err == nil:
		err = errors.Join(dir.Remove(filepath.FromSlash(name)), removeMetadata(dir, name, ""))
	}
	l.storing.Unlock()
	if err = errors.Join(missing(err), dir.Close()); err != nil {
		return fmt.Errorf("delete %q: %w", name, err)
	}
	_, err = l.refresh(ctx, name)
	return err
}

// Open opens a document of Options.Dir for reading. The error matches ErrNoDocument if there
// is none.
func (l *Library) Open(name string) (*os.File, error) {
	dir, err := l.dir(name, false)
	if err != nil {
		return nil, fmt.Errorf("open %q: %w", name, err)
	}
	defer func() { _ = dir.Close() }() // nothing was written
	info, err := dir.Lstat(filepath.FromSlash(name))
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err == nil {
		var f *os.File
		if f, err = dir.Open(filepath.FromSlash(name)); err == nil {
			return f, nil
		}
	}
	return nil, fmt.Errorf("open %q: %w", name, missing(err))
}

// Documents lists the documents of Options.Dir by name.
func (l *Library) Documents(ctx context.Context) ([]Document, error) { return l.documents(ctx, "") }

// documents lists the documents that lie at a path below Options.Dir; empty: all.
func (l *Library) documents(ctx context.Context, below string) ([]Document, error) {
	out := []Document{}
	root, err := load.Resolve(l.o.Dir)
	if err != nil {
		return out, nil // none was put
	}
	known, err := l.index.Files(ctx, root)
	if err != nil {
		return nil, err
	}
	for file, err := range load.FilesBelow(ctx, root, below) {
		left, ok := errors.AsType[*load.FileError](err)
		switch {
		case ok:
			source, relErr := filepath.Rel(root, left.Path)
			if info, err := os.Lstat(left.Path); err == nil && relErr == nil && info.Mode().IsRegular() {
				out = append(out, Document{Name: filepath.ToSlash(source), Bytes: info.Size(), Time: info.ModTime(), Status: StatusSkipped, Reason: left.Err.Error()})
			}
		case err != nil:
			return nil, err
		default:
			d := Document{Name: file.Source, Bytes: file.Size, Time: file.ModTime, Status: StatusWaiting}
			if f, ok := known[file.Source]; ok {
				d.Status, d.Reason, d.Title, d.Chunks = statusOf(f), reasonOf(f), f.Title, f.Chunks
			}
			out = append(out, d)
		}
	}
	return out, nil
}

// refresh syncs one document and returns it; the zero Document if it is gone.
func (l *Library) refresh(ctx context.Context, name string) (Document, error) {
	if _, err := l.Sync(ctx, filepath.Join(l.o.Dir, filepath.FromSlash(name))); err != nil {
		return Document{}, err
	}
	list, err := l.documents(ctx, name)
	if err != nil || len(list) == 0 {
		return Document{}, err
	}
	return list[0], nil
}

// store writes a document and its metadata into the folder.
func (l *Library) store(name string, r io.Reader, metadata state.Metadata) (err error) {
	var beside []byte
	if metadata != nil {
		if beside, err = encodeMetadata(metadata); err != nil {
			return err
		}
	}
	dir, err := l.dir(name, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	if !load.HasLoader(name) {
		return fmt.Errorf("%w: %s", ErrKind, path.Ext(name))
	}
	document, err := receive(dir, r)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Remove(document) }() // it is renamed unless there is an error
	name = filepath.FromSlash(name)
	if err := dir.MkdirAll(filepath.Dir(name), 0o700); err != nil {
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

// incoming is the folder in Options.Dir for files that are being written.
const incoming = ".incoming"

// receive writes a temporary file and returns its name.
func receive(dir *os.Root, r io.Reader) (name string, err error) {
	if err := dir.MkdirAll(incoming, 0o700); err != nil {
		return "", err
	}
	name = filepath.Join(incoming, newID())
	f, err := dir.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	n, err := io.Copy(f, io.LimitReader(r, MaxDocument+1))
	if err == nil && n > MaxDocument {
		err = fmt.Errorf("%w: more than %d MiB", ErrTooLarge, MaxDocument>>20)
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

// sweep deletes what writers left in incoming whose process ended a day ago or earlier.
func sweep(dir *os.Root) {
	entries, _ := fs.ReadDir(dir.FS(), incoming) // nothing was put yet
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			_ = dir.Remove(filepath.Join(incoming, e.Name())) // another process may have done so
		}
	}
}

// dir opens the folder for a document whose name it checks. To write, it makes the folder.
func (l *Library) dir(name string, write bool) (*os.Root, error) {
	switch {
	case l.o.Dir == "":
		return nil, ErrNoFolder
	case write && l.index.ReadOnly():
		return nil, ErrReadOnly
	case !documentName(name):
		return nil, ErrName
	}
	if write {
		if err := os.MkdirAll(l.o.Dir, 0o700); err != nil {
			return nil, err
		}
	}
	dir, err := os.OpenRoot(l.o.Dir)
	if err != nil {
		return nil, missing(err)
	}
	if !write {
		return dir, nil
	}
	sweep(dir)
	// The rules of a repository around the folder are not for documents that were put.
	const rules = ".ragflowignore"
	if _, err := dir.Lstat(rules); errors.Is(err, fs.ErrNotExist) {
		if err := place(dir, rules, []byte("!*\n")); err != nil {
			return nil, errors.Join(err, dir.Close())
		}
	}
	return dir, nil
}

// removeMetadata deletes the metadata files of a document but the one with the ending keep.
func removeMetadata(dir *os.Root, name, keep string) (err error) {
	for _, end := range load.MetadataEnds() {
		if end == keep {
			continue
		}
		if e := dir.Remove(filepath.FromSlash(name) + end); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// missing returns ErrNoDocument for an error that says that there is no file.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNoDocument
	}
	return err
}

func encodeMetadata(m state.Metadata) ([]byte, error) {
	text, err := json.Marshal(m)
	switch {
	case err != nil:
		return nil, fmt.Errorf("metadata: %w", err)
	case len(text) > maxMetadata:
		return nil, fmt.Errorf("metadata: %w: more than %d KiB", ErrTooLarge, maxMetadata>>10)
	}
	return text, nil
}

// reserved are names of devices on Windows, with any ending.
var reserved = regexp.MustCompile(`(?i)^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])$`)

// documentName reports whether a document may have a name: a path below the folder that
// every system can store, that the walk of the folder finds, and that is printable.
func documentName(name string) bool {
	if len(name) > maxName || !utf8.ValidString(name) || load.Described(name) != name {
		return false
	}
	for element := range strings.SplitSeq(name, "/") {
		stem, _, _ := strings.Cut(element, ".")
		switch {
		case element == "", len(element) > maxElement, load.Hidden(element), reserved.MatchString(strings.TrimSpace(stem)),
			element != strings.TrimSpace(element), strings.HasSuffix(element, "."), strings.ContainsAny(element, `\:*?"<>|`),
			strings.ContainsFunc(element, func(r rune) bool { return !unicode.IsPrint(r) }):
			return false
		}
	}
	return true
}
