// Package llm defines requests, responses and errors of language models and the interfaces
// [Chat], [Embedder] and [Reranker]. Each provider is a package below it.
//
//	chat := llm.Retry(client.Chat("small-model"), llm.RetryOptions{})
//	r, err := chat.Complete(ctx, llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "Hello"}}}, nil)
//
// Rules for implementations:
//
//   - It is safe for concurrent use and its goroutines end with the call.
//   - A response is complete. A response that was cut off, is empty or cannot be decoded
//     is an error, even if a part of it was streamed.
//   - Errors are an [*Error] that matches one of the Err variables. Its text never
//     contains a key. If the context ended, the error matches only the error of the
//     context.
//   - A provider sends one request per call. Only [Retry] repeats calls, and never after
//     the first token was streamed.
//
// Decorators wrap a Chat and are Chats themselves. [Retry] wraps the provider, and [Price]
// wraps Retry. So a Response has the totals of all attempts of one answer. [Fallback] joins
// several of them, [Task] gives them settings, and [Observe] reports what each call used.
package llm
