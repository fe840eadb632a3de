package web

import (
	"cmp"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"example.com/ragflow/ingest"
	"example.com/ragflow/state"
)

// shownPassages is how many passages of a document one page shows.
const shownPassages = 100

// previewPage says how a file was read.
type previewPage struct {
	ingest.FileStatus

	Document string // address of the document
	Shelf    string // address of its collection

	Shown    bool // passages and metadata are shown
	Metadata state.Metadata
	Passages []state.Chunk
	From     int // the first passage that is shown, from 1
	Next     int // the first one after those; 0 if there is none
}

// preview shows what the index knows of a file, and on request how it is cut.
func (s *site) preview(r *http.Request) (answer, error) {
	ctx, id := r.Context(), r.PathValue("id")
	l, root, source, err := s.documents.Find(ctx, id)
	if err != nil {
		return answer{}, err
	}
	collection, _, _ := strings.Cut(id, "/")
	p := previewPage{Document: "/d/" + escaped(id), Shelf: shelfAt(strings.TrimPrefix(collection, "-"))}
	if p.FileStatus, err = l.File(ctx, root, source); err != nil {
		return answer{}, err
	}
	p.Title = cmp.Or(p.Title, path.Base(source))
	if from, wrong := strconv.Atoi(r.URL.Query().Get("passages")); wrong == nil && p.Chunks > 0 {
		var all []state.Chunk
		all, err = l.Passages(ctx, root, source)
		p.Shown = true
		p.take(all, max(1, from))
	}
	return answer{name: "preview", data: p}, err
}

// take shows passages from one on.
func (p *previewPage) take(all []state.Chunk, from int) {
	if len(all) == 0 {
		return
	}
	p.Metadata = all[0].Metadata
	first := min(from-1, len(all))
	last := min(first+shownPassages, len(all))
	p.Passages, p.From = all[first:last], first+1
	if last < len(all) {
		p.Next = last + 1
	}
}

// escaped is an id of a document in the path of an address.
func escaped(id string) string { return (&url.URL{Path: id}).EscapedPath() }
