// Package openai lets clients of OpenAI's API ask the assistant: chat completions, responses,
// conversations, models and embeddings under /v1.
//
// A model is a collection: "ragflow" is the default one, "ragflow/NAME" that of a name.
//
// # The text of an answer
//
// Most clients show text and nothing else. So [Source 3] becomes [1], [2], … in the order in which
// sources are first cited, and a list of links follows the answer (text.go). Annotations say the
// same to clients that know them. Sentences are checked before they are sent, so that none has to
// be taken back.
//
// # Conversations
//
// A client names its thread, or its chat, or the response before. Else it sends all messages so far,
// and the thread is found by their hash (conversation.go). A client that edited them gets a new
// thread, which begins with its messages.
//
// # What is not done
//
// The settings of the server decide how an answer is written: system messages, temperature and
// limits of tokens are ignored, and so are definitions of tools. A request that cannot be met
// without what is missing, such as a picture or an answer of a JSON schema, is refused.
package openai
