package llmclient

import (
	"context"
	"net/http"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
)

// Stream asks for an answer in pieces, as the methods NewStreaming of the SDK do. Those take a
// comment, with which servers keep a connection open, for a piece without JSON. take adds a piece
// to a.
func Stream[T any](ctx context.Context, c *Client, path string, params any, q Query, a *Answer, take func(T)) error {
	var response *http.Response
	client := sdk.Client{Options: c.requests} // as a field of c it would add 10 MB to the program: all methods of the SDK
	err := client.Post(ctx, path, params, &response, append(q.Options, option.WithJSONSet("stream", true))...)
	var decoder ssestream.Decoder
	if d := ssestream.NewDecoder(response); d != nil {
		decoder = pieces{d}
	}
	s := ssestream.NewStream[T](decoder, err)
	defer func() { _ = s.Close() }() // the answer is already read
	for s.Next() {
		if take(s.Current()); !a.wantsMore() {
			break
		}
	}
	return s.Err()
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
