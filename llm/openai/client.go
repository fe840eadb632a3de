package openai

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"example.com/ragflow/llm"
)

// Presets of a [Config].
const (
	DefaultBaseURL   = "https://api.openai.com/v1"
	DefaultFirstByte = 2 * time.Minute
	DefaultStall     = time.Minute
	DefaultTotal     = 10 * time.Minute
	DefaultMaxBytes  = 16 << 20
)

// Config says where a provider is and how long to wait for it. Its text form
// holds no key.
type Config struct {
	Provider  string            // its name in errors; default the host of BaseURL
	BaseURL   string            // default [DefaultBaseURL]; without user, query and fragment
	Key       string            // may be empty where the address is of this machine
	FirstByte time.Duration     // until an answer begins; default [DefaultFirstByte]
	Stall     time.Duration     // between two pieces of it; default [DefaultStall]
	Total     time.Duration     // for a call; default [DefaultTotal]
	MaxBytes  int64             // of a response; default [DefaultMaxBytes]
	Transport http.RoundTripper // default a clone of http.DefaultTransport
}

// String tells where the provider is, without its key.
func (c Config) String() string { return c.Provider + " at " + c.BaseURL }

// GoString is String, so that no verb of fmt shows the key.
func (c Config) GoString() string { return c.String() }

// Client calls one provider. It is safe for concurrent use.
type Client struct {
	config     Config
	chats      sdk.ChatCompletionService
	embeddings sdk.EmbeddingService
	models     sdk.ModelService
}

// New returns a client. Nothing is called. It reads no environment: a key is
// used only where it was given, and goes to no other host than BaseURL's.
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
		return nil, fmt.Errorf("the key for %s holds characters that no key has, such as a space or a line break", c.Provider)
	}
	if c.Key == "" && !llm.Loopback(u) {
		return nil, &llm.Error{Provider: c.Provider, Kind: llm.ErrCredentials, Detail: "no key is set"}
	}
	preset(&c.FirstByte, DefaultFirstByte)
	preset(&c.Stall, DefaultStall)
	preset(&c.Total, DefaultTotal)
	preset(&c.MaxBytes, DefaultMaxBytes)
	if c.Transport == nil {
		c.Transport = http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // documented to be one
	}
	options := []option.RequestOption{
		option.WithBaseURL(strings.TrimRight(c.BaseURL, "/") + "/"),
		option.WithMaxRetries(0), // llm.Retry counts them
		option.WithHTTPClient(&http.Client{
			Transport: guard{next: c.Transport, max: c.MaxBytes},
			// What is sent is the person's own text: it goes where they said only.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}),
	}
	if c.Key != "" {
		options = append(options, option.WithAPIKey(c.Key))
	}
	return &Client{
		config:     c,
		chats:      sdk.NewChatCompletionService(options...),
		embeddings: sdk.NewEmbeddingService(options...),
		models:     sdk.NewModelService(options...),
	}, nil
}

func preset[T ~int64](v *T, value T) {
	if *v <= 0 {
		*v = value
	}
}

// Models lists the models the provider offers: a cheap call that tells whether
// address and key are right.
func (c *Client) Models(ctx context.Context) ([]string, error) {
	w := c.watch(ctx, "", mediaJSON)
	defer w.end()
	page, err := c.models.List(w.ctx) //nolint:contextcheck // the context of the watch is the caller's, with a clock
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

// Provider names the provider as errors do.
func (c *Client) Provider() string { return c.config.Provider }

// BaseURL is the address that is called.
func (c *Client) BaseURL() string { return c.config.BaseURL }

// CloseIdle closes connections that nobody uses. The client stays usable.
func (c *Client) CloseIdle() {
	if t, ok := c.config.Transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}
