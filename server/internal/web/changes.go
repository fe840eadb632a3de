package web

import (
	"errors"
	"net/http"
	"net/url"

	"example.com/ragflow/ingest"
	"example.com/ragflow/server/internal/door"
)

// shelfAt is the address of a collection; "" is that of the caller.
func shelfAt(name string) string {
	if name == "" {
		return "/documents"
	}
	return "/documents?collection=" + url.QueryEscape(name)
}

// change answers a form that changes the collection which it names.
func (s *site) change(do func(*http.Request, shelf) error) func(*http.Request) (answer, error) {
	return func(r *http.Request) (answer, error) {
		name := r.FormValue("collection")
		sh, err := s.shelf(r.Context(), name)
		if err == nil {
			err = do(r, sh)
		}
		return answer{to: shelfAt(name)}, err
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

// makeCollection makes a collection, and deleteCollection deletes one.
func (s *site) makeCollection(r *http.Request) (answer, error) {
	name, err := r.FormValue("name"), ingest.ErrNoCollection
	if door.Of(r.Context()).Uses(name) {
		_, err = s.a.Collections().Make(r.Context(), name)
	}
	return answer{to: shelfAt(name)}, err
}

func (s *site) deleteCollection(r *http.Request) (answer, error) {
	name, err := r.FormValue("collection"), ingest.ErrNoCollection
	switch {
	case name == "" || !door.Of(r.Context()).Uses(name):
	case name == s.a.Config().Collection:
		err = &door.StatusError{Status: http.StatusConflict, Err: errors.New("the server was started with this collection, so it stays")}
	default:
		err = s.a.Collections().Delete(name)
	}
	return answer{to: shelfAt("")}, err
}
