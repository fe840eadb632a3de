package rerank

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"example.com/ragflow/llm"
)

// Protocols of a [Config].
const (
	Documents = "documents" // Cohere, Jina, llama.cpp
	Texts     = "texts"     // Text Embeddings Inference
)

// Defaults of a [Config].
const (
	DefaultTimeout  = 30 * time.Second
	DefaultMaxBytes = 4 << 20
	DefaultBatch    = 32 // the default maximum of Text Embeddings Inference
)

// Config has the address and the limits of a reranker. String and GoString hide the key.
type Config struct {
	Provider  string            // name for errors; default the host of BaseURL
	BaseURL   string            // without user, query and fragment
	Key       string            // may be empty for an address on this machine
	Model     string            // may be empty for servers with one model
	Protocol  string            // default [Documents]
	Batch     int               // texts per request; default [DefaultBatch]
	Timeout   time.Duration     // limit of a request; default [DefaultTimeout]
	MaxBytes  int64             // maximum size of a reply; default [DefaultMaxBytes]
	Transport http.RoundTripper // default a clone of http.DefaultTransport
}

// String returns the name and address of the provider, without the key.
func (c Config) String() string { return c.Provider + " at " + c.BaseURL }

// GoString returns String, so that no verb of fmt prints the key.
func (c Config) GoString() string { return c.String() }

// Client calls a reranker over HTTP. It is safe for concurrent use.
type Client struct {
	config Config
	http   http.Client
}

var _ llm.Reranker = (*Client)(nil)

// New returns a client without sending a request.
func New(c Config) (*Client, error) {
	u, err := llm.CheckBaseURL(c.BaseURL)
	if err != nil {
		return nil, err
	}
	if c.Provider == "" {
		c.Provider = u.Host
	}
	switch {
	case strings.ContainsFunc(c.Key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, fmt.Errorf("the key for %s contains characters that are not allowed in a key, such as a space or a line break", c.Provider)
	case c.Key == "" && !llm.Loopback(u):
		return nil, &llm.Error{Provider: c.Provider, Model: c.Model, Kind: llm.ErrCredentials, Detail: "no key is set"}
	case c.Protocol == "":
		c.Protocol = Documents
	case c.Protocol != Documents && c.Protocol != Texts:
		return nil, fmt.Errorf("protocol %q of the reranker is neither %s nor %s", c.Protocol, Documents, Texts)
	}
	if c.Batch <= 0 {
		c.Batch = DefaultBatch
	}
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.MaxBytes <= 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	if c.Transport == nil {
		c.Transport = http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // see its documentation
	}
	return &Client{config: c, http: http.Client{
		Transport: c.Transport,
		// Requests contain the person's text, so they go only to the configured host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Model implements llm.Reranker.
func (c *Client) Model() string { return c.config.Model }

// Rerank implements llm.Reranker. Batches are sent one after the other; the first failure ends
// the call.
func (c *Client) Rerank(ctx context.Context, query string, texts []string) (llm.Scores, error) {
	start := time.Now()
	out := llm.Scores{Model: c.config.Model, Provider: c.config.Provider, Values: make([]float64, 0, len(texts))}
	for batch := range slices.Chunk(texts, c.config.Batch) {
		r, err := c.batch(ctx, query, batch)
		if err != nil {
			return llm.Scores{}, err
		}
		out.Values = append(out.Values, r.values...)
		out.Usage.Add(llm.Usage{Input: r.tokens})
		out.Calls++
		if r.model != "" {
			out.Model = r.model
		}
	}
	out.Latency = time.Since(start)
	return out, nil
}

// reply is the result of one batch.
type reply struct {
	values []float64
	model  string
	tokens int64
}

// batch sends one request.
func (c *Client) batch(parent context.Context, query string, texts []string) (reply, error) {
	ctx, cancel := context.WithTimeout(parent, c.config.Timeout)
	defer cancel()
	request, err := c.request(ctx, query, texts)
	if err != nil {
		return reply{}, err
	}
	response, err := c.http.Do(request)
	if err == nil {
		defer func() { _ = response.Body.Close() }() // read completely or not needed
		var body []byte
		if body, err = io.ReadAll(io.LimitReader(response.Body, c.config.MaxBytes+1)); err == nil {
			return c.read(response, body, len(texts))
		}
	}
	switch {
	case parent.Err() != nil:
		return reply{}, fmt.Errorf("ask %s: %w", c.config.Provider, parent.Err())
	case errors.Is(err, context.DeadlineExceeded):
		return reply{}, c.fault(llm.ErrTimeout, "no answer in "+c.config.Timeout.String(), true)
	case response != nil:
		return reply{}, c.fault(llm.ErrBadResponse, "the answer was cut off", true)
	}
	return reply{}, c.fault(llm.ErrUnavailable, strings.ReplaceAll(err.Error(), request.URL.String(), "its address"), true)
}

func (c *Client) request(ctx context.Context, query string, texts []string) (*http.Request, error) {
	body := map[string]any{"query": query}
	if c.config.Protocol == Texts {
		body["texts"] = texts
		body["truncate"] = true
	} else {
		body["documents"] = texts
		if c.config.Model != "" {
			body["model"] = c.config.Model
		}
	}
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(c.config.BaseURL, "/")+"/rerank", bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	if c.config.Key != "" {
		r.Header.Set("Authorization", "Bearer "+c.config.Key)
	}
	return r, nil
}

// read decodes a reply for n texts.
func (c *Client) read(response *http.Response, body []byte, n int) (reply, error) {
	switch {
	case int64(len(body)) > c.config.MaxBytes:
		return reply{}, c.fault(llm.ErrBadResponse, fmt.Sprintf("more than %d bytes", c.config.MaxBytes), false)
	case response.StatusCode >= http.StatusBadRequest:
		return reply{}, c.refused(response, body)
	case response.StatusCode != http.StatusOK:
		return reply{}, c.fault(llm.ErrBadResponse, fmt.Sprintf("status %d instead of an answer; is the base URL right?", response.StatusCode), false)
	}
	var out struct {
		Model   string   `json:"model"`
		Results []result `json:"results"`
		Usage   struct {
			Prompt int64 `json:"prompt_tokens"`
			Total  int64 `json:"total_tokens"`
		} `json:"usage"`
	}
	var err error
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		err = json.Unmarshal(body, &out.Results)
	} else {
		err = json.Unmarshal(body, &out)
	}
	if err != nil {
		page := strings.HasPrefix(response.Header.Get("Content-Type"), "text/html") // which comes again
		return reply{}, c.fault(llm.ErrBadResponse, "what came is not the JSON of scores", !page)
	}
	values := make([]float64, n)
	seen := make([]bool, n)
	for _, r := range out.Results {
		score := r.Relevance
		if score == nil {
			score = r.Score
		}
		switch {
		case r.Index == nil || *r.Index < 0 || *r.Index >= n || seen[*r.Index]:
			return reply{}, c.fault(llm.ErrBadResponse, "a score for a text that was not sent, or two for one", true)
		case score == nil || math.IsNaN(*score) || math.IsInf(*score, 0):
			return reply{}, c.fault(llm.ErrBadResponse, "a result without a score", true)
		}
		values[*r.Index], seen[*r.Index] = *score, true
	}
	if len(out.Results) != n {
		return reply{}, c.fault(llm.ErrBadResponse, fmt.Sprintf("%d scores for %d texts", len(out.Results), n), true)
	}
	return reply{values: values, model: out.Model, tokens: max(out.Usage.Prompt, out.Usage.Total)}, nil
}

// result is the score of one text in both protocols.
type result struct {
	Index     *int     `json:"index"`
	Relevance *float64 `json:"relevance_score"`
	Score     *float64 `json:"score"`
}

// refused converts a response with an error status.
func (c *Client) refused(response *http.Response, body []byte) error {
	status := response.StatusCode
	e := c.fault(llm.ErrRefused, fmt.Sprintf("status %d", status), false)
	e.Status = status
	if m := message(body); m != "" {
		e.Detail += ": " + c.redact(m)
	}
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		e.Kind, e.Detail = llm.ErrCredentials, "" // providers quote the key in the message
	case status == http.StatusNotFound:
		e.Kind = llm.ErrModelNotFound
		e.Detail += "; it may not rerank, or the base URL is wrong"
	case status == http.StatusTooManyRequests:
		e.Kind, e.Transient = llm.ErrRateLimited, true
		if s, err := strconv.ParseFloat(response.Header.Get("Retry-After"), 64); err == nil && s > 0 {
			e.RetryAfter = time.Duration(min(s, time.Hour.Seconds()) * float64(time.Second))
		}
	case status == http.StatusRequestTimeout || status == http.StatusGatewayTimeout:
		e.Kind, e.Transient = llm.ErrTimeout, true
	case status >= http.StatusInternalServerError:
		// llama.cpp answers this if it was not started with reranking; a retry does not help.
		e.Kind, e.Transient = llm.ErrUnavailable, status != http.StatusNotImplemented
	}
	return e
}

// message returns the error message in a body, in the formats of the providers.
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

func (c *Client) fault(kind error, detail string, transient bool) *llm.Error {
	return &llm.Error{Provider: c.config.Provider, Model: c.config.Model, Kind: kind, Detail: c.redact(detail), Transient: transient}
}

// detailRunes is the maximum length of a provider's message in an error.
const detailRunes = 200

// redact shortens text to one printable line without the key.
func (c *Client) redact(s string) string {
	if c.config.Key != "" {
		s = strings.ReplaceAll(s, c.config.Key, "[key]")
	}
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if runes := []rune(s); len(runes) > detailRunes {
		s = string(runes[:detailRunes]) + "…"
	}
	return s
}
