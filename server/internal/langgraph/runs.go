package langgraph

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/server/internal/door"
)

func (s *service) runRoutes() []door.Route {
	begun := func(_ *call, r *run) (any, error) { return r.shown(), nil }
	routes := []door.Route{
		s.onNewRun("POST /threads/{thread}/runs", begun), s.onNewRun("POST /runs", begun), on("POST /runs/batch", s.batch),
		long(s.onNewRun("POST /threads/{thread}/runs/wait", answer)), long(s.onNewRun("POST /runs/wait", answer)),
		onThread(s, "GET /threads/{thread}/runs", s.listRuns), s.onRun("GET /threads/{thread}/runs/{run}", begun),
		long(s.onRun("GET /threads/{thread}/runs/{run}/join", answer)), long(s.onRun("POST /threads/{thread}/runs/{run}/cancel", cancelRun)),
		on("POST /runs/cancel", s.cancelRuns),
		refusing("DELETE /threads/{thread}/runs/{run}", http.StatusMethodNotAllowed, "the log of a thread keeps its runs; the thread can be deleted"),
	}
	for _, pattern := range []string{
		"POST /runs/crons", "POST /threads/{thread}/runs/crons", "POST /runs/crons/search", "POST /runs/crons/count",
		"PATCH /runs/crons/{cron}", "DELETE /runs/crons/{cron}",
	} {
		routes = append(routes, refusing(pattern, http.StatusNotImplemented, "this server runs nothing at set times: let cron call it"))
	}
	return routes
}

// onNewRun is a route that begins a run.
func (s *service) onNewRun(pattern string, do func(c *call, r *run) (any, error)) door.Route {
	return on(pattern, func(c *call, q *runRequest) (any, error) {
		r, err := s.begin(c.Context(), c.PathValue("thread"), q)
		if err != nil {
			return nil, err
		}
		c.cancels = q.OnDisconnect == "cancel"
		c.w.Header().Set("Content-Location", r.path())
		return do(c, r)
	})
}

// onRun is a route of a run that exists.
func (s *service) onRun(pattern string, do func(c *call, r *run) (any, error)) door.Route {
	return onThread(s, pattern, func(c *call, t *found, _ *none) (any, error) {
		r, err := s.named(c.Context(), t, c.PathValue("run"))
		if err != nil {
			return nil, err
		}
		v := c.URL.Query().Get("cancel_on_disconnect")
		c.cancels = v == "1" || v == "true"
		return do(c, r)
	})
}

// maxBatch is how many runs one request begins.
const maxBatch = 100

func (s *service) batch(c *call, q *[]runRequest) (any, error) {
	if len(*q) > maxBatch {
		return nil, invalid("%d runs are more than %d", len(*q), maxBatch)
	}
	out := []any{}
	for i := range *q {
		r, err := s.begin(c.Context(), "", &(*q)[i])
		if err != nil {
			return nil, err
		}
		out = append(out, r.shown())
	}
	return out, nil
}

// named returns a run of a thread.
func (s *service) named(ctx context.Context, t *found, id string) (*run, error) {
	for _, r := range s.runs.list(t.Thread) {
		if r.id == id {
			return r, nil
		}
	}
	return inLog(ctx, t, id)
}

func (s *service) listRuns(c *call, t *found, _ *none) (any, error) {
	query := c.URL.Query()
	var part pageQuery
	part.Offset, _ = strconv.Atoi(query.Get("offset")) // 0 if it is no number
	part.Limit, _ = strconv.Atoi(query.Get("limit"))
	runs := s.runs.list(t.Thread)
	slices.Reverse(runs)
	logged := graph.RunQuery{Thread: t.Thread}
	if query.Get("status") == "" { // the newest ones are enough
		logged.Limit = len(runs) + max(part.Offset, 0) + cmp.Or(max(part.Limit, 0), defaultLimit)
	}
	infos, err := t.Runs(c.Context(), logged)
	if err != nil {
		return nil, err
	}
	for _, info := range infos {
		if !slices.ContainsFunc(runs, func(r *run) bool { return r.id == info.Run }) {
			runs = append(runs, fromLog(c.Context(), t, info, info.Run, &loggedCall{engine: info.Run}))
		}
	}
	var rows []map[string]any
	for _, r := range runs {
		if row := r.shown(); query.Get("status") == "" || query.Get("status") == row["status"] {
			rows = append(rows, selected(row, query["select"]))
		}
	}
	return page(rows, part), nil
}

func cancelRun(c *call, r *run) (any, error) {
	query := c.URL.Query()
	if action := query.Get("action"); action != "" && action != "interrupt" {
		return nil, unsupported("action " + strconv.Quote(action))
	}
	if r.over() {
		return nil, door.Errorf(http.StatusNotFound, "the run has ended")
	}
	r.cancel(graph.ErrCancelled)
	if wait := query.Get("wait"); wait != "1" && wait != "true" {
		c.w.WriteHeader(http.StatusAccepted)
		return door.Sent{}, nil
	}
	select {
	case <-r.ended:
	case <-c.Context().Done():
	}
	return door.Nothing{}, nil
}

type cancelRequest struct {
	Thread string   `json:"thread_id"`
	Runs   []string `json:"run_ids"`
	Status string   `json:"status"` // pending, running or all
}

func (s *service) cancelRuns(c *call, q *cancelRequest) (any, error) {
	if q.Thread == "" {
		return nil, unsupported("cancel without thread_id")
	}
	if _, err := s.find(c.Context(), q.Thread); err != nil {
		return nil, err
	}
	n := 0
	for _, r := range s.runs.active(q.Thread) {
		status, _ := r.now()
		if slices.Contains(q.Runs, r.id) || len(q.Runs) == 0 && (q.Status == "all" || q.Status == status) {
			r.cancel(graph.ErrCancelled)
			n++
		}
	}
	if n == 0 {
		return nil, door.Errorf(http.StatusNotFound, "no run to cancel")
	}
	return door.Nothing{}, nil
}

// answer waits for the end of a run and answers with its last state. Meanwhile it writes empty lines,
// which keep the connection.
func answer(c *call, r *run) (any, error) {
	c.w.Header().Set("Content-Type", "application/json")
	done := make(chan map[string]any, 1)
	go func() { done <- r.outcome(c.Context()) }()
	ticks := time.NewTicker(door.Heartbeat)
	defer ticks.Stop()
	for {
		select {
		case out := <-done:
			c.left(c.Context(), r)
			_ = json.NewEncoder(c.w).Encode(out) // a reader that has left needs nothing
			return door.Sent{}, nil
		case <-ticks.C:
			_, _ = c.w.Write([]byte("\n")) // the context ends if the reader has left
			_ = http.NewResponseController(c.w).Flush()
		}
	}
}

// outcome returns what the end of a run is: the last state with open questions, or what failed.
func (r *run) outcome(ctx context.Context) map[string]any {
	var state json.RawMessage
	var open []graph.Question
	for e, err := range r.events(ctx) {
		if err = cmp.Or(err, e.err); err != nil {
			return map[string]any{"__error__": problemOf(err)}
		}
		if !e.Live {
			state = e.State
		}
		if e.Interrupt != nil {
			open = e.Interrupt.Questions
		}
		if e.Kind == graph.RunEnded && (e.Status == graph.Failed || e.Status == graph.Limited) && r.logged != nil {
			return map[string]any{"__error__": problemOf(errors.New("the run failed"))}
		}
	}
	if state == nil {
		state, _, _ = r.runner.State(ctx, r.thread) // nothing was left to do
	}
	out := valuesOf(state)
	if len(open) > 0 {
		out["__interrupt__"] = interrupts(open)
	}
	return out
}
