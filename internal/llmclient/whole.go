package llmclient

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// streamed turns the response of a server that does not stream into a stream of one
// piece, so that there is one way to read an answer. It reads and closes the body.
func streamed(r *http.Response) (*http.Response, error) {
	defer func() { _ = r.Body.Close() }() // it was read
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var whole map[string]any
	if err := json.Unmarshal(body, &whole); err != nil {
		return nil, responseError("what came is not the JSON of an answer")
	}
	choices, _ := whole["choices"].([]any)
	for _, c := range choices {
		if choice, ok := c.(map[string]any); ok {
			choice["delta"] = choice["message"]
			delete(choice, "message")
		}
	}
	if whole["object"] == "response" { // of the protocol Responses
		whole = map[string]any{"response": whole}
	}
	if whole["type"] == "message" { // of the protocol Messages
		whole = map[string]any{"message": whole}
	}
	piece, err := json.Marshal(whole)
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	r.Header = r.Header.Clone()
	r.Header.Set("Content-Type", mediaStream)
	r.Body = io.NopCloser(bytes.NewReader(fmt.Appendf(nil, "data: %s\n\ndata: [DONE]\n\n", piece)))
	r.ContentLength = -1
	return r, nil
}
