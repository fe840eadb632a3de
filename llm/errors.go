package llm

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kinds of an [*Error]; match them with errors.Is.
var (
	ErrCredentials   = errors.New("invalid credentials") // 401 and 403, or a missing key
	ErrRateLimited   = errors.New("rate limited")        // 429
	ErrTimeout       = errors.New("timed out")           // no first byte, a stalled stream, or the total limit
	ErrModelNotFound = errors.New("model not found")     // 404
	ErrRefused       = errors.New("refused the request") // 400 and similar, or the content filter
	ErrContextLength = errors.New("longer than the context window of the model")
	ErrBadResponse   = errors.New("unusable response")    // cut off, empty, not JSON or too large
	ErrUnavailable   = errors.New("provider unavailable") // 5xx, no connection, or an invalid certificate
)

// Error is a failed call. Its text has the name of the provider and never a key.
type Error struct {
	Provider   string
	Model      string        // empty if the call had no model
	Kind       error         // one of the Err variables
	Status     int           // HTTP status; 0 without a response
	RetryAfter time.Duration // requested by the provider; 0 if not
	Detail     string        // more details; one line, without secrets
	Transient  bool          // a retry may help
	Empty      bool          // the model returned an empty answer
	Called     string        // of an empty answer: a tool that it called although none was offered
	Thought    bool          // the limit of tokens was reached before the answer began
	Streamed   bool          // tokens were streamed before the failure
	Retries    int           // number of retries, see [Retry]
	Skipped    bool          // no request was sent, see [Retry]
}

// Error describes the failure in a sentence for people.
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
	case errors.Is(e.Kind, ErrContextLength):
		fmt.Fprintf(&b, "The prompt is longer than the context window of the model %q", e.Model)
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
