package api

import (
	"context"
	"io"
	"net/http"
	"slices"

	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server/internal/door"
)

// maxUpload is the size of the largest document that package ingest takes.
const maxUpload = 64 << 20

// collectionsReply lists collections.
type collectionsReply struct {
	Collections []string `json:"collections"`
}

type collectionRequest struct {
	Name string `json:"-" path:"name"`
}

// in names a collection in the query of a request.
type in struct {
	Collection string `json:"-" query:"collection"`
}

type jobRequest struct {
	Collection string `json:"-" query:"collection"`
	ID         string `json:"-" path:"id"`
}

type syncRequest struct {
	Collection string   `json:"collection,omitempty"`
	Paths      []string `json:"paths,omitempty"` // that may have changed; empty: all
}

type jobsReply struct {
	Jobs []ingest.JobStatus `json:"jobs"`
}

func (s *service) documents() []endpoint {
	put := answered[documentRequest, ingest.Document]("PUT /api/documents/{name...}", tokens.Upload, "Store the body as a document and index it", "", s.put)
	put.body, put.MaxBody = "application/octet-stream", maxUpload
	return []endpoint{
		call("GET /api/collections", tokens.Read, "The named collections", s.collections),
		call("PUT /api/collections/{name}", tokens.Admin, "Make a collection", s.makeCollection),
		call("DELETE /api/collections/{name}", tokens.Admin, "Delete a collection with the documents that were put into it", s.deleteCollection),
		call("GET /api/documents", tokens.Read, "What is indexed, file by file", s.list), long(put),
		long(answered[documentRequest, none]("GET /api/documents/{name...}", tokens.Read, "A document as it was put", "application/octet-stream", s.get)),
		call("DELETE /api/documents/{name...}", tokens.Upload, "Delete a document that was put", s.deleteDocument),
		call("POST /api/jobs", tokens.Upload, "Index what has changed in the folders", s.sync),
		call("GET /api/jobs", tokens.Upload, "Jobs under way and those that ended last", s.jobs),
		call("GET /api/jobs/{id}", tokens.Upload, "One job", s.job),
		long(answered[jobRequest, none]("GET /api/jobs/{id}/events", tokens.Upload, "The progress of a job as events", "text/event-stream", s.watch)),
		call("DELETE /api/jobs/{id}", tokens.Upload, "Cancel a job; what it has indexed stays", s.cancelJob),
	}
}

func (s *service) collections(ctx context.Context, _ *none) (collectionsReply, error) {
	names, err := s.a.Collections().List()
	p := door.Of(ctx)
	return collectionsReply{slices.DeleteFunc(append([]string{}, names...), func(n string) bool { return !p.Uses(n) })}, err
}

func (s *service) makeCollection(ctx context.Context, r *collectionRequest) (none, error) {
	if !door.Of(ctx).Uses(r.Name) {
		return none{}, ingest.ErrNoCollection
	}
	_, err := s.a.Collections().Make(ctx, r.Name)
	return none{}, err
}

func (s *service) deleteCollection(ctx context.Context, r *collectionRequest) (none, error) {
	if !door.Of(ctx).Uses(r.Name) {
		return none{}, ingest.ErrNoCollection
	}
	return none{}, s.a.Collections().Delete(r.Name)
}

// library opens a collection that the caller may use.
func (s *service) library(ctx context.Context, name string) (*ingest.Library, error) {
	return door.Documents{Assistant: s.a}.Library(ctx, name)
}

func (s *service) list(ctx context.Context, r *in) (*ingest.Stats, error) {
	l, err := s.library(ctx, r.Collection)
	if err != nil {
		return nil, err
	}
	return l.Stats(ctx, true)
}

type documentRequest struct {
	Name       string `json:"-" path:"name"`
	Collection string `json:"-" query:"collection"`
}

// put streams the body of a request into a document.
func (s *service) put(w http.ResponseWriter, r *http.Request) (any, error) {
	l, err := s.library(r.Context(), r.URL.Query().Get("collection"))
	if err != nil {
		return nil, err
	}
	d, err := l.Put(r.Context(), r.PathValue("name"), door.Upload(w, r), nil)
	if err != nil {
		return nil, err
	}
	door.WriteJSON(w, http.StatusCreated, d)
	return door.Sent{}, nil
}

// get sends the bytes of a document, which no browser shows as a page of this server.
func (s *service) get(w http.ResponseWriter, r *http.Request) (any, error) {
	l, err := s.library(r.Context(), r.URL.Query().Get("collection"))
	if err != nil {
		return nil, err
	}
	f, err := l.Open(r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", "attachment")
	_, _ = io.Copy(w, f) // a reader that has left needs nothing
	return door.Sent{}, nil
}

func (s *service) deleteDocument(ctx context.Context, r *documentRequest) (none, error) {
	l, err := s.library(ctx, r.Collection)
	if err == nil {
		err = l.Delete(ctx, r.Name)
	}
	return none{}, err
}

func (s *service) sync(ctx context.Context, r *syncRequest) (ingest.JobStatus, error) {
	l, err := s.library(ctx, r.Collection)
	if err != nil {
		return ingest.JobStatus{}, err
	}
	return l.Start(ctx, r.Paths...).Status(), nil
}

func (s *service) jobs(ctx context.Context, r *in) (jobsReply, error) {
	l, err := s.library(ctx, r.Collection)
	if err != nil {
		return jobsReply{}, err
	}
	out := jobsReply{[]ingest.JobStatus{}}
	for _, j := range l.Jobs() {
		out.Jobs = append(out.Jobs, j.Status())
	}
	return out, nil
}

func (s *service) findJob(ctx context.Context, collection, id string) (*ingest.Job, error) {
	l, err := s.library(ctx, collection)
	if err != nil {
		return nil, err
	}
	for _, j := range l.Jobs() {
		if j.Status().ID == id {
			return j, nil
		}
	}
	return nil, door.Errorf(http.StatusNotFound, "there is no such job")
}

func (s *service) job(ctx context.Context, r *jobRequest) (ingest.JobStatus, error) {
	j, err := s.findJob(ctx, r.Collection, r.ID)
	if err != nil {
		return ingest.JobStatus{}, err
	}
	return j.Status(), nil
}

func (s *service) cancelJob(ctx context.Context, r *jobRequest) (none, error) {
	j, err := s.findJob(ctx, r.Collection, r.ID)
	if err == nil {
		j.Cancel()
	}
	return none{}, err
}

// watch streams the progress of a job, and its status at the end.
func (s *service) watch(w http.ResponseWriter, r *http.Request) (any, error) {
	j, err := s.findJob(r.Context(), r.URL.Query().Get("collection"), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	ctx, out := door.OpenStream(w, r)
	defer out.Close()
	for p := range j.Watch(ctx) {
		_ = out.SendJSON("progress", p) // its error ends ctx
	}
	if ctx.Err() == nil {
		_ = out.SendJSON("end", j.Status()) // the last one
	}
	return door.Sent{}, nil
}
