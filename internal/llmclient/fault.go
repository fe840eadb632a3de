package llmclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"example.com/ragflow/llm"
)

// Bad returns the error of a response without a usable answer. A retry may help.
func (c *Client) Bad(model, detail string) *llm.Error {
	return &llm.Error{
		Provider: c.endpoint.Provider, Model: model, Kind: llm.ErrBadResponse,
		Detail: c.redact(detail), Transient: true,
	}
}

// fault converts the error of a failed call.
func (c *Client) fault(w *watch, err error) error {
	if ended := w.parent.Err(); ended != nil {
		return fmt.Errorf("ask %s: %w", c.endpoint.Provider, ended)
	}
	e := &llm.Error{Provider: c.endpoint.Provider, Model: w.model}
	status, header := w.head()
	switch cause := context.Cause(w.ctx); {
	case errors.Is(cause, errFirstByte), errors.Is(cause, errStalled):
		e.Kind, e.Detail, e.Transient = llm.ErrTimeout, cause.Error(), true
	case errors.Is(cause, errTooLong):
		e.Kind, e.Detail = llm.ErrTimeout, cause.Error()
	case status >= http.StatusBadRequest:
		var said string
		if api, ok := errors.AsType[*sdk.Error](err); ok {
			said = api.Message
		}
		refused(e, status, header, said)
	case status != 0:
		c.broken(e, err)
	default:
		unreachable(e, err)
	}
	e.Detail = c.redact(e.Detail)
	return e
}

// refused converts a response with an error status. said is the message of the provider.
func refused(e *llm.Error, status int, header http.Header, said string) {
	e.Status = status
	e.Detail = fmt.Sprintf("status %d", status)
	if said != "" {
		e.Detail += ": " + said
	}
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		e.Kind, e.Detail = llm.ErrCredentials, "" // providers quote the key in the message
	case status == http.StatusTooManyRequests:
		e.Kind, e.Transient = llm.ErrRateLimited, true
		e.RetryAfter = retryAfter(header)
	case status == http.StatusNotFound:
		e.Kind = llm.ErrModelNotFound
	case status == http.StatusRequestTimeout || status == http.StatusGatewayTimeout:
		e.Kind, e.Transient = llm.ErrTimeout, true
	case status >= http.StatusInternalServerError:
		e.Kind, e.Transient = llm.ErrUnavailable, true
		e.RetryAfter = retryAfter(header)
	case contextLength.MatchString(e.Detail):
		e.Kind = llm.ErrContextLength
	default:
		e.Kind = llm.ErrRefused
	}
}

// contextLength matches what servers say of a prompt that is too long: OpenAI, vLLM and
// Groq, llama.cpp, Anthropic, Google.
var contextLength = regexp.MustCompile(`(?i)context (?:length|size|window|limit)|prompt is too long|input token count`)

// broken converts the error of a response that had started.
func (c *Client) broken(e *llm.Error, err error) {
	e.Kind, e.Transient = llm.ErrBadResponse, true
	var odd responseError
	if sent, ok := errors.AsType[*ssestream.StreamError](err); ok {
		var body struct{ Error failure }
		_ = json.Unmarshal(sent.Event.Data, &body) // of another form: an error without details
		err = &body.Error
	}
	if f, ok := errors.AsType[*failure](err); ok {
		f.describe(e, c.options.Statuses)
		return
	}
	switch {
	case errors.As(err, &odd):
		e.Detail, e.Transient = string(odd), false
	case errors.Is(err, errTooLarge):
		e.Detail, e.Transient = fmt.Sprintf("more than %d bytes", c.endpoint.MaxBytes), false
	case isJSON(err):
		e.Detail = "what came is not the JSON of an answer"
	default:
		e.Detail = "the answer was cut off"
	}
}

// failure is an error that the provider sent in the middle of a stream.
type failure struct {
	Code    json.RawMessage `json:"code"` // a status of HTTP, a word or null
	Type    string          `json:"type"` // a word, if there is no code
	Message string          `json:"message"`
}

func (f *failure) Error() string { return f.Message }

// describe converts the failure.
func (f *failure) describe(e *llm.Error, statusOf map[string]int) {
	e.Detail = "it ended its answer with an error"
	switch code := strings.Trim(string(f.Code), `"`); code {
	case "rate_limit_exceeded":
		e.Kind = llm.ErrRateLimited
	case "server_error":
		e.Kind = llm.ErrUnavailable
	case "context_length_exceeded":
		e.Kind, e.Transient = llm.ErrContextLength, false
	case "invalid_prompt":
		e.Kind, e.Transient = llm.ErrRefused, false
	default:
		status, bad := strconv.Atoi(code)
		if bad != nil {
			status = statusOf[f.Type]
		}
		if status >= http.StatusBadRequest {
			e.Transient = false
			refused(e, status, nil, f.Message)
			return
		}
	}
	if f.Message != "" {
		e.Detail += ": " + f.Message
	}
}

func isJSON(err error) bool {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	return errors.As(err, &syntax) || errors.As(err, &typ) || strings.Contains(err.Error(), "json") ||
		strings.Contains(err.Error(), "content-type")
}

// unreachable converts the error of a call without a response.
func unreachable(e *llm.Error, err error) {
	e.Kind, e.Transient = llm.ErrUnavailable, true
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err // the outer text contains the address
	}
	var timeout net.Error
	var odd responseError
	switch {
	case errors.As(err, &odd):
		e.Kind, e.Detail, e.Transient = llm.ErrBadResponse, string(odd), false
	case errors.As(err, &timeout) && timeout.Timeout():
		e.Kind, e.Detail = llm.ErrTimeout, "no connection in time"
	case untrusted(err):
		e.Detail, e.Transient = "its certificate cannot be trusted: "+err.Error(), false
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Detail = "it closed the connection"
	default:
		e.Detail = err.Error()
	}
}

func untrusted(err error) bool {
	var verify *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var unknown x509.UnknownAuthorityError
	return errors.As(err, &verify) || errors.As(err, &record) || errors.As(err, &alert) || errors.As(err, &unknown)
}

// retryAfter parses Retry-After: seconds or a date (RFC 9110, 10.2.3). A date is compared with
// the Date header of the response.
func retryAfter(h http.Header) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 {
		return time.Duration(min(s, time.Hour.Seconds()) * float64(time.Second))
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return min(max(0, at.Sub(now)), time.Hour)
}

// detailRunes is the maximum length of a provider's message in an error.
const detailRunes = 200

var keyLike = regexp.MustCompile(`(?i)\b(?:bearer\s+|sk-|pk-|api[-_]?key[=:]\s*)[\w*.\-]{4,}`)

// redact shortens text to one line without keys.
func (c *Client) redact(s string) string {
	if len(c.endpoint.Key) > 0 {
		s = strings.ReplaceAll(s, c.endpoint.Key, "[key]")
	}
	s = keyLike.ReplaceAllString(s, "[key]")
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if runes := []rune(s); len(runes) > detailRunes {
		s = string(runes[:detailRunes]) + "…"
	}
	return s
}

// aboutImages matches what servers say of images that they do not take.
var aboutImages = regexp.MustCompile(`(?i)image|vision|multimodal`)

// refusedImages corrects the error of a request with images that the server does not take. For a
// model that takes none, llama.cpp answers with the status 500 and OpenRouter with 404.
func refusedImages(e *llm.Error, r llm.Request) {
	images := 0
	for _, m := range r.Messages {
		images += len(m.Images)
	}
	if images == 0 || e.Status < http.StatusBadRequest || !aboutImages.MatchString(e.Detail) {
		return
	}
	for _, kind := range []error{llm.ErrRefused, llm.ErrUnavailable, llm.ErrModelNotFound} {
		if errors.Is(e, kind) {
			e.Kind, e.Transient, e.Detail = llm.ErrRefused, false, "does the model take images? "+e.Detail
			return
		}
	}
}
