package api

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/ingest"
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

// answered makes an endpoint whose handler takes the request itself. In describes the request, and Out the reply;
// media is the type of a reply that is no JSON.
func answered[In, Out any](
	pattern string, scope tokens.Scope, summary, media string, do func(http.ResponseWriter, *http.Request) (any, error),
) endpoint {
	return endpoint{
		summary: summary, in: reflect.TypeFor[In](), out: reflect.TypeFor[Out](), media: media,
		Route: door.Route{Pattern: pattern, Scope: scope, Do: door.Answer(fail, do)},
	}
}

// long is an endpoint that may answer for minutes.
func long(e endpoint) endpoint {
	e.Long = true
	return e
}

// call makes an endpoint of a function. Fields of In with a tag "path" or "query" come from there;
// all others are the JSON of the body. Numbers there are from 0 to the tag "max".
func call[In, Out any](pattern string, scope tokens.Scope, summary string, do func(context.Context, *In) (Out, error)) endpoint {
	return answered[In, Out](pattern, scope, summary, "", func(_ http.ResponseWriter, r *http.Request) (any, error) {
		in, err := read[In](r)
		if err != nil {
			return nil, err
		}
		return do(r.Context(), in)
	})
}

// none is the reply of an endpoint that says nothing.
type none = door.Nothing

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
				return nil, senseless("%s is %q, but must be a number from %s", tag.Get("query"), text, strings.TrimSuffix("0 to "+tag.Get("max"), " to "))
			}
			f.SetInt(n)
		} else {
			f.SetString(text)
		}
	}
	return in, nil
}

// fail says what went wrong, in the same words for what is not there and for what is another's.
func fail(w http.ResponseWriter, err error) {
	message := err.Error()
	switch {
	case errors.Is(err, graph.ErrNotFound):
		message = "there is no such thread or run"
	case errors.Is(err, ingest.ErrNoCollection):
		message = ingest.ErrNoCollection.Error()
	}
	door.Problem(w, door.Status(err), message)
}

// senseless is the error of a request that makes no sense.
func senseless(format string, args ...any) error {
	return door.Errorf(http.StatusUnprocessableEntity, format, args...)
}
