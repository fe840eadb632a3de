package web

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"example.com/ragflow/server/internal/door"
	"example.com/ragflow/threads"
)

const (
	// frame is the least time between two pictures of an answer that is written.
	frame = 100 * time.Millisecond
	// lookEvery is how often a stream looks for a run that another program has begun.
	lookEvery = 2 * time.Second
)

// tabs counts the streams of each browser.
type tabs struct {
	mu   sync.Mutex
	open map[string]int
}

// maxTabs is how many streams a browser may have: it has six connections to a server for all its tabs, and
// needs some for what people do. Further tabs are told how things are and come again.
const maxTabs = 4

// add counts streams that a browser begins or ends, and returns how many it has.
func (t *tabs) add(browser string, more int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		t.open = map[string]int{}
	}
	if t.open[browser] += more; t.open[browser] == 0 {
		delete(t.open, browser)
	}
	return t.open[browser]
}

// browserCookie tells the tabs of one browser from those of others, and nothing else.
const browserCookie = "ragflow_browser"

func browserOf(r *http.Request) string {
	c, err := r.Cookie(browserCookie)
	if err != nil {
		return ""
	}
	return c.Value
}

// live is the stream of a conversation: the turn under way as it looks now, and each that follows. ?seen= or
// Last-Event-ID names the last turn that the page has.
func (s *site) live(w http.ResponseWriter, r *http.Request) {
	thread, language := r.PathValue("thread"), languageOf(r)
	if _, err := s.a.Threads().Info(r.Context(), thread); err != nil {
		s.write(w, r, faultPage(r, newFault(err), statusOf(err)))
		return
	}
	seen := cmp.Or(r.Header.Get("Last-Event-Id"), r.URL.Query().Get("seen"))
	ctx, out := door.OpenStream(w, r)
	defer out.Close()
	l := &viewer{site: s, out: out, language: language, seen: seen, again: true}
	defer s.tabs.add(browserOf(r), -1)
	if s.tabs.add(browserOf(r), 1) > maxTabs { // its page comes again soon
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 2*frame)
		defer cancel()
	}
	for ctx.Err() == nil {
		rung := s.bell.listen()
		if t := s.next(ctx, thread, l.seen, l.again); t != nil {
			l.follow(ctx, t)
			continue
		}
		l.again = false
		select {
		case <-rung:
		case <-time.After(lookEvery):
		case <-ctx.Done():
		}
	}
}

// next returns the turn after the one that was seen, or that one if it may have changed since; nil if
// there is none yet.
func (s *site) next(ctx context.Context, thread, seen string, again bool) *turn {
	t, err := s.a.Threads().Thread(ctx, thread)
	if err != nil {
		return nil
	}
	asks := questions(t)
	at := slices.IndexFunc(asks, func(m threads.Message) bool { return seen != "" && m.Run == seen })
	switch {
	case at >= 0 && !again:
		at++
	case at < 0 && (seen != "" || again):
		at = len(asks) - 1
	}
	if at < 0 || at == len(asks) {
		return nil
	}
	return newTurn(thread, asks[at].Run, asks[at].Content)
}

// viewer is one reader of a conversation.
type viewer struct {
	site     *site
	out      *door.Stream
	language string
	seen     string // run that the page has
	again    bool   // send it as it is now
	sent     []byte // last
	told     int    // bytes of the answer that were told to people who listen
}

// follow sends a turn until it is over.
func (v *viewer) follow(ctx context.Context, t *turn) {
	t.Last = true
	t.may(door.Of(ctx))
	if t.Run != v.seen {
		v.send(t, true)
	}
	v.seen, v.again, v.told = t.Run, false, 0
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	changes := make(chan func())
	go func() { // ends with ctx
		defer close(changes)
		for e, err := range v.site.a.Runs().Events(ctx, t.Run, "") {
			change := func() { t.take(e) }
			switch {
			case ctx.Err() != nil: // its reader has left
				return
			case err != nil:
				change = func() { t.fail(err) }
			}
			select {
			case changes <- change:
			case <-ctx.Done():
				return
			}
		}
	}()
	var tick <-chan time.Time
	for {
		select {
		case change, ok := <-changes:
			if !ok {
				v.send(t, false)
				return
			}
			change()
			if tick == nil {
				tick = time.After(frame)
			}
		case <-tick:
			tick = nil
			v.send(t, false)
		}
	}
}

// partial adds a template for a part of the page to a message.
func (v *viewer) partial(b *bytes.Buffer, target, swap, name string, data any) {
	b.WriteString(`<hx-partial hx-target="` + target + `" hx-swap="` + swap + `">`)
	b.Write(v.site.part(v.language, "thread", name, data))
	b.WriteString(`</hx-partial>`)
}

// send sends a turn as it is now: in the place of the one that the page has, or as a new one.
func (v *viewer) send(t *turn, fresh bool) {
	v.site.refill(t)
	var b bytes.Buffer
	if fresh {
		v.partial(&b, "#turns", "beforeend", "turn", t)
	} else {
		v.partial(&b, "#turn-"+t.Run, "outerMorph", "turn", t)
		v.partial(&b, "#flow", "innerHTML", "flow", draw(v.site.a.Graph().Shape(), t.states()))
		if said, to := t.sentences(v.told); said != "" {
			v.told = to
			v.partial(&b, "#said", "innerHTML", "said", said)
		}
	}
	if bytes.Equal(b.Bytes(), v.sent) {
		return
	}
	v.sent = b.Bytes()
	_ = v.out.Send(door.Message{ID: t.Run, Data: v.sent}) // its error ends the stream
}
