// Package anthropic asks chat models in Anthropic's protocol, Messages, which some other servers
// speak, too. The rules of package openai for keys, requests and limits hold here.
//
//	client, err := anthropic.New(anthropic.Config{Key: key})
//	chat := client.Chat("claude-haiku")
//
// The provider is asked to cache tools and system messages. Usage.Input counts cached tokens like
// others, so a cost can be too high. Request.Schema is ignored, and a temperature is at most 1.
package anthropic

import (
	"cmp"
	"context"
	"net/http"

	"github.com/openai/openai-go/v3/option"

	"example.com/ragflow/internal/llmclient"
	"example.com/ragflow/llm"
)

// DefaultBaseURL is the address of Anthropic, and the default of a [Config].
const DefaultBaseURL = "https://api.anthropic.com/v1"

// DefaultTokens limits an answer if Request.MaxTokens is 0, because the protocol demands a limit.
const DefaultTokens = 4096

// Protocol is the name of the protocol.
const Protocol = "messages"

// Config has the address and the limits of a provider. Its Protocol is ignored.
type Config = llm.Endpoint

// Client calls one provider. It is safe for concurrent use.
type Client struct{ http *llmclient.Client }

var _ llm.Provider = (*Client)(nil)

// New returns a client without sending a request. It reads no environment variables. The key
// is sent only to the host of BaseURL.
func New(c Config) (*Client, error) {
	c.BaseURL = cmp.Or(c.BaseURL, DefaultBaseURL)
	headers := map[string]string{"anthropic-version": "2023-06-01"}
	if c.Key != "" {
		headers["x-api-key"] = c.Key
	}
	shared, err := llmclient.New(c, llmclient.Options{
		Protocol: Protocol, Headers: headers, Statuses: statuses,
		Models: []option.RequestOption{option.WithQuery("limit", "1000")}, // else a page of 20
	})
	if err != nil {
		return nil, err
	}
	return &Client{shared}, nil
}

// statuses are the HTTP statuses that errors have if they come before the answer.
var statuses = map[string]int{
	"invalid_request_error": http.StatusBadRequest,
	"authentication_error":  http.StatusUnauthorized,
	"billing_error":         http.StatusPaymentRequired,
	"permission_error":      http.StatusForbidden,
	"not_found_error":       http.StatusNotFound,
	"request_too_large":     http.StatusRequestEntityTooLarge,
	"rate_limit_error":      http.StatusTooManyRequests,
	"api_error":             http.StatusInternalServerError,
	"timeout_error":         http.StatusGatewayTimeout,
	"overloaded_error":      529, // of Anthropic alone
}

// Chat returns a chat model. Parameters that its server refuses are remembered
// and left out of later requests.
func (c *Client) Chat(model string) llm.Chat { return c.http.Chat(model, c.ask, true) }

func (c *Client) ask(ctx context.Context, q llmclient.Query, a *llmclient.Answer) error {
	return llmclient.Stream(ctx, c.http, "messages", paramsOf(q), q, a, func(e event) { take(a, e) })
}

// Provider returns the name of the provider for errors.
func (c *Client) Provider() string { return c.http.Provider() }

// Models returns the models of the provider. It is a cheap call to check address and key.
func (c *Client) Models(ctx context.Context) ([]string, error) { return c.http.Models(ctx) }

// CloseIdle closes unused connections. The client can still be used.
func (c *Client) CloseIdle() { c.http.CloseIdle() }
