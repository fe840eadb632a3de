package llmclient

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"example.com/ragflow/llm"
)

// Post sends a value as JSON to a path below the base URL, such as "/rerank", and returns the
// body of the answer. It is for what servers offer beside the protocol of OpenAI: limits, key
// and errors are those of other calls. model is for errors.
func (c *Client) Post(ctx context.Context, model, path string, value any) ([]byte, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	w := c.watch(ctx, model, "")
	defer w.end()
	request, err := http.NewRequestWithContext(w.ctx, http.MethodPost, strings.TrimRight(c.endpoint.BaseURL, "/")+path, bytes.NewReader(data)) //nolint:contextcheck // w.ctx is the context of the caller, with a timer
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", mediaJSON)
	request.Header.Set("Accept", mediaJSON)
	for name, value := range c.options.Headers {
		request.Header.Set(name, value)
	}
	var body []byte
	response, err := c.http.Do(request)
	if err == nil {
		defer func() { _ = response.Body.Close() }() // read completely or not needed
		body, err = io.ReadAll(response.Body)
	}
	if err != nil {
		return nil, c.fault(w, err)
	}
	if response.StatusCode < http.StatusBadRequest {
		return body, nil
	}
	e := &llm.Error{Provider: c.endpoint.Provider, Model: model}
	refused(e, response.StatusCode, response.Header, message(body))
	e.Detail = c.redact(e.Detail)
	return nil, e
}

// message returns the error message in a body, in the forms that servers have.
func message(body []byte) string {
	var said struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  string          `json:"detail"`
	}
	if json.Unmarshal(body, &said) != nil {
		return ""
	}
	var inner struct {
		Message string `json:"message"`
	}
	var text string
	switch {
	case json.Unmarshal(said.Error, &inner) == nil && inner.Message != "":
		return inner.Message
	case json.Unmarshal(said.Error, &text) == nil && text != "":
		return text
	case said.Message != "":
		return said.Message
	}
	return said.Detail
}
