package ragflow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"example.com/ragflow/ingest/load"
	"example.com/ragflow/search/index"
	"example.com/ragflow/skills/cite"
	"example.com/ragflow/state"
)

// Changed reports whether the file behind a citation does not say at that place
// what the citation quotes: it was edited since, or is gone. A document that
// lies in no file never changes.
func Changed(ctx context.Context, c state.Citation) bool {
	return (&sourceFiles{}).changed(ctx, c)
}

// IsChanged looks anew whether the file says what is quoted; Changed tells how
// it was when the reply was made.
func (c CitationReply) IsChanged(ctx context.Context) bool {
	return filepath.IsAbs(c.Path) && c.Quote != "" && (&sourceFiles{}).at(ctx, c.Path, state.Citation{Source: c.Source, Start: c.Start, End: c.End, Quote: c.Quote})
}

// sourceFiles reads the files behind citations, each once.
type sourceFiles struct {
	raw    map[string][]byte // as they are; nil where they cannot be read
	parsed map[string][]byte // their text, where it is not the file itself
	known  func(state.Citation) (hash string)
}

// knownFiles tells the hash of the file that the index read a citation's passage
// from; "" where it does not hold the passage. It spares reading a PDF of a
// thousand pages again with each answer.
func (a *Assistant) knownFiles(ctx context.Context) func(state.Citation) string {
	files := map[string]map[string]index.File{} // by root and source
	return func(c state.Citation) string {
		e := a.engine.Load()
		if e == nil {
			return ""
		}
		chunks, err := e.searcher.Chunks(ctx, []string{c.Chunk})
		if err != nil || len(chunks) != 1 {
			return ""
		}
		from, to := c.Start-chunks[0].Start, c.End-chunks[0].Start
		if from < 0 || from > to || to > len(chunks[0].Text) || chunks[0].Text[from:to] != c.Quote {
			return ""
		}
		if files[c.Root] == nil {
			if files[c.Root], err = a.index.Files(ctx, c.Root); err != nil {
				return ""
			}
		}
		return files[c.Root][c.Source].Hash
	}
}

func (f *sourceFiles) changed(ctx context.Context, c state.Citation) bool {
	if c.Root == "" || c.Root == rootGiven {
		return false
	}
	return f.at(ctx, citedPath(c.Root, c.Source), c)
}

// at is changed for the file at a path.
func (f *sourceFiles) at(ctx context.Context, path string, c state.Citation) bool {
	if f.raw == nil {
		f.raw, f.parsed = map[string][]byte{}, map[string][]byte{}
	}
	raw, ok := f.raw[path]
	if !ok {
		var err error
		if raw, err = os.ReadFile(path); err != nil {
			raw = nil // gone, or not for us any more
		}
		f.raw[path] = raw
	}
	if raw == nil {
		return true
	}
	if cite.Verify(c, raw) {
		return false
	}
	if f.known != nil {
		sum := sha256.Sum256(raw)
		if f.known(c) == hex.EncodeToString(sum[:]) {
			return false
		}
	}
	text, ok := f.parsed[path]
	if !ok {
		if doc, err := load.Load(ctx, load.File{Source: c.Source, Path: path}, load.Limits{}); err == nil && doc.Converted {
			text = []byte(doc.Text)
		}
		f.parsed[path] = text
	}
	return !cite.Verify(c, text)
}
