package openai

import (
	"cmp"
	"context"
	"fmt"

	"example.com/ragflow/internal/llmclient"
	"example.com/ragflow/llm"
)

// DefaultBaseURL is the address of OpenAI, and the default of a [Config].
const DefaultBaseURL = "https://api.openai.com/v1"

// Protocols of chat models.
const (
	ChatCompletions = "chat"      // of most servers; the default
	Responses       = "responses" // of OpenAI and some servers; it has no Request.Stop
)

// Config has the address and the limits of a provider.
type Config = llm.Endpoint

// Client calls one provider. It is safe for concurrent use.
type Client struct {
	http     *llmclient.Client
	baseURL  string
	protocol string
}

var _ llm.Provider = (*Client)(nil)

// New returns a client without sending a request. It reads no environment variables. The key
// is sent only to the host of BaseURL.
func New(c Config) (*Client, error) {
	c.BaseURL, c.Protocol = cmp.Or(c.BaseURL, DefaultBaseURL), cmp.Or(c.Protocol, ChatCompletions)
	var o llmclient.Options
	if c.Protocol == Responses {
		o.Protocol = Responses
	} else if c.Protocol != ChatCompletions {
		return nil, fmt.Errorf("protocol %q of chat models is neither %s nor %s", c.Protocol, ChatCompletions, Responses)
	}
	shared, err := llmclient.New(c, o)
	if err != nil {
		return nil, err
	}
	return &Client{shared, c.BaseURL, c.Protocol}, nil
}

// Provider returns the name of the provider for errors.
func (c *Client) Provider() string { return c.http.Provider() }

// Models returns the models of the provider. It is a cheap call to check address and key.
func (c *Client) Models(ctx context.Context) ([]string, error) { return c.http.Models(ctx) }

// CloseIdle closes unused connections. The client can still be used.
func (c *Client) CloseIdle() { c.http.CloseIdle() }
