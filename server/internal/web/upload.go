package web

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"

	"example.com/ragflow/ingest"
	"example.com/ragflow/server/internal/door"
)

const (
	maxFile = 64 << 20 // bytes of a document; package ingest takes no larger one
	maxForm = 4 << 30  // bytes of all documents of one form, which is never held in memory
)

// outcome is what became of a file of a form.
type outcome struct {
	Name, Status, Reason string
	Refused              bool // it was not stored
}

// add stores the files of a form one after another as they come. A page with scripts sends each on its own.
func (s *site) add(w http.ResponseWriter, r *http.Request) {
	sh, err := s.filled(r)
	r.Body = door.Upload(w, r)
	var parts *multipart.Reader
	if err == nil {
		if parts, err = r.MultipartReader(); err != nil {
			err = &door.StatusError{Status: http.StatusUnsupportedMediaType, Err: err}
		}
	}
	page, refused, whole := addedPage{Collection: sh.name}, false, false
	for err == nil {
		var p *multipart.Part
		if p, err = parts.NextPart(); err != nil {
			whole = err == io.EOF //nolint:errorlint // NextPart wraps the end of a form that is cut off
			err = &door.StatusError{Status: http.StatusBadRequest, Err: err}
			break
		}
		if name := fileName(p); name != "" {
			var o outcome
			o, err = put(r.Context(), sh.library, name, p)
			page.Files, refused = append(page.Files, o), refused || o.Refused
		}
	}
	switch {
	case whole && refused:
		s.show(w, r, http.StatusUnprocessableEntity, "added", page)
	case whole:
		toShelf(w, r, sh.name)
	default:
		s.fault(w, r, err)
	}
}

type addedPage struct {
	Collection string
	Files      []outcome
}

// filled opens the collection that the files of a request go into, and makes it if it is missing.
func (s *site) filled(r *http.Request) (shelf, error) {
	ctx := r.Context()
	sh, err := s.shelf(ctx, r.URL.Query().Get("collection"))
	if err != nil {
		return sh, err
	}
	name, missing := s.target(ctx, sh)
	if name == "" {
		return sh, ingest.ErrNoFolder
	}
	if missing {
		if _, err = s.a.Collections().Make(ctx, name); err != nil && !errors.Is(err, ingest.ErrCollectionExists) {
			return sh, err
		}
	}
	return s.shelf(ctx, name)
}

// put stores one file. An error of the file is its outcome; another one ends the form.
func put(ctx context.Context, l *ingest.Library, name string, content io.Reader) (outcome, error) {
	d, err := l.Put(ctx, name, content, nil)
	if errors.Is(err, ingest.ErrName) || errors.Is(err, ingest.ErrKind) || errors.Is(err, ingest.ErrTooLarge) {
		return outcome{name, ingest.StatusFailed, err.Error(), true}, nil
	}
	return outcome{Name: name, Status: d.Status, Reason: d.Reason}, err
}

// fileName returns the name of a file with its folders, which multipart.Part.FileName leaves out; "" for a part
// that is no file.
func fileName(p *multipart.Part) string {
	_, values, err := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
	if err != nil {
		return ""
	}
	return values["filename"]
}

// toShelf sends a person to a collection.
func toShelf(w http.ResponseWriter, r *http.Request, name string) {
	to := "/documents"
	if name != "" {
		to += "?collection=" + url.QueryEscape(name)
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// change answers a form that changes the collection which it names.
func (s *site) change(do func(*http.Request, shelf) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := r.FormValue("collection")
		sh, err := s.shelf(r.Context(), name)
		if err == nil {
			err = do(r, sh)
		}
		switch {
		case err != nil:
			s.fault(w, r, err)
		case r.Header.Get("Hx-Request") != "":
			w.WriteHeader(http.StatusNoContent)
		default:
			toShelf(w, r, name)
		}
	}
}

// index compares the folders of a collection with its index.
func index(r *http.Request, sh shelf) error {
	sh.library.Start(r.Context())
	return nil
}

// stop cancels a job. The index keeps what the job has read.
func stop(r *http.Request, sh shelf) error {
	for _, j := range sh.library.Jobs() {
		if j.Status().ID == r.PathValue("job") { // else it has ended
			j.Cancel()
		}
	}
	return nil
}

// deleteDocument deletes a document that was put. One of a folder is unknown here.
func deleteDocument(r *http.Request, sh shelf) error {
	return sh.library.Delete(r.Context(), r.FormValue("name"))
}

// deletion is what a person is asked to confirm: a document, or a collection if Name is empty.
type deletion struct{ Action, Collection, Name string }

// confirm asks whether a document or a collection shall be deleted.
func (s *site) confirm(w http.ResponseWriter, r *http.Request) {
	d := deletion{r.URL.Path, r.FormValue("collection"), r.FormValue("name")}
	sh, err := s.shelf(r.Context(), d.Collection)
	if err == nil && d.Action == "/documents/delete" {
		var found []ingest.Document
		if found, err = sh.library.Documents(r.Context(), d.Name); err == nil && len(found) == 0 {
			err = ingest.ErrNoDocument
		}
	}
	if err != nil {
		s.fault(w, r, err)
		return
	}
	s.show(w, r, http.StatusOK, "delete", d)
}

// makeCollection makes a collection, and deleteCollection deletes one.
func (s *site) makeCollection(w http.ResponseWriter, r *http.Request) {
	name, err := r.FormValue("name"), ingest.ErrNoCollection
	if door.Of(r.Context()).Uses(name) {
		_, err = s.a.Collections().Make(r.Context(), name)
	}
	if err != nil {
		s.fault(w, r, err)
		return
	}
	toShelf(w, r, name)
}

func (s *site) deleteCollection(w http.ResponseWriter, r *http.Request) {
	name, err := r.FormValue("collection"), ingest.ErrNoCollection
	switch {
	case name == "" || !door.Of(r.Context()).Uses(name):
	case name == s.a.Config().Collection:
		err = &door.StatusError{Status: http.StatusConflict, Err: errors.New("the server was started with this collection, so it stays")}
	default:
		err = s.a.Collections().Delete(name)
	}
	if err != nil {
		s.fault(w, r, err)
		return
	}
	toShelf(w, r, "")
}
