package langgraph

import (
	"context"
	"errors"
	"math"
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
		long(on("POST /threads/{thread}/stream/events", s.streamEvents)),
		{Pattern: "POST /threads/{thread}/commands", Scope: tokens.Ask, Errors: problem, Do: door.Answer(fail, s.command)},
	}
}

// reader sends the events of runs to a client.
type reader struct {
	out   *door.Stream
	words func(*fold) protocol
	since int64 // number of the last event that the client has
	folds map[*run]*fold
}

func (r *reader) send(e *event) {
	f := r.folds[e.run]
	if f == nil {
		f = &fold{run: e.run}
		f.words = r.words(f)
		r.folds[e.run] = f
	}
	for i, p := range f.take(e) {
		n := number(e.at, i)
		if m, ok := f.words.frame(e, &p, n); ok && n > r.since {
			_ = r.out.Send(m) // an error ends the context of the stream
		}
	}
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
	to := &reader{out: out, since: since, folds: map[*run]*fold{}, words: func(f *fold) protocol {
		return &older{fold: f, modes: modes, subgraphs: r.subgraphs, ids: ids}
	}}
	for e, err := range r.events(ctx) {
		if err != nil {
			c.left(ctx, r)
			return door.Sent{}, nil
		}
		to.send(&e)
	}
	if len(to.folds) == 0 && slices.Contains(modes, "values") { // nothing was left to do
		if state, _, err := r.runner.State(ctx, r.thread); err == nil {
			_ = out.SendJSON("values", valuesOf(state)) // the last event
		}
	}
	return door.Sent{}, nil
}

// streamEvents writes the events of a thread, which may not exist yet: those after a number or, without one, those of
// its last run, and then those of later runs, until the reader leaves.
func (s *service) streamEvents(c *call, q *eventsRequest) (any, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	t, err := s.find(c.Context(), c.PathValue("thread"))
	if err != nil && !errors.Is(err, graph.ErrNotFound) {
		return nil, err
	}
	known, leave := s.runs.watch(c.PathValue("thread"))
	defer leave()
	runs := known.All() // before the client sees that the stream begins
	ctx, out := door.OpenStream(c.w, c.Request)
	defer out.Close()
	to := &reader{out: out, since: q.Since, words: func(f *fold) protocol { return &newer{fold: f, q: q} }, folds: map[*run]*fold{}}
	if t != nil && (q.Since > 0 || len(runs) == 0) {
		if err := to.catchUp(ctx, t, runs); err != nil {
			return door.Sent{}, nil // the reader has left, or comes again
		}
	}
	owner := graph.OwnerOf(ctx)
	for r, err := range known.Read(ctx, 0) {
		if err != nil {
			break
		}
		foreign := owner != "" && r.owner != owner // of a thread that did not exist when the stream began
		if foreign || q.Since == 0 && len(runs) > 0 && slices.Contains(runs[:len(runs)-1], r) {
			continue
		}
		for e, err := range r.said.Read(ctx, 0) {
			if err != nil {
				break
			}
			to.send(&e)
		}
	}
	return door.Sent{}, nil
}

// catchUp sends what the log has and the known runs have not: what the reader lacks or, if it has nothing, the last run.
func (r *reader) catchUp(ctx context.Context, t *found, known []*run) error {
	query := graph.RunQuery{Thread: t.Thread}
	if r.since == 0 {
		query.Limit = 1
	}
	infos, err := t.Runs(ctx, query)
	if err != nil {
		return err
	}
	end := int64(math.MaxInt64)
	if len(known) > 0 {
		for _, e := range known[0].said.All() {
			end = min(end, e.at.seq)
		}
	}
	for _, info := range slices.Backward(infos) {
		if int64(info.Last)*4+3 < positionOf(r.since).seq {
			continue
		}
		x := fromLog(ctx, t, info, callOf(info.Run))
		for e, err := range t.Events(ctx, t.Thread, info.Run, 0, graph.Values|graph.Updates|graph.Tasks) {
			if err != nil {
				return err
			}
			if e.Seq < end {
				r.send(&event{Event: e, at: position{seq: e.Seq}, run: x})
			}
		}
	}
	return nil
}
