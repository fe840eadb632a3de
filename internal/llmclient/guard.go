package llmclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync"
	"time"

	"example.com/ragflow/llm"
)

// Causes of calls that this package cancelled.
var (
	errFirstByte = errors.New("no answer started in time")
	errStalled   = errors.New("the answer stalled")
	errTooLong   = errors.New("the answer took too long in total")
	errTooLarge  = errors.New("the response is too large")
)

// Media types of responses.
const (
	mediaJSON   = "application/json"
	mediaStream = "text/event-stream"
)

// responseError is the reason why a response cannot be an answer.
type responseError string

func (e responseError) Error() string { return string(e) }

// watch is the timer of one call: it cancels the call if no data arrives in time.
type watch struct {
	ctx    context.Context //nolint:containedctx // for one call only
	parent context.Context //nolint:containedctx // to distinguish the caller's cancel from ours
	cancel context.CancelCauseFunc
	stall  time.Duration
	model  string // model of the request
	media  string // expected media type of the response; empty: any

	mu      sync.Mutex // guards the fields below
	timer   *time.Timer
	total   *time.Timer
	header  http.Header // headers of the response
	status  int
	stopped bool
}

type watchKey struct{}

func (c *Client) watch(parent context.Context, model, media string) *watch {
	ctx, cancel := context.WithCancelCause(parent)
	w := &watch{parent: parent, cancel: cancel, stall: c.endpoint.Stall, model: model, media: media}
	w.ctx = context.WithValue(ctx, watchKey{}, w)
	w.timer = time.AfterFunc(c.endpoint.FirstByte, func() { cancel(errFirstByte) })
	w.total = time.AfterFunc(c.endpoint.Total, func() { cancel(errTooLong) })
	return w
}

// queue waits until a limiter lets a request through. That time is not the provider's.
func (w *watch) queue(ctx context.Context, l llm.Limiter, firstByte time.Duration) error {
	w.timer.Stop()
	if err := l.Wait(ctx); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.stopped {
		w.timer = time.AfterFunc(firstByte, func() { w.cancel(errFirstByte) })
	}
	return nil
}

// dataArrived resets the timer.
func (w *watch) dataArrived() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	w.timer.Stop()
	w.timer = time.AfterFunc(w.stall, func() { w.cancel(errStalled) })
}

// answered records the head of a response. It returns an error if the response cannot be an
// answer.
func (w *watch) answered(r *http.Response) error {
	w.dataArrived()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status, w.header = r.StatusCode, r.Header
	switch {
	case r.StatusCode >= http.StatusBadRequest:
		return nil // the body has the details
	case r.StatusCode < 200 || r.StatusCode >= 300:
		return responseError(fmt.Sprintf("status %d instead of an answer; is the base URL right?", r.StatusCode))
	}
	if w.media == "" {
		return nil
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != w.media && (w.media != mediaStream || media != mediaJSON) {
		return responseError(fmt.Sprintf("content of type %q where %s was asked for", r.Header.Get("Content-Type"), w.media))
	}
	return nil
}

// head returns status and headers of the response; status is 0 without a response.
func (w *watch) head() (int, http.Header) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.status, w.header
}

// end releases the call. It is called once, after the whole answer was read.
func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.timer.Stop()
	w.total.Stop()
	w.cancel(nil)
}

// guard is a round tripper that records the head of every response, limits its body, and
// delays requests if there are too many.
type guard struct {
	next      http.RoundTripper
	max       int64
	limiter   llm.Limiter // nil: none
	firstByte time.Duration
}

// RoundTrip implements http.RoundTripper.
func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	w, ok := r.Context().Value(watchKey{}).(*watch)
	if ok && g.limiter != nil {
		if err := w.queue(r.Context(), g.limiter, g.firstByte); err != nil {
			return nil, err
		}
	}
	response, err := g.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if !ok {
		_ = response.Body.Close()
		return nil, fmt.Errorf("%s: a call without a watch", r.URL.Path)
	}
	if err := w.answered(response); err != nil {
		_ = response.Body.Close()
		return nil, err
	}
	response.Body = &guardedBody{body: response.Body, watch: w, left: g.max}
	if media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); w.media == mediaStream && media == mediaJSON && response.StatusCode < http.StatusBadRequest {
		return streamed(response)
	}
	return response, nil
}

// guardedBody resets the timer with each piece and limits the size. After a cancelled call, Read
// returns the cause.
type guardedBody struct {
	body  io.ReadCloser
	watch *watch
	left  int64
	err   error
}

// Read implements io.Reader.
func (b *guardedBody) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.body.Read(p)
	if n > 0 {
		b.watch.dataArrived()
	}
	if int64(n) > b.left {
		n, err = int(b.left), errTooLarge
	}
	b.left -= int64(n)
	if err != nil {
		b.err = err
	}
	return n, err
}

// Close implements io.Closer.
func (b *guardedBody) Close() error { return b.body.Close() }
