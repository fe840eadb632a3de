package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"example.com/ragflow/internal/folder"
)

// Root returns the root that documents at a path are indexed under: absolute and free of
// symbolic links.
func Root(path string) (string, error) { return folder.Resolve(path) }

// CheckPath reports whether there is a file or folder at a path of documents. The error
// matches fs.ErrNotExist or is that of the file system.
func CheckPath(path string) error {
	_, err := folder.Resolve(path)
	return err
}

// folders returns those of Options.Folders and Options.Dir that exist.
func (l *Library) folders() (out []string) {
	if l.o.Folders != nil {
		out = l.o.Folders()
	}
	if l.o.Dir != "" {
		out = append(slices.Clone(out), l.o.Dir)
	}
	return slices.DeleteFunc(out, func(f string) bool { return CheckPath(f) != nil })
}

// roots returns the roots of Options.Docs and of the other folders. A root that no longer
// exists keeps its name.
func (l *Library) roots() (named, further []string) {
	resolved := func(paths []string) (out []string) {
		for _, p := range paths {
			root, err := resolveGone(p)
			if err != nil {
				root = p
			}
			out = append(out, root)
		}
		return out
	}
	return resolved(l.o.Docs), resolved(l.folders())
}

// resolveGone is folder.Resolve for a path that may not exist: the part that exists is free of
// symbolic links.
func resolveGone(path string) (string, error) {
	root, err := folder.Resolve(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return root, err
	}
	abs, err := filepath.Abs(path)
	if err != nil || filepath.Dir(abs) == abs {
		return abs, err
	}
	parent, err := resolveGone(filepath.Dir(abs))
	return filepath.Join(parent, filepath.Base(abs)), err
}

// target is a root to sync, or the file or folder at below in it.
type target struct {
	path  string // as it was given
	root  string
	below string // with slashes; empty: all
}

// covers reports whether a source of the root belongs to the target.
func (t target) covers(source string) bool {
	return t.below == "" || source == t.below || strings.HasPrefix(source, t.below+"/")
}

// targets finds paths in the roots of the library.
func (l *Library) targets(ctx context.Context, paths []string) (out []target, err error) {
	roots := slices.Concat(l.roots())
	if len(l.o.Docs) == 0 {
		collections, err := l.index.Collections(ctx)
		if err != nil {
			return nil, err
		}
		for _, c := range collections {
			roots = append(roots, c.Root)
		}
	}
	for _, p := range paths {
		t, err := targetOf(p, roots)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// targetOf finds a path in the innermost root that holds it. Of a path below a root, the last
// element may be a link.
func targetOf(path string, roots []string) (target, error) {
	root, err := folder.Resolve(path)
	if slices.Contains(roots, root) || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return target{path: path, root: root}, err
	}
	if gone, _ := resolveGone(path); slices.Contains(roots, gone) {
		return target{}, err
	}
	parent, err := resolveGone(filepath.Dir(path))
	t := target{path: path}
	for _, root := range roots {
		below, relErr := filepath.Rel(root, filepath.Join(parent, filepath.Base(path)))
		if relErr == nil && filepath.IsLocal(below) && len(root) > len(t.root) {
			t.root, t.below = root, folder.Described(filepath.ToSlash(below))
		}
	}
	if err == nil && t.root == "" {
		err = fmt.Errorf("%s: %w", path, ErrOutside)
	}
	return t, err
}

// Forget deletes all files below a root from the index and counts them. The root need not
// exist any more.
func (l *Library) Forget(ctx context.Context, path string) (int, error) {
	root, err := resolveGone(path)
	if err != nil {
		return 0, err
	}
	unlock, err := l.lock(ctx, root)
	if err != nil {
		return 0, err
	}
	defer unlock()
	files, err := l.index.Files(ctx, root)
	if err != nil || len(files) == 0 {
		return 0, err
	}
	if err := l.index.Delete(ctx, root, slices.Collect(maps.Keys(files))...); err != nil {
		return 0, err
	}
	if err := l.index.Publish(ctx, root); err != nil {
		return 0, err
	}
	return len(files), l.publish(ctx, newReport(), false, true)
}

// unread is an error if all documents are files that a person named and that hold no text
// that can be read. A question about them ends with the reason, and they leave the index.
func (l *Library) unread(ctx context.Context) error {
	var why error
	named, _ := l.roots()
	for _, root := range named {
		name := filepath.Base(root)
		if folder.Locate(root, name) != root {
			return nil // a folder
		}
		files, err := l.index.Files(ctx, root)
		if f := files[name]; err != nil || f.Source == "" || f.Chunks > 0 || bare(f) {
			return err
		} else if why == nil {
			why = fmt.Errorf("%s: %w: %s", name, ErrUnread, reasonOf(f))
		}
	}
	for _, root := range named {
		if err := l.index.Delete(ctx, root, filepath.Base(root)); err != nil {
			return err
		}
	}
	return why
}
