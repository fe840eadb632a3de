package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"golang.org/x/time/rate"

	"example.com/ragflow/llm"
)

// Defaults of a [Config].
const (
	DefaultBaseURL   = "https://api.openai.com/v1"
	DefaultFirstByte = 2 * time.Minute
	DefaultStall     = time.Minute
	DefaultTotal     = 10 * time.Minute
	DefaultMaxBytes  = 16 << 20
)

// DefaultMessagesTokens limits an answer in the protocol [Messages], which demands a limit,
// where Request.MaxTokens is 0.
const DefaultMessagesTokens = 4096

// Protocols of chat models.
const (
	ChatCompletions = "chat"      // of most servers
	Responses       = "responses" // of OpenAI and some servers; it has no Request.Stop
	Messages        = "messages"  // of Anthropic and some servers; it has no Request.Schema, and a temperature of at most 1
)

// Limits of a server on this machine, which may read a long prompt with its processor.
const (
	LocalFirstByte = 10 * time.Minute
	LocalTotal     = 30 * time.Minute
)

// Config has the address and the limits of a provider. String and GoString hide the key.
type Config struct {
	Provider  string            // name for errors; default the host of BaseURL
	BaseURL   string            // default [DefaultBaseURL]; without user, query and fragment
	Key       string            // may be empty for an address on this machine
	Protocol  string            // of chat models; default [ChatCompletions]
	FirstByte time.Duration     // limit until the first byte; default [DefaultFirstByte], on this machine [LocalFirstByte]
	Stall     time.Duration     // limit between two pieces; default [DefaultStall]
	Total     time.Duration     // limit of a call; default [DefaultTotal], on this machine [LocalTotal]
	MaxBytes  int64             // maximum size of a response; default [DefaultMaxBytes]
	Transport http.RoundTripper // default a clone of http.DefaultTransport
	Limiter   *Limiter          // of requests, shared by the clients of a provider: see [PerMinute]; nil: none
}

// Limiter keeps requests waiting where there are too many in a time. It is safe for concurrent use.
type Limiter = rate.Limiter

// PerMinute returns a limiter that lets at most n requests through in any minute, the first few
// of them at once. Further ones wait in the order in which they came. n is at least 1.
func PerMinute(n int) *Limiter {
	const atOnce = 6 // one in so many
	burst := max(1, n/atOnce)
	return rate.NewLimiter(rate.Every(time.Minute/time.Duration(max(1, n-burst))), burst)
}

// String returns the name and address of the provider, without the key.
func (c Config) String() string { return c.Provider + " at " + c.BaseURL }

// GoString returns String, so that no verb of fmt prints the key.
func (c Config) GoString() string { return c.String() }

// Client calls one provider. It is safe for concurrent use.
type Client struct {
	config     Config
	http       *http.Client
	options    []option.RequestOption // of every request
	embeddings sdk.EmbeddingService
	models     sdk.ModelService
}

// New returns a client without sending a request. It reads no environment variables. The key
// is sent only to the host of BaseURL.
func New(c Config) (*Client, error) {
	if c.BaseURL == "" {
		c.BaseURL = DefaultBaseURL
	}
	u, err := llm.CheckBaseURL(c.BaseURL)
	if err != nil {
		return nil, err
	}
	if c.Provider == "" {
		c.Provider = u.Host
	}
	if strings.ContainsFunc(c.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("the key for %s contains characters that are not allowed in a key, such as a space or a line break", c.Provider)
	}
	c.Protocol = cmp.Or(c.Protocol, ChatCompletions)
	if all := []string{ChatCompletions, Responses, Messages}; !slices.Contains(all, c.Protocol) {
		return nil, fmt.Errorf("protocol %q of chat models is none of %s", c.Protocol, strings.Join(all, ", "))
	}
	if c.Key == "" && !llm.Loopback(u) {
		return nil, &llm.Error{Provider: c.Provider, Kind: llm.ErrCredentials, Detail: "no key is set"}
	}
	if llm.Loopback(u) {
		preset(&c.FirstByte, LocalFirstByte)
		preset(&c.Total, LocalTotal)
	}
	preset(&c.FirstByte, DefaultFirstByte)
	preset(&c.Stall, DefaultStall)
	preset(&c.Total, DefaultTotal)
	preset(&c.MaxBytes, DefaultMaxBytes)
	if c.Transport == nil {
		c.Transport = http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // see its documentation
	}
	guarded := &http.Client{
		Transport: guard{next: c.Transport, max: c.MaxBytes, limiter: c.Limiter, firstByte: c.FirstByte},
		// Requests contain the person's text, so they go only to the configured host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	options := []option.RequestOption{
		option.WithBaseURL(strings.TrimRight(c.BaseURL, "/") + "/"),
		option.WithMaxRetries(0), // llm.Retry makes and counts retries
		option.WithHTTPClient(guarded),
	}
	for name, value := range c.headers() {
		options = append(options, option.WithHeader(name, value))
	}
	return &Client{
		config:     c,
		http:       guarded,
		options:    options,
		embeddings: sdk.NewEmbeddingService(options...),
		models:     sdk.NewModelService(options...),
	}, nil
}

// headers are the headers of every request that depend on the protocol.
func (c Config) headers() map[string]string {
	all := map[string]string{}
	switch {
	case c.Protocol == Messages:
		all["anthropic-version"] = messagesVersion
		if c.Key != "" {
			all["x-api-key"] = c.Key
		}
	case c.Key != "":
		all["Authorization"] = "Bearer " + c.Key
	}
	return all
}

func preset[T ~int64](v *T, value T) {
	if *v <= 0 {
		*v = value
	}
}

// Models returns the models of the provider. It is a cheap call to check address and key.
func (c *Client) Models(ctx context.Context) ([]string, error) {
	w := c.watch(ctx, "", mediaJSON)
	defer w.end()
	var options []option.RequestOption
	if c.config.Protocol == Messages {
		options = append(options, option.WithQuery("limit", "1000")) // else a page of 20
	}
	page, err := c.models.List(w.ctx, options...) //nolint:contextcheck // w.ctx is the context of the caller, with a timer
	if err != nil {
		return nil, c.fault(w, err)
	}
	if page == nil {
		return nil, c.bad("", "the list of models is missing")
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
	if c.config.Protocol != ChatCompletions && slices.Contains(names, e.Model) {
		e.Detail = "it lists the model, so perhaps it does not speak the protocol " + c.config.Protocol
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
func (c *Client) Provider() string { return c.config.Provider }

// BaseURL returns the address of the provider.
func (c *Client) BaseURL() string { return c.config.BaseURL }

// CloseIdle closes unused connections. The client can still be used.
func (c *Client) CloseIdle() {
	if t, ok := c.config.Transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}
