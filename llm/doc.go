// Package llm is the vocabulary in which the rest of the program talks to
// language models: requests, responses, errors and the small interfaces
// [Chat], [Embedder] and [Reranker]. Providers live in rooms below it, one each.
//
//	chat := llm.Retry(client.Chat("small-model"), llm.RetryOptions{})
//	r, err := chat.Complete(ctx, llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "Hello"}}}, nil)
//
// Rules every implementation keeps:
//
//   - It is safe for concurrent use and leaves no goroutine behind.
//   - A response is whole: one that was cut off, is empty or cannot be read is
//     an error, however much of it was streamed before.
//   - Errors are an [*Error] that matches one of the Err variables. Its text
//     never holds a key. Where the context ended, errors.Is finds the context's
//     own error, and nothing else.
//   - A provider calls once. [Retry] is the only place that asks again, and
//     never after the first token was handed on.
//
// How it works: decorators wrap a Chat and are Chats themselves. [Retry] goes
// around the provider, [Price] and [Breaker] around Retry, so that a Response
// tells of all that one answer took.
package llm
