// Package llmclient is the part of a client of models that all protocols share: one request per
// call, its limits and errors, and the collection of a streamed answer. Package openai describes
// the rules; a protocol is an [Ask] that encodes the request and decodes the pieces.
//
// The SDK uses our [http.RoundTripper]. It records status and headers, counts bytes, and
// resets the timer of the call with each piece of data. When the timer fires, it cancels the
// call with a cause, which becomes the error.
package llmclient
