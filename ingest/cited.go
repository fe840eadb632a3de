package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"

	"example.com/ragflow/internal/folder"
	"example.com/ragflow/internal/load"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// CitedFiles finds citations whose file has changed since. It reads each file once. It is not
// safe for concurrent use.
type CitedFiles struct {
	raw    map[string][]byte // by path; nil if the file cannot be read
	parsed map[string][]byte // text of the file, if it differs from its bytes
	known  func(context.Context, state.Citation) (hash string)
}

// CitedFiles returns a checker that parses no file that is in the index as it is now. chunks
// reads chunks of the index by id.
func (l *Library) CitedFiles(chunks func(ctx context.Context, ids []string) ([]state.Chunk, error)) *CitedFiles {
	files := map[string]map[string]search.File{} // by root and source
	return &CitedFiles{known: func(ctx context.Context, c state.Citation) string {
		found, err := chunks(ctx, []string{c.Chunk})
		if err != nil || len(found) != 1 {
			return ""
		}
		from, to := c.Start-found[0].Start, c.End-found[0].Start
		if from < 0 || from > to || to > len(found[0].Text) || found[0].Text[from:to] != c.Quote {
			return ""
		}
		if files[c.Root] == nil {
			if files[c.Root], err = l.index.Files(ctx, c.Root); err != nil {
				return ""
			}
		}
		return files[c.Root][c.Source].Hash
	}}
}

// maxCited is the most bytes of a file that is searched for a quote. No larger file is indexed.
const maxCited = 64 << 20

// Changed reports whether the file of a citation does not hold the quote at its place any
// more, because it was edited or deleted. A citation without a root never changes.
func (f *CitedFiles) Changed(ctx context.Context, c state.Citation) bool {
	if c.Root == "" {
		return false
	}
	return f.ChangedAt(ctx, Path(c.Root, c.Source), c)
}

// ChangedAt is Changed for the file at a path.
func (f *CitedFiles) ChangedAt(ctx context.Context, path string, c state.Citation) bool {
	if f.raw == nil {
		f.raw, f.parsed = map[string][]byte{}, map[string][]byte{}
	}
	raw, ok := f.raw[path]
	if !ok {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() <= maxCited {
			if raw, err = os.ReadFile(path); err != nil {
				raw = nil
			}
		}
		f.raw[path] = raw
	}
	if raw == nil {
		return true
	}
	if c.QuotedIn(raw) {
		return false
	}
	if f.known != nil {
		sum := sha256.Sum256(raw)
		if f.known(ctx, c) == hex.EncodeToString(sum[:]) {
			return false
		}
	}
	text, ok := f.parsed[path]
	if !ok {
		if doc, err := load.Load(ctx, folder.File{Source: c.Source, Path: path}, load.Limits{}); err == nil && doc.Converted {
			text = []byte(doc.Text)
		}
		f.parsed[path] = text
	}
	return !c.QuotedIn(text)
}

// Path returns the path of a source: below its root, or the root itself if that is a single
// file. Without a root it is the source.
func Path(root, source string) string {
	if root == "" {
		return source
	}
	return folder.Locate(root, source)
}
