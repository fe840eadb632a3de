package ingest

import (
	"context"
	"fmt"

	"example.com/ragflow/internal/folder"
	"example.com/ragflow/internal/load"
)

// Text is the text of an indexed file, in which citations have their places.
type Text struct {
	Root   string `json:"root"`
	Source string `json:"source"`
	Title  string `json:"title"`
	Text   string `json:"text"`
	// Changed says that the file is not the one that was indexed, so that places may be wrong.
	Changed bool `json:"changed"`
}

// Text reads a file of the library again. The error matches ErrNoDocument for a file that is not
// indexed, and is that of the file system or of the loader for one that cannot be read now.
func (l *Library) Text(ctx context.Context, root, source string) (*Text, error) {
	files, err := l.index.Files(ctx, root)
	if err != nil {
		return nil, err
	}
	f, known := files[source]
	if !known || f.Chunks == 0 {
		return nil, fmt.Errorf("%s: %w", source, ErrNoDocument)
	}
	out := &Text{Root: root, Source: source, Title: f.Title}
	file := folder.File{Source: source, Path: Path(root, source), Size: f.Size, ModTime: f.ModTime}
	r := guarded(job{file: file}, func() read {
		doc, err := load.Load(ctx, file, load.Limits{OCR: l.o.OCR})
		out.Text, out.Changed = doc.Text, doc.Hash != f.Hash
		return read{problem: err}
	})
	if r.problem != nil {
		return nil, r.problem
	}
	return out, nil
}
