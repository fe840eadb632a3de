package llm

import (
	"context"
	"time"
)

// Role is the author of a [Message].
type Role string

// The roles.
const (
	System     Role = "system"
	User       Role = "user"
	Assistant  Role = "assistant"
	ToolResult Role = "tool" // the result of a tool call
)

// Message is one message of a conversation with a model.
type Message struct {
	Role    Role
	Content string
	Calls   []ToolCall // of an Assistant message: the tools that it calls; Content may be empty then
	CallID  string     // of a ToolResult: the ID of the call that it answers
	Images  []Image    // of a User message; Content may be empty then; not sent with other roles
}

// Tool is a function that a model may call.
type Tool struct {
	Name        string // letters, digits, _ and -, at most 64
	Description string
	Parameters  map[string]any // JSON schema of an object; read-only
}

// ToolCall is a call of a tool by a model.
type ToolCall struct {
	ID        string // unique within its message; never empty in a Response
	Name      string
	Arguments string // as the model wrote them: they may be no JSON, or not match the schema
}

// Request is a request to a model. Implementations do not keep it.
type Request struct {
	Messages    []Message
	Temperature float64  // 0 is the most repeatable; usually up to 2
	TopP        float64  // nucleus sampling; 0 means the default of the provider
	MaxTokens   int      // maximum length of the answer; 0 means the default of the provider
	Stop        []string // texts that end the answer, at most 4
	Schema      *Schema  // the answer is a JSON object of this form; nil: text
	Tools       []Tool   // tools that the model may call instead of an answer
	// Fall, if set, decides whether a [Fallback] asks its next model. If it returns true, the pieces
	// of the answer streamed so far are void.
	Fall func(Fall) bool
	// Calling, if set, gets the tool calls while the model writes them, from the goroutine of
	// the caller. Each call of it adds to the arguments of a tool call with the same ID. They are a draft:
	// Response.Calls counts.
	Calling func(ToolCall)
}

// Schema is a JSON schema for the answer, enforced by the provider. A provider without that
// feature rejects the request ([ErrRefused]) or ignores the schema.
type Schema struct {
	Name string         // letters, digits, _ and -; some models see it
	JSON map[string]any // JSON schema of an object; read-only
}

// FinishReason is the reason why an answer ended.
type FinishReason string

// The finish reasons of a complete answer.
const (
	FinishStop   FinishReason = "stop"   // the answer is finished
	FinishLength FinishReason = "length" // Request.MaxTokens was reached; the text, or the last tool call, may be cut off
	FinishTools  FinishReason = "tools"  // the model calls tools
)

// Usage is the number of tokens, as counted by the provider.
type Usage struct {
	Input  int64
	Output int64
}

// Add adds v to u.
func (u *Usage) Add(v Usage) { u.Input += v.Input; u.Output += v.Output }

// Response is a complete answer. It has a text, tool calls or both.
type Response struct {
	Text       string
	Calls      []ToolCall // only if the request has Tools
	Model      string     // name from the provider
	By         string     // configured name of the model of a [Fallback] that was asked last, even after an error; else empty
	Provider   string
	Finish     FinishReason
	Usage      Usage         // zero if the provider does not report it
	Latency    time.Duration // duration of the successful call, without retries
	FirstToken time.Duration // time to the first token; 0 if nothing was streamed
	Chunks     int           // number of pieces of the stream
	Retries    int           // failed calls before, see [Retry]
	CostUSD    float64       // see [Price]; 0 if Priced is false
	Priced     bool          // whether the price of the model is known
}

// Chat is a chat model.
type Chat interface {
	// Model returns the configured name of the model.
	Model() string
	// Complete asks the model. token, which may be nil, is called with each piece of the
	// answer, from the goroutine of the caller. All pieces together are Response.Text.
	// The package comment describes the errors.
	Complete(ctx context.Context, r Request, token func(string)) (Response, error)
}

// Provider is a service that offers chat models.
type Provider interface {
	// Provider returns the name of the service.
	Provider() string
	// Chat returns a chat model without sending a request.
	Chat(model string) Chat
	// Models lists the models. It is a cheap call that also checks address and key.
	Models(ctx context.Context) ([]string, error)
	// CloseIdle closes unused connections. The provider can still be used.
	CloseIdle()
}

// Purpose is the purpose of an embedding. Some models use different prompts for the two.
type Purpose int

// The purposes.
const (
	Passage Purpose = iota // a text of the index
	Query                  // a search query
)

// Embeddings is the result of an [Embedder].
type Embeddings struct {
	Vectors  [][]float32 // one per text, in order, finite and of equal length; the caller owns them
	Model    string      // name from the provider
	Usage    Usage
	Latency  time.Duration // total of all calls
	Calls    int           // successful requests; texts are sent in batches
	Retries  int           // failed requests, see [RetryEmbedder]
	CostUSD  float64       // see [PriceEmbedder]; 0 if Priced is false
	Priced   bool
	Provider string
}

// Embedder is a model that turns texts into vectors.
type Embedder interface {
	// Model returns the configured name of the model. Vectors of different models cannot
	// be compared.
	Model() string
	// Embed returns a vector for every text, or an error. Without texts it sends no
	// request. An empty text is an error.
	Embed(ctx context.Context, texts []string, p Purpose) (Embeddings, error)
}

// Scores are the result of a [Reranker].
type Scores struct {
	Values   []float64 // one per text, in order, finite; higher is better; the scale depends on the model
	Model    string    // name from the provider
	Provider string
	Usage    Usage
	CostUSD  float64 // 0 if Priced is false
	Priced   bool
	Latency  time.Duration // total of all calls
	Calls    int           // successful requests; texts are sent in batches
	Retries  int           // failed requests, see [RetryReranker]
}

// Reranker is a model that reads a question and a text together and scores how well the text
// answers the question.
type Reranker interface {
	// Model returns the configured name of the model.
	Model() string
	// Rerank returns a score for every text, or an error. Without texts it sends no
	// request.
	Rerank(ctx context.Context, query string, texts []string) (Scores, error)
}
