package llm

import (
	"context"
	"time"
)

// Role says who speaks in a [Message].
type Role string

// The roles.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one utterance of a conversation with a model.
type Message struct {
	Role    Role
	Content string
}

// Request is what a model is asked. The implementation keeps nothing of it.
type Request struct {
	Messages    []Message
	Temperature float64  // 0 is the most repeatable; usually up to 2
	TopP        float64  // share of probability to sample from; 0 leaves it to the provider
	MaxTokens   int      // of the answer; 0 leaves it to the provider
	Stop        []string // texts that end the answer, at most 4
	Schema      *Schema  // the answer is a JSON object of this form; nil: text
}

// Schema is a form that the provider holds the answer to, token by token. One
// that cannot refuses the request ([ErrRefused]) or takes no notice.
type Schema struct {
	Name string         // letters, digits, _ and -; some models are shown it
	JSON map[string]any // JSON schema of an object; only read
}

// FinishReason says why an answer ended.
type FinishReason string

// The ends of a whole answer.
const (
	FinishStop   FinishReason = "stop"   // the model had said all
	FinishLength FinishReason = "length" // Request.MaxTokens was reached; the text may end mid-sentence
)

// Usage counts tokens as the provider counts them.
type Usage struct {
	Input  int64
	Output int64
}

// Add adds v to u.
func (u *Usage) Add(v Usage) { u.Input += v.Input; u.Output += v.Output }

// Response is a whole answer, never empty.
type Response struct {
	Text       string
	Model      string // as the provider names it
	Provider   string
	Finish     FinishReason
	Usage      Usage         // zero where the provider does not tell
	Latency    time.Duration // of the call that answered, without waits between retries
	FirstToken time.Duration // from its start to the first token; 0 where nothing was streamed
	Chunks     int           // pieces the answer came in
	Retries    int           // calls that failed before, see [Retry]
	CostUSD    float64       // see [Price]; 0 where Priced is false
	Priced     bool          // whether the price of the model is known
}

// Chat is a model that answers.
type Chat interface {
	// Model names the model that is asked, as configured.
	Model() string
	// Complete asks the model. token, which may be nil, is called with each
	// piece of the answer as it comes, from the goroutine of the caller; the
	// pieces joined are Response.Text. See the package for errors.
	Complete(ctx context.Context, r Request, token func(string)) (Response, error)
}

// Purpose says what texts are embedded for. Some models tell the two apart.
type Purpose int

// The purposes.
const (
	Passage Purpose = iota // a text to be found
	Query                  // a text to find others by
)

// Embeddings is what an [Embedder] makes of texts.
type Embeddings struct {
	Vectors  [][]float32 // one a text, in their order, all of one length and finite; the caller owns them
	Model    string      // as the provider names it
	Usage    Usage
	Latency  time.Duration // of all calls
	Calls    int           // requests that answered; texts go in batches
	Retries  int           // requests that failed before, see [RetryEmbedder]
	CostUSD  float64       // see [PriceEmbedder]; 0 where Priced is false
	Priced   bool
	Provider string
}

// Embedder is a model that turns texts into vectors.
type Embedder interface {
	// Model names the model, as configured. Vectors of different models must not
	// be compared.
	Model() string
	// Embed turns texts into vectors: all of them, or an error. No texts make no
	// call. An empty text is an error.
	Embed(ctx context.Context, texts []string, p Purpose) (Embeddings, error)
}

// Scores are what a [Reranker] makes of texts.
type Scores struct {
	Values   []float64 // one a text, in their order, finite; greater is better, of the model's own scale
	Model    string    // as the provider names it
	Provider string
	Usage    Usage
	Latency  time.Duration // of all calls
	Calls    int           // requests that answered; texts go in batches
	Retries  int           // requests that failed before, see [RetryReranker]
}

// Reranker is a model that reads a question and a text together and says how
// well the text answers it.
type Reranker interface {
	// Model names the model, as configured.
	Model() string
	// Rerank scores texts: all of them, or an error. No texts make no call.
	Rerank(ctx context.Context, query string, texts []string) (Scores, error)
}
