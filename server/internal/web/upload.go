package web

import (
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
	ctx := r.Context()
	sh, err := s.shelf(ctx, r.URL.Query().Get("collection"))
	if err != nil {
		s.fault(w, r, err)
		return
	}
	name, missing := s.target(ctx, sh)
	if name == "" {
		s.fault(w, r, ingest.ErrNoFolder)
		return
	}
	if missing {
		_, err = s.a.Collections().Make(ctx, name)
	}
	if err == nil || errors.Is(err, ingest.ErrCollectionExists) {
		sh, err = s.shelf(ctx, name)
	}
	r.Body = door.Upload(w, r)
	var parts *multipart.Reader
	if err == nil {
		if parts, err = r.MultipartReader(); err != nil {
			err = &door.BodyError{Status: http.StatusUnsupportedMediaType, Err: err}
		}
	}
	var files []outcome
	for err == nil {
		var part *multipart.Part
		if part, err = parts.NextPart(); err != nil {
			break
		}
		if file := fileName(part); file != "" {
			var o outcome
			o, err = put(r, sh.library, file, part)
			files = append(files, o)
		}
	}
	switch {
	case !errors.Is(err, io.EOF):
		if door.Status(err) == http.StatusInternalServerError {
			err = &door.BodyError{Status: http.StatusBadRequest, Err: err}
		}
		s.fault(w, r, err)
	case refused(files):
		s.show(w, r, http.StatusUnprocessableEntity, "added", addedPage{name, files})
	default:
		toShelf(w, r, name)
	}
}

type addedPage struct {
	Collection string
	Files      []outcome
}

func refused(files []outcome) bool {
	for _, f := range files {
		if f.Refused {
			return true
		}
	}
	return false
}

// put stores one file. An error of the file is its outcome; another one ends the form.
func put(r *http.Request, l *ingest.Library, name string, content io.Reader) (outcome, error) {
	d, err := l.Put(r.Context(), name, content, nil)
	if err == nil {
		return outcome{Name: name, Status: d.Status, Reason: d.Reason}, nil
	}
	o := outcome{Name: name, Status: ingest.StatusFailed, Reason: err.Error(), Refused: true}
	for _, own := range []error{ingest.ErrName, ingest.ErrKind, ingest.ErrTooLarge} {
		if errors.Is(err, own) {
			return o, nil
		}
	}
	return o, err
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

// index compares the folders of a collection with its index.
func (s *site) index(w http.ResponseWriter, r *http.Request) {
	sh, err := s.shelf(r.Context(), r.FormValue("collection"))
	if err != nil {
		s.fault(w, r, err)
		return
	}
	sh.library.Start(r.Context())
	toShelf(w, r, r.FormValue("collection"))
}

// stop cancels a job. What it has indexed stays.
func (s *site) stop(w http.ResponseWriter, r *http.Request) {
	sh, err := s.shelf(r.Context(), r.FormValue("collection"))
	if err != nil {
		s.fault(w, r, err)
		return
	}
	for _, j := range sh.library.Jobs() {
		if j.Status().ID == r.PathValue("job") { // else it has ended
			j.Cancel()
		}
	}
	if r.Header.Get("Hx-Request") != "" {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	toShelf(w, r, r.FormValue("collection"))
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

// deleteDocument deletes a document that was put. One of a folder is unknown here.
func (s *site) deleteDocument(w http.ResponseWriter, r *http.Request) {
	sh, err := s.shelf(r.Context(), r.FormValue("collection"))
	if err == nil {
		err = sh.library.Delete(r.Context(), r.FormValue("name"))
	}
	if err != nil {
		s.fault(w, r, err)
		return
	}
	toShelf(w, r, r.FormValue("collection"))
}

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
		err = &door.BodyError{Status: http.StatusConflict, Err: errors.New("the server was started with this collection, so it stays")}
	default:
		err = s.a.Collections().Delete(name)
	}
	if err != nil {
		s.fault(w, r, err)
		return
	}
	toShelf(w, r, "")
}
