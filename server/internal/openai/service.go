package openai

import (
	"cmp"
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/graph"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server/internal/door"
)

// service answers the requests of clients of OpenAI's API.
type service struct {
	a      *ragflow.Assistant
	config ragflow.Config
	public string // address of the server in links; empty: as the client has it
	begun  time.Time
}

// object is a JSON object.
type object = map[string]any

// Routes are the routes of the protocol. public is the address of the server in links; empty: as each client has it.
func Routes(a *ragflow.Assistant, public string) (routes []door.Route) {
	s := &service{a: a, config: a.Config(), public: public, begun: a.Config().Clock()}
	for _, call := range []struct {
		pattern string
		do      func(http.ResponseWriter, *http.Request) (any, error)
	}{
		{"GET /v1/models", s.models},
		{"GET /v1/models/{id...}", s.model},
		{"POST /v1/chat/completions", s.chat},
		{"POST /v1/responses", s.respond},
		{"GET /v1/responses/{id}", s.response},
		{"POST /v1/conversations", s.makeConversation},
		{"GET /v1/conversations/{id}", s.conversation},
		{"GET /v1/conversations/{id}/items", s.items},
		{"POST /v1/embeddings", s.embed},
		{"GET /v1/passages/{run}/{n}", s.passage},
	} {
		routes = append(routes, door.Route{
			Pattern: call.pattern, Scope: tokens.Ask, Long: strings.HasPrefix(call.pattern, http.MethodPost), MaxBody: maxMessages, Do: door.Answer(fail, call.do),
			Errors: func(w http.ResponseWriter, _ *http.Request, status int, message string) {
				fail(w, &refusal{status: status, message: message})
			},
		})
	}
	return routes
}

// maxMessages is the most bytes of a request with all messages of a conversation.
const maxMessages = 8 << 20

// refusal is the error of a request that cannot be met as it is.
type refusal struct {
	status      int
	param, code any // text, or nil
	message     string
}

func (e *refusal) Error() string { return e.message }

// refuse returns the error of a parameter.
func refuse(param, message string) error {
	return &refusal{http.StatusBadRequest, param, "unsupported_value", message}
}

// kinds are the type and the code of errors by status. Others are faults of the server.
var kinds = map[int][2]any{
	http.StatusBadRequest:            {"invalid_request_error", nil},
	http.StatusUnauthorized:          {"authentication_error", "invalid_api_key"},
	http.StatusForbidden:             {"permission_error", nil},
	http.StatusNotFound:              {"not_found_error", "not_found"},
	http.StatusConflict:              {"conflict_error", nil},
	http.StatusRequestEntityTooLarge: {"invalid_request_error", nil},
	http.StatusTooManyRequests:       {"rate_limit_error", "rate_limit_exceeded"},
}

// problem is how the protocol describes an error.
func (e *refusal) problem() object {
	kind, known := kinds[e.status]
	if !known {
		kind = [2]any{"server_error", "server_error"}
	}
	return object{"error": object{"message": e.message, "type": kind[0], "param": e.param, "code": cmp.Or(e.code, kind[1])}}
}

// fail answers a request with an error.
func fail(w http.ResponseWriter, err error) {
	e := refused(err)
	if e.status == http.StatusConflict || e.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "2")
	}
	door.WriteJSON(w, e.status, e.problem())
}

// refused is an error as there is something to say of it.
func refused(err error) *refusal {
	if e, ok := errors.AsType[*refusal](err); ok {
		return e
	}
	e := &refusal{status: door.Status(err), message: err.Error()}
	switch {
	case errors.Is(err, ingest.ErrNoDocuments), errors.Is(err, fs.ErrNotExist), e.status == http.StatusUnprocessableEntity:
		e.status = http.StatusBadRequest
	case errors.Is(err, ragflow.ErrReadOnly):
		e.status = http.StatusForbidden
	case errors.Is(err, graph.ErrNotFound):
		e.message = "there is no such response, conversation or thread"
	}
	return e
}
