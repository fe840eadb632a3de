// Package openai talks to every provider that speaks OpenAI's chat and
// embeddings API: OpenAI itself, OpenRouter, and local servers such as
// llama.cpp, Ollama and vLLM.
//
//	client, err := openai.New(openai.Config{BaseURL: "http://127.0.0.1:8080/v1"})
//	chat := client.Chat("small-model")
//
// Rules:
//
//   - A key comes from the caller only, goes to the host of the base URL only, and
//     never stands in an error. An address of this machine needs none.
//   - A call is one request: the SDK's own retries are off, redirects are not
//     followed.
//   - No answer is waited for without end: a call fails when no first byte comes,
//     when the stream stalls, when it takes too long altogether or grows too large.
//   - A stream that ends without saying why it ended was cut off; that is an error.
//
// How it works: a [http.RoundTripper] of ours stands beneath the SDK. It notes
// status and headers, counts bytes, and resets the clock of the call with each
// piece that comes. When the clock runs out it cancels the call with a cause,
// from which the error is made.
package openai
