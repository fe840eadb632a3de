package ragflow

import (
	"os"
	"path/filepath"

	"example.com/ragflow/cite"
	"example.com/ragflow/corpus"
	"example.com/ragflow/state"
)

// Changed reports whether the file behind a citation does not say at that place
// what the citation quotes: it was edited since, or is gone. A document that
// lies in no file never changes.
func Changed(c state.Citation) bool { return (&sourceFiles{}).changed(c) }

// IsChanged looks anew whether the file says what is quoted; Changed tells how
// it was when the reply was made.
func (c CitationReply) IsChanged() bool {
	return filepath.IsAbs(c.Path) && c.Quote != "" && (&sourceFiles{}).at(c.Path, state.Citation{Source: c.Source, Start: c.Start, End: c.End, Quote: c.Quote})
}

// sourceFiles reads the files behind citations, each once.
type sourceFiles struct {
	raw    map[string][]byte // as they are; nil where they cannot be read
	parsed map[string][]byte // their text, where it is not the file itself
}

func (f *sourceFiles) changed(c state.Citation) bool {
	if c.Root == "" || c.Root == rootGiven {
		return false
	}
	return f.at(citedPath(c.Root, c.Source), c)
}

// at is changed for the file at a path.
func (f *sourceFiles) at(path string, c state.Citation) bool {
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
	text, ok := f.parsed[path]
	if !ok {
		if doc, err := corpus.Load(corpus.File{Source: c.Source, Path: path}, corpus.Limits{}); err == nil && (doc.Converted || doc.Kind == corpus.HTML) {
			text = []byte(doc.Text)
		}
		f.parsed[path] = text
	}
	return !cite.Verify(c, text)
}
