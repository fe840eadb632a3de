package langgraph

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server/internal/door"
)

func (s *service) streamRoutes() []door.Route {
	return []door.Route{
		long(s.onNewRun("POST /threads/{thread}/runs/stream", streamNew)), long(s.onNewRun("POST /runs/stream", streamNew)),
		long(s.onRun("GET /threads/{thread}/runs/{run}/stream", streamAgain)),
		long(on("POST /threads/{thread}/stream/events", s.streamEvents)), long(onThread(s, "GET /threads/{thread}/stream", s.streamThread)),
		{Pattern: "POST /threads/{thread}/commands", Scope: tokens.Ask, Errors: problem, Do: door.Answer(fail, s.command)},
	}
}

// tell sends the events of the run whose number is above since and, unless until is 0, below until. It returns how many
// events the run has there.
func (f *fold) tell(ctx context.Context, out *door.Stream, since, until int64) (n int, err error) {
	for e, err := range f.events(ctx) {
		if err != nil || until > 0 && number(e.at, 0) >= until {
			return n, err
		}
		n++
		for i, p := range f.take(&e) {
			id := number(e.at, i)
			if m, ok := f.words.frame(&e, &p, id); ok && id > since {
				_ = out.Send(m) // an error ends the context of the stream
			}
		}
	}
	return n, nil
}

func streamNew(c *call, r *run) (any, error) { return r.stream(c, r.modes, r.resumable, 0) }

// streamAgain is the stream of a run for a reader that comes back, or comes later.
func streamAgain(c *call, r *run) (any, error) {
	modes := r.modes
	if list := c.URL.Query()["stream_mode"]; strings.Join(list, "") != "" { // the Python SDK sends an empty one
		modes = list
	}
	if err := checkModes(modes); err != nil {
		return nil, err
	}
	since, err := lastEvent(c.Request)
	if err != nil {
		return nil, err
	}
	c.w.Header().Set("Content-Location", r.path())
	return r.stream(c, modes, true, since)
}

// lastEvent returns the number of the last event that a reader has; 0 without any.
func lastEvent(r *http.Request) (int64, error) {
	last := r.Header.Get("Last-Event-ID")
	if last == "" || last == "-1" {
		return 0, nil
	}
	n, err := strconv.ParseInt(last, 10, 64)
	if err != nil {
		return 0, invalid("Last-Event-ID: %q is not the id of an event", last)
	}
	return n, nil
}

// stream writes the events of a run after a number, to its end.
func (r *run) stream(c *call, modes names, ids bool, since int64) (any, error) {
	c.w.Header().Set("Location", r.path()+"/stream?stream_mode="+strings.Join(modes, "&stream_mode="))
	ctx, out := door.OpenStream(c.w, c.Request)
	defer out.Close()
	if since == 0 {
		_ = out.SendJSON("metadata", map[string]any{"run_id": r.id, "attempt": 1}) // an error ends ctx
	}
	f := &fold{run: r}
	f.words = &older{fold: f, modes: modes, subgraphs: r.subgraphs, ids: ids}
	n, err := f.tell(ctx, out, since, 0)
	if err != nil {
		c.left(ctx, r)
	} else if n == 0 && slices.Contains(modes, "values") { // nothing was left to do
		if state, _, err := r.runner.State(ctx, r.thread); err == nil {
			_ = out.SendJSON("values", valuesOf(state)) // the last event
		}
	}
	return door.Sent{}, nil
}

// streamThread writes the runs of a thread as the older protocol has them.
func (s *service) streamThread(c *call, t *found, _ *none) (any, error) {
	if m := strings.Join(c.URL.Query()["stream_mode"], ","); m != "" && m != "run_modes" {
		return nil, unsupported("stream_mode " + strconv.Quote(m))
	}
	since, err := lastEvent(c.Request)
	if err != nil {
		return nil, err
	}
	return s.follow(c, t, since, func(f *fold) protocol {
		return &older{fold: f, modes: f.modes, subgraphs: f.subgraphs, ids: true}
	})
}

// streamEvents writes the events of a thread, which may not exist yet.
func (s *service) streamEvents(c *call, q *eventsRequest) (any, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	t, err := s.find(c.Context(), c.PathValue("thread"))
	if err != nil && !errors.Is(err, graph.ErrNotFound) {
		return nil, err
	}
	return s.follow(c, t, q.Since, func(f *fold) protocol { return &newer{fold: f, q: q} })
}

// follow writes the events of a thread, which is nil before it exists: those after a number or, without one, those of
// its last run, and then those of later runs, until the reader leaves.
func (s *service) follow(c *call, t *found, since int64, words func(*fold) protocol) (_ any, err error) {
	known, leave := s.runs.watch(c.PathValue("thread"))
	defer leave()
	runs := known.All() // before the client sees that the stream begins
	var earlier []*run
	if t != nil && (since > 0 || len(runs) == 0) {
		if earlier, err = allInLog(c.Context(), t, since); err != nil {
			return nil, err
		}
	}
	ctx, out := door.OpenStream(c.w, c.Request)
	defer out.Close()
	tell := func(r *run, until int64) error {
		f := &fold{run: r}
		f.words = words(f)
		_, err := f.tell(ctx, out, since, until)
		return err
	}
	for _, r := range earlier {
		if err := tell(r, firstOf(runs)); err != nil {
			return door.Sent{}, nil // the reader has left, or comes again
		}
	}
	owner := graph.OwnerOf(ctx)
	for r, err := range known.Read(ctx, 0) {
		if err != nil {
			break
		}
		foreign := owner != "" && r.owner != owner // of a thread that did not exist when the stream began
		if foreign || since == 0 && len(runs) > 0 && slices.Contains(runs[:len(runs)-1], r) {
			continue
		}
		if tell(r, 0) != nil {
			break
		}
	}
	return door.Sent{}, nil
}

// firstOf returns the number of the first event of some runs; 0 if there is none.
func firstOf(runs []*run) int64 {
	for _, r := range runs {
		for _, e := range r.said.All() {
			return number(e.at, 0)
		}
	}
	return 0
}
