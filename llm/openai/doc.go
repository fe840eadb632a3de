// Package openai talks to every provider that speaks OpenAI's chat and
// embeddings API: OpenAI itself, OpenRouter, and local servers such as
// llama.cpp, Ollama and vLLM. A [Config] may choose OpenAI's newer protocol, Responses, for
// chat models.
//
//	client, err := openai.New(openai.Config{BaseURL: "http://127.0.0.1:8080/v1"})
//	chat := client.Chat("small-model")
//
// Rules:
//
//   - The key comes only from the caller, is sent only to the host of the base URL, and is
//     never part of an error. An address on this machine needs no key.
//   - A call is one request: retries of the SDK are off, and redirects are not followed.
//   - Every wait is limited: a call fails if the first byte is late, if the stream stalls,
//     if the total time is exceeded or if the response is too large.
//   - A stream without a finish reason was cut off, which is an error.
//   - A request in the protocol Responses asks the provider to store nothing.
package openai
