package llmclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/pagination"

	"example.com/ragflow/llm"
)

// Defaults of an [llm.Endpoint].
const (
	firstByte = 2 * time.Minute
	stall     = time.Minute
	total     = 10 * time.Minute
	maxBytes  = 16 << 20

	localFirstByte = 10 * time.Minute // a server on this machine may read a long prompt with its processor
	localTotal     = 30 * time.Minute
)

// Options are the properties of a protocol. The zero value is that of OpenAI for chats.
type Options struct {
	Protocol string                 // name for errors, if a server that lists a model may not speak it; empty: it does
	Headers  map[string]string      // of every request; without Authorization the key is sent as a bearer token
	Models   []option.RequestOption // of the request for the list of models
	Statuses map[string]int         // HTTP status of an error in a stream, by its type
}

// Client calls one provider. It is safe for concurrent use.
type Client struct {
	endpoint llm.Endpoint // with all defaults
	options  Options
	http     *http.Client
	requests []option.RequestOption // of every request
}

// New returns a client without sending a request. It reads no environment variables. The key
// is sent only to the host of BaseURL.
func New(e llm.Endpoint, o Options) (*Client, error) {
	u, err := llm.CheckBaseURL(e.BaseURL)
	if err != nil {
		return nil, err
	}
	if e.Provider == "" {
		e.Provider = u.Host
	}
	if strings.ContainsFunc(e.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("the key for %s contains characters that are not allowed in a key, such as a space or a line break", e.Provider)
	}
	if e.Key == "" && !llm.Loopback(u) {
		return nil, &llm.Error{Provider: e.Provider, Kind: llm.ErrCredentials, Detail: "no key is set"}
	}
	if llm.Loopback(u) {
		preset(&e.FirstByte, localFirstByte)
		preset(&e.Total, localTotal)
	}
	preset(&e.FirstByte, firstByte)
	preset(&e.Stall, stall)
	preset(&e.Total, total)
	preset(&e.MaxBytes, maxBytes)
	if t, ok := http.DefaultTransport.(*http.Transport); ok && e.Transport == nil {
		e.Transport = t.Clone()
	}
	if o.Headers == nil && e.Key != "" {
		o.Headers = map[string]string{"Authorization": "Bearer " + e.Key}
	}
	c := &Client{endpoint: e, options: o, http: &http.Client{
		Transport: guard{next: e.Transport, max: e.MaxBytes, limiter: e.Limiter, firstByte: e.FirstByte},
		// Requests contain the person's text, so they go only to the configured host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	c.requests = []option.RequestOption{
		option.WithBaseURL(strings.TrimRight(e.BaseURL, "/") + "/"),
		option.WithMaxRetries(0), // llm.Retry makes and counts retries
		option.WithHTTPClient(c.http),
	}
	for name, value := range o.Headers {
		c.requests = append(c.requests, option.WithHeader(name, value))
	}
	return c, nil
}

// Requests returns the options of the SDK for every request.
func (c *Client) Requests() []option.RequestOption { return c.requests }

// Do makes a call of the SDK that returns JSON, within the limits of the endpoint, and converts its error.
func (c *Client) Do(ctx context.Context, model string, call func(context.Context) error) error {
	w := c.watch(ctx, model, mediaJSON)
	defer w.end()
	if err := call(w.ctx); err != nil { //nolint:contextcheck // w.ctx is the context of the caller, with a timer
		return c.fault(w, err)
	}
	return nil
}

func preset[T ~int64](v *T, value T) {
	if *v <= 0 {
		*v = value
	}
}

// Models returns the models of the provider. It is a cheap call to check address and key.
func (c *Client) Models(ctx context.Context) ([]string, error) {
	var page *pagination.Page[sdk.Model]
	err := c.Do(ctx, "", func(ctx context.Context) (err error) {
		service := sdk.NewModelService(c.requests...)
		page, err = service.List(ctx, c.options.Models...)
		return err
	})
	if err != nil {
		return nil, err
	}
	if page == nil {
		return nil, c.Bad("", "the list of models is missing")
	}
	names := make([]string, len(page.Data))
	for i, m := range page.Data {
		names[i] = m.ID
	}
	return names, nil
}

// listedModels is how many models an error lists.
const listedModels = 8

// withModels adds the models that the provider has to the error that it has not the one
// asked for.
func (c *Client) withModels(ctx context.Context, err error) error {
	e, ok := errors.AsType[*llm.Error](err)
	if !ok || !errors.Is(e, llm.ErrModelNotFound) {
		return err
	}
	names, listErr := c.Models(ctx)
	if listErr != nil || len(names) == 0 {
		e.Detail = "is the base URL right? " + e.Detail
		return err
	}
	if c.options.Protocol != "" && slices.Contains(names, e.Model) {
		e.Detail = "it lists the model, so perhaps it does not speak the protocol " + c.options.Protocol
		return err
	}
	e.Detail = "it has " + strings.Join(names[:min(len(names), listedModels)], ", ")
	if more := len(names) - listedModels; more > 0 {
		e.Detail += fmt.Sprintf(" and %d more", more)
	}
	e.Detail = c.redact(e.Detail)
	return err
}

// Provider returns the name of the provider for errors.
func (c *Client) Provider() string { return c.endpoint.Provider }

// CloseIdle closes unused connections. The client can still be used.
func (c *Client) CloseIdle() {
	if t, ok := c.endpoint.Transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}
