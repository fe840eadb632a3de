package door

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"slices"

	"example.com/ragflow"
	"example.com/ragflow/graph"
	"example.com/ragflow/ingest"
)

// Status is the status that an error of a request has: 404 for what is not there or not the
// caller's, 409 for a thread that is busy, 499 for a caller that has left.
func Status(err error) int {
	if e, ok := errors.AsType[*StatusError](err); ok {
		return e.Status
	}
	switch {
	case is[*http.MaxBytesError](err):
		return http.StatusRequestEntityTooLarge
	case is[*graph.EntryError](err), is[*graph.AnswerError](err), is[*ragflow.ArchiveError](err):
		return http.StatusUnprocessableEntity
	case is[*graph.MoveError](err):
		return http.StatusConflict
	}
	for _, k := range []struct {
		status int
		errs   []error
	}{
		{http.StatusBadRequest, []error{io.ErrUnexpectedEOF}}, // of a body
		{http.StatusNotFound, []error{graph.ErrNotFound, ingest.ErrNoCollection, ingest.ErrNoDocument, fs.ErrNotExist}},
		{http.StatusConflict, []error{
			graph.ErrBusy, graph.ErrExists, graph.ErrSuperseded, ingest.ErrCollectionExists, ingest.ErrNoDocuments, ingest.ErrReadOnly,
			ragflow.ErrReadOnly, ragflow.ErrNothingToResume, ragflow.ErrNoAnswer, ragflow.ErrSealed,
		}},
		{http.StatusRequestEntityTooLarge, []error{ingest.ErrTooLarge}},
		{http.StatusUnsupportedMediaType, []error{ingest.ErrKind}},
		{http.StatusUnprocessableEntity, []error{
			ingest.ErrCollectionName, ingest.ErrName, ingest.ErrNoFolder, ingest.ErrOutside,
			ragflow.ErrEmptyQuery, ragflow.ErrFiltered, ragflow.ErrThreadName, ragflow.ErrNoSuchModel, ragflow.ErrNoModel,
		}},
		{http.StatusServiceUnavailable, []error{graph.ErrDrained}},
		{499, []error{context.Canceled}},
	} {
		if slices.ContainsFunc(k.errs, func(known error) bool { return errors.Is(err, known) }) {
			return k.status
		}
	}
	return http.StatusInternalServerError
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
