package web

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server/internal/door"
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

func (t *tabs) enter(browser string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open[browser] >= maxTabs {
		return false
	}
	if t.open == nil {
		t.open = map[string]int{}
	}
	t.open[browser]++
	return true
}

func (t *tabs) leave(browser string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open[browser]--; t.open[browser] == 0 {
		delete(t.open, browser)
	}
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
		s.fault(w, r, err)
		return
	}
	seen := r.Header.Get("Last-Event-Id")
	if seen == "" {
		seen = r.URL.Query().Get("seen")
	}
	ctx, out := door.OpenStream(w, r)
	defer out.Close()
	l := &viewer{site: s, out: out, language: language, seen: seen, again: true}
	if !s.tabs.enter(browserOf(r)) { // its page comes again soon
		ctx, cancel := context.WithTimeout(ctx, 2*frame)
		defer cancel()
		for t := s.next(ctx, thread, seen, true); t != nil && ctx.Err() == nil; t = s.next(ctx, thread, l.seen, false) {
			l.follow(ctx, t)
		}
		return
	}
	defer s.tabs.leave(browserOf(r))
	for ctx.Err() == nil {
		rung := s.bells.listen(thread)
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
	for i := range slices.Backward(asks) {
		if asks[i].Run != seen {
			continue
		}
		if again {
			return newTurn(thread, seen, asks[i].Content)
		}
		if i+1 < len(asks) {
			return newTurn(thread, asks[i+1].Run, asks[i+1].Content)
		}
		return nil
	}
	if len(asks) == 0 || seen == "" && !again {
		return nil
	}
	last := asks[len(asks)-1]
	return newTurn(thread, last.Run, last.Content)
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
	t.Last, t.Admin, t.Upload = true, door.Of(ctx).May(tokens.Admin), door.Of(ctx).May(tokens.Upload)
	if t.Run != v.seen {
		v.send(t, true)
	}
	v.seen, v.again, v.told = t.Run, false, 0
	events, stop := s2c(ctx, v.site.a, t.Run)
	defer stop()
	var tick <-chan time.Time
	for {
		select {
		case e, ok := <-events:
			if !ok {
				v.send(t, false)
				return
			}
			if e.err != nil {
				t.fail(e.err)
			} else {
				t.take(e.Event)
			}
			if tick == nil {
				tick = time.After(frame)
			}
		case <-tick:
			tick = nil
			v.send(t, false)
		case <-ctx.Done():
			v.send(t, false)
			return
		}
	}
}

type event struct {
	ragflow.Event

	err error
}

// s2c hands out the events of a run by a channel, which is closed at the end.
func s2c(ctx context.Context, a *ragflow.Assistant, run string) (<-chan event, func()) {
	ctx, cancel := context.WithCancel(ctx)
	out := make(chan event)
	go func() {
		defer close(out)
		for e, err := range a.Runs().Events(ctx, run, "") {
			select {
			case out <- event{e, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, cancel
}

// send sends a turn as it is now: in the place of the one that the page has, or as a new one.
func (v *viewer) send(t *turn, fresh bool) {
	var b bytes.Buffer
	if fresh {
		b.WriteString(`<hx-partial hx-target="#turns" hx-swap="beforeend">`)
	} else {
		b.WriteString(`<hx-partial hx-target="#turn-` + t.Run + `" hx-swap="outerMorph">`)
	}
	b.Write(v.site.part(v.language, "thread#turn", t))
	b.WriteString(`</hx-partial>`)
	if !fresh {
		b.WriteString(`<hx-partial hx-target="#flow" hx-swap="innerHTML">`)
		b.Write(v.site.part(v.language, "thread#flow", draw(v.site.a.Graph().Shape(), t.states())))
		b.WriteString(`</hx-partial>`)
	}
	if said, to := t.sentences(v.told); said != "" && !fresh {
		v.told = to
		b.WriteString(`<hx-partial hx-target="#said" hx-swap="innerHTML">`)
		b.Write(v.site.part(v.language, "thread#said", said))
		b.WriteString(`</hx-partial>`)
	}
	if bytes.Equal(b.Bytes(), v.sent) {
		return
	}
	v.sent = b.Bytes()
	_ = v.out.Send(door.Message{ID: t.Run, Data: v.sent}) // its error ends the stream
}
