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
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server/internal/door"
)

func (s *service) runRoutes() []door.Route {
	crons := func(http.ResponseWriter, *http.Request) (any, error) {
		return nil, failed(http.StatusNotImplemented, "this server runs nothing at set times: let cron call it")
	}
	routes := []door.Route{
		call("POST /threads/{thread}/runs", s.createRun), call("POST /runs", s.createRun), call("POST /runs/batch", s.batch),
		call("GET /threads/{thread}/runs", s.listRuns), call("GET /threads/{thread}/runs/{run}", s.getRun),
		call("DELETE /threads/{thread}/runs/{run}", func(http.ResponseWriter, *http.Request) (any, error) {
			return nil, failed(http.StatusMethodNotAllowed, "the log of a thread keeps its runs; the thread can be deleted")
		}),
		long("POST /threads/{thread}/runs/{run}/cancel", s.cancelRun), call("POST /runs/cancel", s.cancelRuns),
		long("POST /threads/{thread}/runs/wait", s.wait), long("POST /runs/wait", s.wait), long("GET /threads/{thread}/runs/{run}/join", s.join),
	}
	for _, p := range []string{
		"POST /runs/crons", "POST /threads/{thread}/runs/crons", "POST /runs/crons/search", "POST /runs/crons/count",
		"PATCH /runs/crons/{cron}", "DELETE /runs/crons/{cron}",
	} {
		routes = append(routes, call(p, crons))
	}
	return routes
}

// long is a route whose handler may take minutes and answers by itself unless there is an error.
func long(pattern string, f func(w http.ResponseWriter, r *http.Request) error) door.Route {
	return door.Route{Pattern: pattern, Scope: tokens.Ask, Long: true, Errors: problem, Do: func(w http.ResponseWriter, r *http.Request) {
		if err := f(w, r); err != nil {
			fail(w, err)
		}
	}}
}

// beginFrom starts the run of a request. A run without a thread has one of its own, which is deleted at its
// end unless it shall be kept.
func (s *service) beginFrom(w http.ResponseWriter, r *http.Request) (*run, *runRequest, error) {
	q, err := read[*runRequest](w, r)
	if err != nil {
		return nil, nil, err
	}
	if q == nil {
		q = &runRequest{}
	}
	x, err := s.beginIn(r.Context(), r.PathValue("thread"), q)
	if err != nil {
		return nil, nil, err
	}
	w.Header().Set("Content-Location", "/threads/"+x.thread+"/runs/"+x.id)
	return x, q, nil
}

func (s *service) beginIn(ctx context.Context, thread string, q *runRequest) (*run, error) {
	if thread != "" {
		return s.begin(ctx, thread, q)
	}
	q.IfNotExists, q.OnDisconnect = "create", cmp.Or(q.OnDisconnect, "cancel")
	x, err := s.begin(ctx, newID(), q)
	if err == nil && q.OnCompletion != "keep" {
		go func() {
			<-x.ended
			_ = s.remove(context.WithoutCancel(ctx), x.thread) // a later prune removes it otherwise
		}()
	}
	return x, err
}

// shown is a run as clients know it.
func (r *run) shown() map[string]any {
	status, at := r.now()
	return map[string]any{
		"run_id": r.id, "thread_id": r.thread, "assistant_id": assistantID(r.graph), "metadata": merged(r.metadata), "status": status,
		"kwargs": struct{}{}, "multitask_strategy": r.strategy, "created_at": stamp(r.began), "updated_at": stamp(at),
	}
}

func (s *service) createRun(w http.ResponseWriter, r *http.Request) (any, error) {
	x, _, err := s.beginFrom(w, r)
	if err != nil {
		return nil, err
	}
	return x.shown(), nil
}

// maxBatch is how many runs one request begins.
const maxBatch = 100

func (s *service) batch(w http.ResponseWriter, r *http.Request) (any, error) {
	list, err := read[[]*runRequest](w, r)
	if err != nil {
		return nil, err
	}
	if len(list) > maxBatch {
		return nil, failed(http.StatusUnprocessableEntity, "%d runs are more than %d", len(list), maxBatch)
	}
	out := []any{}
	for _, q := range list {
		x, err := s.beginIn(r.Context(), "", q)
		if err != nil {
			return nil, err
		}
		out = append(out, x.shown())
	}
	return out, nil
}

// named returns the thread and the run of a path.
func (s *service) named(r *http.Request) (*found, *run, loggedCall, error) {
	t, err := s.find(r.Context(), r.PathValue("thread"))
	if err != nil {
		return nil, nil, loggedCall{}, err
	}
	for _, x := range s.runs.list(t.Thread) {
		if x.id == r.PathValue("run") {
			return t, x, loggedCall{}, nil
		}
	}
	x, c, err := s.inLog(r.Context(), t, r.PathValue("run"))
	return t, x, c, err
}

func (s *service) getRun(_ http.ResponseWriter, r *http.Request) (any, error) {
	_, x, _, err := s.named(r)
	if err != nil {
		return nil, err
	}
	return x.shown(), nil
}

func (s *service) listRuns(_ http.ResponseWriter, r *http.Request) (any, error) {
	t, err := s.find(r.Context(), r.PathValue("thread"))
	if err != nil {
		return nil, err
	}
	query := r.URL.Query()
	known := map[string]bool{}
	rows := []any{}
	add := func(x *run) {
		if row := x.shown(); query.Get("status") == "" || query.Get("status") == row["status"] {
			rows = append(rows, selected(row, query["select"]))
		}
	}
	for _, x := range slices.Backward(s.runs.list(t.Thread)) {
		known[x.id] = true
		add(x)
	}
	offset, _ := strconv.Atoi(query.Get("offset")) // 0 if it is no number
	limit, _ := strconv.Atoi(query.Get("limit"))
	q := graph.RunQuery{Thread: t.Thread}
	if query.Get("status") == "" { // the newest ones are enough
		q.Limit = len(known) + max(offset, 0) + cmp.Or(max(limit, 0), defaultPage)
	}
	infos, err := t.Runs(r.Context(), q)
	if err != nil {
		return nil, err
	}
	for _, info := range infos {
		if !known[info.Run] {
			add(s.closed(r.Context(), t, info, info.Run))
		}
	}
	return page(rows, offset, limit), nil
}

func (s *service) cancelRun(w http.ResponseWriter, r *http.Request) error {
	_, x, _, err := s.named(r)
	if err != nil {
		return err
	}
	if action := r.URL.Query().Get("action"); action != "" && action != "interrupt" {
		return unsupported("action " + strconv.Quote(action))
	}
	if status, _ := x.now(); status != "pending" && status != "running" {
		return failed(http.StatusNotFound, "the run has ended")
	}
	x.cancel(graph.ErrCancelled)
	if wait := r.URL.Query().Get("wait"); wait != "1" && wait != "true" {
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
	select {
	case <-x.ended:
	case <-r.Context().Done():
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

type cancelRequest struct {
	Thread string   `json:"thread_id"`
	Runs   []string `json:"run_ids"`
	Status string   `json:"status"` // pending, running or all
}

func (s *service) cancelRuns(w http.ResponseWriter, r *http.Request) (any, error) {
	q, err := read[cancelRequest](w, r)
	if err != nil {
		return nil, err
	}
	if q.Thread == "" {
		return nil, unsupported("cancel without thread_id")
	}
	if _, err := s.find(r.Context(), q.Thread); err != nil {
		return nil, err
	}
	n := 0
	for _, x := range s.runs.list(q.Thread) {
		status, _ := x.now()
		active := status == "pending" || status == "running"
		if active && (slices.Contains(q.Runs, x.id) || len(q.Runs) == 0 && (q.Status == "all" || q.Status == status)) {
			x.cancel(graph.ErrCancelled)
			n++
		}
	}
	if n == 0 {
		return nil, failed(http.StatusNotFound, "no run to cancel")
	}
	return nothing{}, nil
}

func (s *service) wait(w http.ResponseWriter, r *http.Request) error {
	x, q, err := s.beginFrom(w, r)
	if err != nil {
		return err
	}
	t, err := s.find(r.Context(), x.thread)
	if err != nil && !missing(err) {
		return err
	}
	s.answer(w, r, t, x, loggedCall{}, q.OnDisconnect == "cancel")
	return nil
}

func (s *service) join(w http.ResponseWriter, r *http.Request) error {
	t, x, c, err := s.named(r)
	if err != nil {
		return err
	}
	s.answer(w, r, t, x, c, cancels(r))
	return nil
}

// cancels reports whether a run ends when its reader leaves.
func cancels(r *http.Request) bool {
	v := r.URL.Query().Get("cancel_on_disconnect")
	return v == "1" || v == "true"
}

// answer waits for the end of a run and answers with its last state. Meanwhile it writes empty lines,
// which keep the connection.
func (s *service) answer(w http.ResponseWriter, r *http.Request, t *found, x *run, c loggedCall, cancel bool) {
	w.Header().Set("Content-Type", "application/json")
	done := make(chan map[string]any, 1)
	go func() { done <- s.outcome(r.Context(), t, x, c) }()
	ticks := time.NewTicker(door.Heartbeat)
	defer ticks.Stop()
	for {
		select {
		case out := <-done:
			if r.Context().Err() != nil && cancel {
				x.cancel(graph.ErrCancelled)
			}
			_ = json.NewEncoder(w).Encode(out) // a reader that has left needs nothing
			return
		case <-ticks.C:
			_, _ = w.Write([]byte("\n")) // the context ends if the reader has left
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// outcome returns what the end of a run is: the last state with open questions, or what failed.
func (s *service) outcome(ctx context.Context, t *found, x *run, c loggedCall) map[string]any {
	var state json.RawMessage
	var open []graph.Question
	for e, err := range s.events(ctx, t, x, c) {
		err = cmp.Or(err, e.err)
		if err != nil {
			return map[string]any{"__error__": problemOf(err)}
		}
		if !e.Live {
			state = e.State
		}
		if e.Interrupt != nil {
			open = e.Interrupt.Questions
		}
		if e.Kind == graph.RunEnded && (e.Status == graph.Failed || e.Status == graph.Limited) && c.engine != "" {
			return map[string]any{"__error__": problemOf(errors.New("the run failed"))}
		}
	}
	if state == nil && t != nil {
		state, _, _ = t.State(ctx, t.Thread) // nothing was left to do
	}
	out := valuesOf(state)
	if len(open) > 0 {
		out["__interrupt__"] = interrupts(open)
	}
	return out
}
