package llm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Facts about a call that failed; match them with errors.Is.
var (
	ErrCredentials   = errors.New("invalid credentials")  // 401 and 403, or a key that is missing
	ErrRateLimited   = errors.New("rate limited")         // 429
	ErrTimeout       = errors.New("timed out")            // no first byte, or a stall mid-stream, or too long altogether
	ErrModelNotFound = errors.New("model not found")      // 404
	ErrRefused       = errors.New("refused the request")  // 400 and its like, or content that its filter holds back
	ErrBadResponse   = errors.New("unusable response")    // what came is no answer: cut off, empty, not JSON, too large
	ErrUnavailable   = errors.New("provider unavailable") // 5xx, no connection, no trust in its certificate
)

// Error is a call that failed. Its text names the provider and never a key.
type Error struct {
	Provider   string
	Model      string        // empty where the call named none
	Kind       error         // one of the Err variables
	Status     int           // of HTTP; 0 where no answer came
	RetryAfter time.Duration // what the provider asked for; 0 where it did not
	Detail     string        // what is known besides; one line, without secrets
	Transient  bool          // asking again may help
	Empty      bool          // the model ended its answer without a word
	Streamed   bool          // tokens were handed on before it failed
	Retries    int           // how often it was asked again, see [Retry]
	Skipped    bool          // nothing was asked: it failed a moment ago, see [Breaker]
}

// Error tells what happened in a sentence for people.
func (e *Error) Error() string {
	var b strings.Builder
	switch {
	case errors.Is(e.Kind, ErrCredentials):
		fmt.Fprintf(&b, "Invalid credentials for %s", e.Provider)
	case errors.Is(e.Kind, ErrTimeout):
		fmt.Fprintf(&b, "Provider %s timed out", e.Provider)
	case errors.Is(e.Kind, ErrRateLimited):
		fmt.Fprintf(&b, "Provider %s limits the rate of requests", e.Provider)
	case errors.Is(e.Kind, ErrModelNotFound):
		fmt.Fprintf(&b, "Provider %s does not know the model %q", e.Provider, e.Model)
	case errors.Is(e.Kind, ErrRefused):
		fmt.Fprintf(&b, "Provider %s refused the request", e.Provider)
	case errors.Is(e.Kind, ErrBadResponse):
		fmt.Fprintf(&b, "Provider %s sent no usable answer", e.Provider)
	default:
		fmt.Fprintf(&b, "Provider %s is not available", e.Provider)
	}
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	if e.Skipped {
		b.WriteString(" (a moment ago; not asked again)")
	}
	if e.Retries > 0 {
		fmt.Fprintf(&b, " (asked %d times)", e.Retries+1)
	}
	return b.String()
}

// Unwrap lets errors.Is match the kind.
func (e *Error) Unwrap() error { return e.Kind }

// Ended reports whether a call failed because its own context did: the person
// left or the program closes. Such an error is no fault of the provider.
func Ended(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}
