package rerank

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"example.com/ragflow/internal/llmclient"
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
	Timeout   time.Duration     // limit until the first byte, and of a stall; default [DefaultTimeout]
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
	server *llmclient.Client
}

var _ llm.Reranker = (*Client)(nil)

// New returns a client without sending a request.
func New(c Config) (*Client, error) {
	c.Protocol = cmp.Or(c.Protocol, Documents)
	if c.Protocol != Documents && c.Protocol != Texts {
		return nil, fmt.Errorf("protocol %q of the reranker is neither %s nor %s", c.Protocol, Documents, Texts)
	}
	c.Batch, c.Timeout = cmp.Or(max(c.Batch, 0), DefaultBatch), cmp.Or(max(c.Timeout, 0), DefaultTimeout)
	server, err := llmclient.New(llm.Endpoint{
		Provider: c.Provider, BaseURL: c.BaseURL, Key: c.Key, FirstByte: c.Timeout, Stall: c.Timeout,
		MaxBytes: cmp.Or(max(c.MaxBytes, 0), DefaultMaxBytes), Transport: c.Transport,
	}, llmclient.Options{})
	if err != nil {
		return nil, err
	}
	c.Provider = server.Provider()
	return &Client{c, server}, nil
}

// Model implements llm.Reranker.
func (c *Client) Model() string { return c.config.Model }

// Rerank implements llm.Reranker. Batches are sent one after the other; the first failure ends
// the call.
func (c *Client) Rerank(ctx context.Context, query string, texts []string) (llm.Scores, error) {
	start := time.Now()
	out := llm.Scores{Model: c.config.Model, Provider: c.config.Provider, Values: make([]float64, 0, len(texts))}
	for batch := range slices.Chunk(texts, c.config.Batch) {
		values, r, err := c.batch(ctx, query, batch)
		if err != nil {
			return llm.Scores{}, err
		}
		out.Values = append(out.Values, values...)
		out.Usage.Add(llm.Usage{Input: max(r.Usage.Prompt, r.Usage.Total)})
		out.Calls++
		out.Model = cmp.Or(r.Model, out.Model)
	}
	out.Latency = time.Since(start)
	return out, nil
}

// reply is what a server answers; of [Texts] the results alone.
type reply struct {
	Model   string   `json:"model"`
	Results []result `json:"results"`
	Usage   struct {
		Prompt int64 `json:"prompt_tokens"`
		Total  int64 `json:"total_tokens"`
	} `json:"usage"`
}

// result is the score of one text in both protocols.
type result struct {
	Index     *int     `json:"index"`
	Relevance *float64 `json:"relevance_score"`
	Score     *float64 `json:"score"`
}

// batch sends one request and returns a score for each text.
func (c *Client) batch(ctx context.Context, query string, texts []string) (values []float64, r reply, err error) {
	request := map[string]any{"query": query, "texts": texts, "truncate": true}
	if c.config.Protocol == Documents {
		request = map[string]any{"query": query, "documents": texts}
		if c.config.Model != "" {
			request["model"] = c.config.Model
		}
	}
	body, err := c.server.Post(ctx, c.config.Model, "/rerank", request)
	if e, ok := errors.AsType[*llm.Error](err); ok {
		switch {
		case errors.Is(e.Kind, llm.ErrModelNotFound):
			e.Detail += "; it may not rerank, or the base URL is wrong"
		case e.Status == http.StatusNotImplemented: // llama.cpp that was started without reranking; a retry does not help
			e.Transient = false
		}
	}
	if err != nil {
		return nil, r, err
	}
	if body = bytes.TrimSpace(body); bytes.HasPrefix(body, []byte("[")) {
		err = json.Unmarshal(body, &r.Results)
	} else {
		err = json.Unmarshal(body, &r)
	}
	if err != nil {
		isHTML := bytes.HasPrefix(body, []byte("<")) // permanent: do not retry
		return nil, r, c.bad("what came is not the JSON of scores", !isHTML)
	}
	values, seen := make([]float64, len(texts)), make([]bool, len(texts))
	for _, one := range r.Results {
		score := cmp.Or(one.Relevance, one.Score)
		switch {
		case one.Index == nil || *one.Index < 0 || *one.Index >= len(texts) || seen[*one.Index]:
			return nil, r, c.bad("a score for a text that was not sent, or two for one", true)
		case score == nil || math.IsNaN(*score) || math.IsInf(*score, 0):
			return nil, r, c.bad("a result without a score", true)
		}
		values[*one.Index], seen[*one.Index] = *score, true
	}
	if len(r.Results) != len(texts) {
		return nil, r, c.bad(fmt.Sprintf("%d scores for %d texts", len(r.Results), len(texts)), true)
	}
	return values, r, nil
}

// bad is the error of a reply that cannot be used.
func (c *Client) bad(detail string, transient bool) *llm.Error {
	return &llm.Error{Provider: c.config.Provider, Model: c.config.Model, Kind: llm.ErrBadResponse, Detail: detail, Transient: transient}
}
