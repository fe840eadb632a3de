package openai

import (
	"context"
	"net/http"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
)

// stream asks for an answer in pieces, as the method NewStreaming of the SDK does. That one
// takes a comment, with which servers keep a connection open, for a piece without JSON.
func (c *Client) stream(ctx context.Context, params sdk.ChatCompletionNewParams) *ssestream.Stream[sdk.ChatCompletionChunk] {
	var response *http.Response
	client := sdk.Client{Options: c.options} // as a field of c it would add 10 MB to the program: all methods of the SDK
	err := client.Post(ctx, "chat/completions", params, &response, option.WithJSONSet("stream", true))
	if decoder := ssestream.NewDecoder(response); decoder != nil {
		return ssestream.NewStream[sdk.ChatCompletionChunk](pieces{decoder}, err)
	}
	return ssestream.NewStream[sdk.ChatCompletionChunk](nil, err)
}

// pieces are the events of a stream that have data.
type pieces struct{ ssestream.Decoder }

// Next implements ssestream.Decoder.
func (p pieces) Next() bool {
	for p.Decoder.Next() {
		if len(p.Event().Data) > 0 {
			return true
		}
	}
	return false
}
