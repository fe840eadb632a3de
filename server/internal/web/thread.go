package web

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server/internal/door"
	"example.com/ragflow/state"
	"example.com/ragflow/threads"
)

// shownTurns is how many of the last turns a page shows at first.
const shownTurns = 12

// composer is where a person asks.
type composer struct {
	Thread      string // "" begins one
	Collections []string
	Collection  string
	Models      []string
	Model       string
	Agent       bool // there is a model, which may search as often as it likes
	Draft       string
}

type homePage struct {
	composer

	Documents int
	Passages  int
	Unread    int
	Recent    []threads.Info
	Upload    bool
	Reading   bool // documents are there, and none is indexed yet
}

type threadPage struct {
	composer

	Info    threads.Info
	Turns   []*turn
	Earlier int // turns that are not shown
	Seen    string
	Running bool
	Edited  string // the conversation that this one was made from
	Flow    *flow
	Deleted bool // and can be brought back
}

// home is the page to begin a conversation.
func (s *site) home(r *http.Request) (answer, error) {
	ctx := r.Context()
	h := homePage{composer: s.composer(ctx, ""), Upload: door.Of(ctx).May(tokens.Upload)}
	h.Draft = text.First(r.URL.Query().Get("q"), 2000)
	s.begun(ctx, &h, r.URL.Query().Get("collection"))
	if page, err := s.list(ctx, threads.Query{Limit: 6}); err == nil {
		h.Recent = page.Threads
	}
	return answer{name: "home", data: h}, nil
}

// begun chooses the collection that a conversation begins with: the one that was asked for, or else the first that
// holds something.
func (s *site) begun(ctx context.Context, h *homePage, asked string) {
	for _, name := range append([]string{asked, ""}, h.Collections...) {
		l, err := s.documents.Library(ctx, name)
		if err != nil {
			continue
		}
		stats, err := l.Stats(ctx, false)
		if err != nil {
			continue
		}
		for _, c := range stats.Collections {
			h.Documents, h.Passages, h.Unread = h.Documents+c.Files, h.Passages+c.Chunks, h.Unread+c.Skipped+c.Failed
		}
		h.Reading = h.Passages == 0 && name == "" && len(s.a.Config().Docs) > 0
		if h.Passages > 0 || h.Reading {
			h.Collection = cmp.Or(name, h.Collection)
			return
		}
	}
}

// thread is the page of a conversation.
func (s *site) thread(r *http.Request) (answer, error) {
	t, err := s.a.Threads().Thread(r.Context(), r.PathValue("thread"))
	if err != nil {
		return answer{}, err
	}
	return answer{name: "thread", data: s.threadPage(r, t)}, nil
}

func (s *site) threadPage(r *http.Request, t *threads.Thread) threadPage {
	ctx := r.Context()
	p := threadPage{composer: s.composer(ctx, t.ID), Info: t.Info, Edited: t.Metadata[editedKey], Flow: draw(s.a.Graph().Shape(), nil), Deleted: t.Metadata[deletedKey] != ""}
	if !slices.Equal(scoped(t.Scope), s.everything(ctx)) {
		p.Collection = cmp.Or(t.Scope.Collection, p.Collection)
	}
	asks := questions(t)
	if r.URL.Query().Get("all") == "" && len(asks) > shownTurns {
		p.Earlier = len(asks) - shownTurns
	}
	rated := s.ratings(ctx)
	for i, m := range asks[p.Earlier:] {
		x := s.turn(ctx, t, m)
		x.Rating, x.Last = rated[x.Run], p.Earlier+i == len(asks)-1
		x.may(door.Of(ctx))
		p.Turns = append(p.Turns, x)
		p.Seen, p.Running = x.Run, x.Running()
	}
	return p
}

// questions are the messages of a thread that began a turn.
func questions(t *threads.Thread) (out []threads.Message) {
	for _, m := range t.Messages {
		if m.Role == state.Human {
			out = append(out, m)
		}
	}
	return out
}

// turn reads a turn of a thread back. One that is not over yet is filled in by the stream.
func (s *site) turn(ctx context.Context, t *threads.Thread, m threads.Message) *turn {
	x := newTurn(t.ID, m.Run, m.Content)
	if m.Run == "" {
		x.State = forgotten
		for i, other := range t.Messages {
			if other.ID == m.ID && i+1 < len(t.Messages) && t.Messages[i+1].Role == state.AI {
				x.Text = t.Messages[i+1].Content
			}
		}
		return x
	}
	if !slices.ContainsFunc(s.a.Runs().List(ctx), func(r ragflow.RunInfo) bool { return r.Run == m.Run }) {
		s.read(ctx, x)
	}
	s.refill(x)
	return x
}

// read fills in a turn whose run this process does not work on. If another one does, the stream follows it.
func (s *site) read(ctx context.Context, x *turn) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for e, err := range s.a.Runs().Events(ctx, x.Run, "") {
		if err == nil {
			x.take(e)
		} else if ctx.Err() == nil {
			x.fail(err)
		}
	}
}

// refill puts what a person answered into the questions that are asked again, since the answer was rejected.
func (s *site) refill(x *turn) {
	values, _ := s.typed.Get(x.Run)
	for i := range x.Questions {
		if x.Questions[i].Problem != "" {
			x.Questions[i].fill(values)
		}
	}
}

func (s *site) composer(ctx context.Context, thread string) composer {
	config := s.a.Config()
	return composer{
		Thread: thread, Collections: s.usable(ctx), Collection: config.Collection, Agent: config.Models.Chat != nil,
		Models: slices.Sorted(maps.Keys(config.Models.Named)), Model: config.Settings.Model,
	}
}

// usable are the collections that the caller may name.
func (s *site) usable(ctx context.Context) []string {
	names, _ := s.a.Collections().List() // then none can be chosen
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !door.Of(ctx).Uses(n) })
}

// everything are the collections of a question for which none is chosen: the documents of the server, and those that
// people have added beside them. None is the default one.
func (s *site) everything(ctx context.Context) []string {
	names, err := s.a.Collections().List()
	if err != nil || len(door.Of(ctx).Collections) > 0 || s.a.Config().Collection != "" || !slices.Contains(names, added) {
		return nil
	}
	return []string{added, ""}
}

// bell wakes all streams when a run begins.
type bell struct {
	mu   sync.Mutex
	hung chan struct{} // closed to ring
}

// listen returns a channel that is closed when the bell rings next.
func (b *bell) listen() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.hung == nil {
		b.hung = make(chan struct{})
	}
	return b.hung
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.hung != nil {
		close(b.hung)
		b.hung = nil
	}
}
