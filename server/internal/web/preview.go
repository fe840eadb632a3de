package web

import (
	"fmt"
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

	ID       string
	Name     string
	Document string // address of the document
	Shelf    string // address of its collection

	Shown    bool // passages and metadata are shown
	Metadata []field
	Passages []state.Chunk
	From     int // the first passage that is shown, from 1
	Next     int // the first one after those; 0 if there is none
	Problem  string
}

// preview shows what the index knows of a file, and on request how it is cut.
func (s *site) preview(w http.ResponseWriter, r *http.Request) {
	ctx, id := r.Context(), r.PathValue("id")
	l, root, source, err := s.documents.Find(ctx, id)
	if err != nil {
		s.fault(w, r, err)
		return
	}
	p := previewPage{ID: id, Name: path.Base(source), Document: "/d/" + escaped(id), Shelf: "/documents"}
	if p.FileStatus, err = l.File(ctx, root, source); err != nil {
		s.fault(w, r, err)
		return
	}
	if name, _, _ := strings.Cut(id, "/"); name != "-" {
		p.Shelf += "?collection=" + url.QueryEscape(name)
	}
	if p.Title == "" {
		p.Title = p.Name
	}
	if from, err := strconv.Atoi(r.URL.Query().Get("passages")); err == nil && p.Chunks > 0 {
		p.Shown = true
		all, err := l.Passages(ctx, root, source)
		if err != nil {
			p.Problem = err.Error()
		}
		p.take(all, max(1, from))
	}
	s.show(w, r, http.StatusOK, "preview", p)
}

// take shows passages from one on.
func (p *previewPage) take(all []state.Chunk, from int) {
	if len(all) == 0 {
		return
	}
	for _, key := range sortedKeys(all[0].Metadata) {
		p.Metadata = append(p.Metadata, field{Name: key, Title: cut(fmt.Sprint(all[0].Metadata[key]), 500)})
	}
	first := min(from-1, len(all))
	last := min(first+shownPassages, len(all))
	p.Passages, p.From = all[first:last], first+1
	if last < len(all) {
		p.Next = last + 1
	}
}

// escaped is an id of a document in the path of an address.
func escaped(id string) string { return (&url.URL{Path: id}).EscapedPath() }
