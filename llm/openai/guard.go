package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync"
	"time"
)

// Causes of a call that this package itself broke off.
var (
	errFirstByte = errors.New("no answer began in time")
	errStalled   = errors.New("the answer stalled")
	errTooLong   = errors.New("the answer took too long altogether")
	errTooLarge  = errors.New("the response is too large")
)

// Types of what providers send.
const (
	mediaJSON   = "application/json"
	mediaStream = "text/event-stream"
)

// responseError says why a response cannot hold an answer.
type responseError string

func (e responseError) Error() string { return string(e) }

// watch is the clock of one call: it cancels the call when nothing comes.
type watch struct {
	ctx    context.Context //nolint:containedctx // lives as long as the call
	parent context.Context //nolint:containedctx // tells the caller's end from ours
	cancel context.CancelCauseFunc
	stall  time.Duration
	model  string // that was asked
	media  string // type of the response that is wanted

	mu      sync.Mutex // owns what follows
	timer   *time.Timer
	total   *time.Timer
	header  http.Header // of the response
	status  int
	stopped bool
}

type watchKey struct{}

func (c *Client) watch(parent context.Context, model, media string) *watch {
	ctx, cancel := context.WithCancelCause(parent)
	w := &watch{parent: parent, cancel: cancel, stall: c.config.Stall, model: model, media: media}
	w.ctx = context.WithValue(ctx, watchKey{}, w)
	w.timer = time.AfterFunc(c.config.FirstByte, func() { cancel(errFirstByte) })
	w.total = time.AfterFunc(c.config.Total, func() { cancel(errTooLong) })
	return w
}

// moved says that a piece of the answer came.
func (w *watch) moved() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	w.timer.Stop()
	w.timer = time.AfterFunc(w.stall, func() { w.cancel(errStalled) })
}

// answered notes the head of a response and refuses one that cannot hold an
// answer.
func (w *watch) answered(r *http.Response) error {
	w.moved()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status, w.header = r.StatusCode, r.Header
	switch {
	case r.StatusCode >= http.StatusBadRequest:
		return nil // the body says more
	case r.StatusCode < 200 || r.StatusCode >= 300:
		return responseError(fmt.Sprintf("status %d instead of an answer; is the base URL right?", r.StatusCode))
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != w.media {
		return responseError(fmt.Sprintf("content of type %q where %s was asked for", r.Header.Get("Content-Type"), w.media))
	}
	return nil
}

// head is what is known of the response; status is 0 where none came.
func (w *watch) head() (int, http.Header) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.status, w.header
}

// end releases the call. It is called once, when all of the answer was read.
func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.timer.Stop()
	w.total.Stop()
	w.cancel(nil)
}

// guard sees every response: it notes its head and bounds its body.
type guard struct {
	next http.RoundTripper
	max  int64
}

// RoundTrip implements http.RoundTripper.
func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	w, ok := r.Context().Value(watchKey{}).(*watch)
	response, err := g.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if !ok {
		_ = response.Body.Close()
		return nil, fmt.Errorf("%s: a call that nobody watches", r.URL.Path)
	}
	if err := w.answered(response); err != nil {
		_ = response.Body.Close()
		return nil, err
	}
	response.Body = &guardedBody{body: response.Body, watch: w, left: g.max}
	return response, nil
}

// guardedBody tells the watch of each piece and ends with errTooLarge. What
// stands in the way of reading a broken-off call is the cause of its end.
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
		b.watch.moved()
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
