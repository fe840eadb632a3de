package api

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"example.com/ragflow"
	"example.com/ragflow/graph"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/stored"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server/internal/door"
)

// endpoint is a route with what is needed to describe it.
type endpoint struct {
	door.Route

	summary string
	in, out reflect.Type // nil: no JSON
	media   string       // of a reply that is no JSON
	body    string       // media type of a request that is no JSON
}

// call makes an endpoint of a function. Fields of In with a tag "path" or "query" come from there;
// all others are the JSON of the body. Numbers there are from 0 to the tag "max".
func call[In, Out any](pattern string, scope tokens.Scope, summary string, do func(context.Context, *In) (Out, error)) endpoint {
	e := endpoint{summary: summary, in: reflect.TypeFor[In](), out: reflect.TypeFor[Out]()}
	e.Route = door.Route{Pattern: pattern, Scope: scope, Do: func(w http.ResponseWriter, r *http.Request) {
		in, err := read[In](r)
		if err != nil {
			fail(w, err)
			return
		}
		out, err := do(r.Context(), in)
		if err != nil {
			fail(w, err)
			return
		}
		if _, empty := any(out).(none); empty {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		door.WriteJSON(w, http.StatusOK, out)
	}}
	return e
}

// none is the reply of an endpoint that says nothing.
type none struct{}

// read reads a request.
func read[In any](r *http.Request) (*In, error) {
	in := new(In)
	if r.Method != http.MethodGet && r.Method != http.MethodDelete {
		if err := door.ReadStrict(r, in); err != nil {
			return nil, err
		}
	}
	v := reflect.ValueOf(in).Elem()
	for i := range v.NumField() {
		tag, text := v.Type().Field(i).Tag, ""
		if name := tag.Get("path"); name != "" {
			text = r.PathValue(name)
		} else if name := tag.Get("query"); name != "" {
			text = r.URL.Query().Get(name)
		}
		if text == "" {
			continue
		}
		if f := v.Field(i); f.CanInt() {
			n, err := strconv.ParseInt(text, 10, 64)
			most, unlimited := strconv.ParseInt(tag.Get("max"), 10, 64)
			if err != nil || n < 0 || unlimited == nil && n > most {
				return nil, fmt.Errorf("%w: %s is %q, but must be a number from %s", errMeaning, tag.Get("query"), text, strings.TrimSuffix("0 to "+tag.Get("max"), " to "))
			}
			f.SetInt(n)
		} else {
			f.SetString(text)
		}
	}
	return in, nil
}

// fail says what went wrong.
func fail(w http.ResponseWriter, err error) {
	status := door.Status(err)
	switch { // the same words for what is not there and for what is another's
	case errors.Is(err, graph.ErrNotFound):
		door.Problem(w, http.StatusNotFound, "there is no such thread or run")
		return
	case errors.Is(err, ingest.ErrNoCollection):
		door.Problem(w, http.StatusNotFound, ingest.ErrNoCollection.Error())
		return
	}
	for _, k := range []struct {
		status int
		errs   []error
	}{
		{http.StatusNotFound, []error{fs.ErrNotExist, errNoJob}},
		{http.StatusConflict, []error{ragflow.ErrReadOnly, ragflow.ErrNothingToResume, ragflow.ErrNoAnswer, ragflow.ErrSealed}},
		{http.StatusUnprocessableEntity, []error{
			ragflow.ErrEmptyQuery, ragflow.ErrFiltered, ragflow.ErrThreadName, ragflow.ErrNoSuchModel, ragflow.ErrNoModel, errMeaning,
		}},
	} {
		for _, known := range k.errs {
			if errors.Is(err, known) {
				status = k.status
			}
		}
	}
	_, entry := errors.AsType[*graph.EntryError](err)
	if _, archive := errors.AsType[*stored.ArchiveError](err); archive || entry {
		status = http.StatusUnprocessableEntity
	}
	door.Problem(w, status, err.Error())
}

// errMeaning is matched by errors of requests that make no sense.
var errMeaning = errors.New("the request makes no sense")
