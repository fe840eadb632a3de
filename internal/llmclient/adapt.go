package llmclient

import (
	"errors"
	"net/http"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"example.com/ragflow/llm"
)

// thinkingRoom is added to the token limit of a model that thinks before it answers,
// because the limit counts what it thinks.
const thinkingRoom = 8192

// adaptation is how the requests to a model differ from the usual ones. Models and
// servers refuse parameters that others need, so it is learnt from their refusals.
type adaptation struct {
	leaveOut     map[string]bool // parameters that the server refused
	otherLimit   bool            // the limit has the other one of its two names, or there is no other
	thinks       bool            // the limit needs room for thinking
	changesSoFar int
}

// maxChanges bounds how often a refused request is sent in another form.
const maxChanges = 4

// optional are the parameters that a request can do without.
var optional = []string{"temperature", "top_p", "stop_sequences", "stop", "stream_options", "response_format"}

// after returns the adaptation for the next try of a request that failed, and whether
// another try is useful. raw is the error of the SDK, or nil. It does not change a.
func (a adaptation) after(raw, err error, r llm.Request) (adaptation, bool) {
	if a.changesSoFar == maxChanges {
		return a, false
	}
	a.changesSoFar++
	if e, ok := errors.AsType[*llm.Error](err); ok && e.Thought && r.MaxTokens > 0 && !a.thinks {
		a.thinks = true
		return a, true
	}
	api, ok := errors.AsType[*sdk.Error](raw)
	if !ok || api.StatusCode != http.StatusBadRequest && api.StatusCode != http.StatusUnprocessableEntity {
		return a, false
	}
	for _, name := range []string{"max_completion_tokens", "max_tokens"} {
		if names(api, name) && !a.otherLimit && r.MaxTokens > 0 {
			a.otherLimit = true
			return a, true
		}
	}
	for _, name := range optional {
		if names(api, name) && !a.leaveOut[name] && (name != "response_format" || r.Schema == nil) {
			out := map[string]bool{name: true}
			for known := range a.leaveOut {
				out[known] = true
			}
			a.leaveOut = out
			return a, true
		}
	}
	return a, false
}

// names reports whether an error is about a parameter.
func names(e *sdk.Error, parameter string) bool {
	if e.Param != "" {
		return e.Param == parameter
	}
	return strings.Contains(e.Message, parameter)
}

// apply returns the request to send, and the options that leave parameters out of it.
func (a adaptation) apply(r llm.Request) (llm.Request, []option.RequestOption) {
	if a.thinks && r.MaxTokens > 0 {
		r.MaxTokens += thinkingRoom
	}
	var options []option.RequestOption
	for name := range a.leaveOut {
		if name != "response_format" { // a schema is never left out
			options = append(options, option.WithJSONDel(name))
		}
	}
	return r, options
}
