package door

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"example.com/ragflow/internal/tokens"
)

// Route is one pattern of a protocol.
type Route struct {
	Pattern string       // of http.ServeMux, with a method
	Scope   tokens.Scope // that a token needs; "" is open to everybody who names an allowed host
	Long    bool         // it may answer for minutes, and counts against Limits.Long
	MaxBody int64        // bytes; 0: 1 MiB; below zero: the handler bounds it itself
	Errors  ErrorForm    // how the protocol says that something failed; nil: Problem
	Do      http.HandlerFunc
}

// ErrorForm answers a request that failed.
type ErrorForm func(w http.ResponseWriter, r *http.Request, status int, message string)

// Problem is the form of errors of our own API: {"error": message}.
func Problem(w http.ResponseWriter, status int, message string) {
	WriteJSON(w, status, map[string]string{"error": message})
}

// WriteJSON answers with a value as JSON, compressed if the reader takes that.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	var body bytes.Buffer
	out := json.NewEncoder(&body)
	out.SetEscapeHTML(false) // nosniff is set, and clients show the text
	if err := out.Encode(v); err != nil {
		status = http.StatusInternalServerError
		body.Reset()
		body.WriteString(`{"error":"the answer has no JSON form"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	text := zipped(w, body.Bytes())
	w.WriteHeader(status)
	_, _ = w.Write(text) // a reader that has left needs nothing
}

// StatusError is an error with the status of its response.
type StatusError struct {
	Status int
	Err    error
}

func (e *StatusError) Error() string { return e.Err.Error() }
func (e *StatusError) Unwrap() error { return e.Err }

// Errorf is fmt.Errorf for a [*StatusError].
func Errorf(status int, format string, args ...any) error {
	return &StatusError{status, fmt.Errorf(format, args...)}
}

// Nothing is the result of a handler whose answer is empty.
type Nothing struct{}

// Sent is the result of a handler that has answered by itself.
type Sent struct{}

// Answer is a handler that sends what do returns as JSON. An error is sent by fail.
func Answer(fail func(w http.ResponseWriter, err error), do func(w http.ResponseWriter, r *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch out, err := do(w, r); {
		case err != nil:
			fail(w, err)
		case out == Nothing{}:
			w.WriteHeader(http.StatusNoContent)
		case out == Sent{}:
		default:
			WriteJSON(w, http.StatusOK, out)
		}
	}
}

// ReadJSON reads the body of a request into v. Unknown fields are ignored: see [ReadStrict]. The
// error is a [*StatusError]. An empty body leaves v as it is.
func ReadJSON(r *http.Request, v any) error { return readJSON(r, v, false) }

// ReadStrict is ReadJSON that refuses unknown fields.
func ReadStrict(r *http.Request, v any) error { return readJSON(r, v, true) }

func readJSON(r *http.Request, v any, strict bool) error {
	body, err := io.ReadAll(r.Body)
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return Errorf(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", large.Limit)
	}
	if err != nil {
		return Errorf(http.StatusBadRequest, "read the body: %w", err)
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	return decode(body, v, strict)
}

// DecodeStrict is ReadStrict for JSON that is there.
func DecodeStrict(body []byte, v any) error { return decode(body, v, true) }

func decode(body []byte, v any, strict bool) error {
	in := json.NewDecoder(bytes.NewReader(body))
	if strict {
		in.DisallowUnknownFields()
	}
	err := in.Decode(v)
	if err == nil && in.More() {
		err = errors.New("something follows the JSON value")
	}
	if err != nil {
		return Errorf(http.StatusUnprocessableEntity, "the body cannot be used: %w", err)
	}
	return nil
}

// Upload returns the body of a request, which may take long, as long as something comes.
func Upload(w http.ResponseWriter, r *http.Request) io.ReadCloser {
	return slowBody{r.Body, http.NewResponseController(w)}
}

type slowBody struct {
	io.ReadCloser

	c *http.ResponseController
}

func (b slowBody) Read(p []byte) (int, error) {
	_ = b.c.SetReadDeadline(time.Now().Add(bodyTime)) // else the limits of the server hold
	return b.ReadCloser.Read(p)                       //nolint:wrapcheck // a reader
}
