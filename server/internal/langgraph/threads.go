package langgraph

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"example.com/ragflow/graph"
	"example.com/ragflow/server/internal/door"
)

func (s *service) threadRoutes() []door.Route {
	return []door.Route{
		call("POST /threads", s.createThread), call("POST /threads/search", s.searchThreads), call("POST /threads/count", s.countThreads),
		call("POST /threads/prune", s.pruneThreads), call("GET /threads/{thread}", s.getThread), call("PATCH /threads/{thread}", s.patchThread),
		call("DELETE /threads/{thread}", s.deleteThread), call("POST /threads/{thread}/copy", s.copyThread),
		call("GET /threads/{thread}/state", s.getState), call("GET /threads/{thread}/state/{checkpoint}", s.getState),
		call("POST /threads/{thread}/state/checkpoint", s.getState), call("POST /threads/{thread}/state", s.updateState),
		call("GET /threads/{thread}/history", s.history), call("POST /threads/{thread}/history", s.history),
	}
}

type threadRequest struct {
	Thread     string          `json:"thread_id"`
	Metadata   map[string]any  `json:"metadata"`
	IfExists   string          `json:"if_exists"`
	Graph      string          `json:"graph_id"`
	TTL        json.RawMessage `json:"ttl"`
	Supersteps []any           `json:"supersteps"`
}

func (s *service) createThread(w http.ResponseWriter, r *http.Request) (any, error) {
	q, err := read[threadRequest](w, r)
	switch {
	case err != nil:
		return nil, err
	case len(q.TTL) > 0 && string(q.TTL) != "null":
		return nil, unsupported("ttl")
	case len(q.Supersteps) > 0:
		return nil, unsupported("supersteps")
	}
	if q.Graph != "" {
		q.Metadata = merged(q.Metadata, map[string]any{"graph_id": q.Graph})
	}
	ctx := r.Context()
	if q.Thread != "" {
		t, err := s.find(ctx, q.Thread)
		switch {
		case err == nil && q.IfExists == "do_nothing":
			return s.row(ctx, t, nil)
		case err == nil:
			return nil, failed(http.StatusConflict, "thread %q exists already", q.Thread)
		case door.Status(err) == http.StatusInternalServerError && !missing(err):
			return nil, err
		}
	}
	t, err := s.create(ctx, cmp.Or(q.Thread, newID()), q.Metadata)
	if err != nil {
		return nil, err
	}
	return s.row(ctx, t, nil)
}

// missing reports whether an error says that a thread does not exist.
func missing(err error) bool {
	f, ok := errors.AsType[*failure](err)
	return errors.Is(err, graph.ErrNotFound) || ok && f.status == http.StatusNotFound
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

func merged(list ...map[string]any) map[string]any {
	out := map[string]any{}
	for _, m := range list {
		maps.Copy(out, m)
	}
	return out
}

// create makes a thread by a commit that changes nothing, so that any graph can go on from it.
func (s *service) create(ctx context.Context, thread string, metadata map[string]any) (*found, error) {
	if err := graph.CheckThread(thread); err != nil {
		return nil, err
	}
	g := s.graphs[s.names[0]]
	if name, ok := metadata["graph_id"].(string); ok && s.graphs[name] != nil {
		g = s.graphs[name]
	}
	store := g.Store()
	lease, err := store.Acquire(ctx, thread, graph.AcquireOptions{})
	if err != nil {
		return nil, err
	}
	if lease.Head == 0 {
		b := graph.Batch{Release: true}
		b.Source, b.Status, b.Run = graph.SourceUpdate, graph.Completed, newID()
		_, err = store.Commit(ctx, lease, b)
	}
	if err != nil {
		return nil, errors.Join(err, store.Release(ctx, lease))
	}
	if err := describe(ctx, thread, g.Store(), metadata); err != nil {
		return nil, err
	}
	return s.find(ctx, thread)
}

func describe(ctx context.Context, thread string, store graph.Store, metadata map[string]any) error {
	l, ok := store.(graph.Lister)
	if !ok || len(metadata) == 0 {
		return nil
	}
	return l.Describe(ctx, thread, graph.ThreadFacts{Metadata: packed(metadata)})
}

// row is a thread as clients know it, with the fields that were asked for; all without any.
func (s *service) row(ctx context.Context, t *found, fields []string) (map[string]any, error) {
	metadata := unpacked(t.Metadata)
	if t.name != "" {
		metadata["assistant_id"] = assistantID(t.name)
	}
	out := map[string]any{
		"thread_id": t.Thread, "created_at": stamp(t.Created), "updated_at": stamp(t.Touched), "state_updated_at": stamp(t.Touched),
		"metadata": metadata, "status": s.status(t), "config": struct{}{}, "values": nil, "error": nil, "interrupts": struct{}{},
	}
	wants := func(f string) bool { return len(fields) == 0 || slices.Contains(fields, f) }
	if !t.blank() && (wants("values") || wants("interrupts") || wants("error")) {
		last, err := t.History(ctx, t.Thread, 0, 1)
		if err != nil {
			return nil, err
		}
		if len(last) > 0 {
			c := last[0].Commit
			asked := map[string][]any{}
			for _, q := range questions(c) {
				id := taskID(c.Run, c.Step+1, "", rootOf(q.At))
				asked[id] = append(asked[id], interrupt(q))
			}
			out["values"], out["interrupts"] = valuesOf(last[0].State), asked
			if c.Error != "" && c.Status != graph.Interrupted {
				out["error"] = map[string]string{"error": "Error", "message": c.Error}
			}
		}
	}
	return selected(out, fields), nil
}

// stalled is how long a run that this process does not know may save nothing before it counts
// as one whose process died.
const stalled = 2 * time.Minute

// status is the status of a thread: busy, idle, interrupted or error.
func (s *service) status(t *found) string {
	switch {
	case s.runs.busy(t.Thread):
		return "busy"
	case t.Status == graph.Running || t.Status == graph.Pending:
		if time.Since(t.Touched) < stalled {
			return "busy"
		}
		return "error"
	case t.Status == graph.Interrupted || t.Status == graph.Cancelled:
		return "interrupted"
	case t.Status == graph.Failed || t.Status == graph.Limited:
		return "error"
	}
	return "idle"
}

type threadQuery struct {
	Metadata  map[string]any `json:"metadata"`
	Values    map[string]any `json:"values"`
	IDs       []string       `json:"ids"`
	Status    string         `json:"status"`
	Limit     int            `json:"limit"`
	Offset    int            `json:"offset"`
	SortBy    string         `json:"sort_by"`
	SortOrder string         `json:"sort_order"`
	Select    []string       `json:"select"`
}

// maxListed is how many threads a search goes through.
const maxListed = 10_000

var threadFields = []string{
	"thread_id", "created_at", "updated_at", "state_updated_at", "metadata", "status", "config", "values", "error", "interrupts",
}

// list returns the threads that a query selects, in its order.
func (s *service) list(ctx context.Context, q threadQuery) (out []*found, err error) {
	if len(q.Values) > 0 {
		return nil, unsupported("values")
	}
	for _, f := range q.Select {
		if !slices.Contains(threadFields, f) {
			return nil, failed(http.StatusUnprocessableEntity, "select: a thread has no field %q", f)
		}
	}
	list := graph.ThreadQuery{Limit: graph.MaxPage, Metadata: packed(q.Metadata), OldestFirst: q.SortOrder == "asc"}
	switch q.SortBy {
	case "", "created_at":
		list.Order = graph.ByCreation
	case "updated_at", "state_updated_at":
		list.Order = graph.ByActivity
	default:
		return nil, unsupported("sort_by " + strconv.Quote(q.SortBy))
	}
	if q.SortBy == "" && q.SortOrder == "" {
		list.Order = graph.ByActivity
	}
	seen := map[graph.Store]bool{}
	for _, name := range s.names {
		store := s.graphs[name].Store()
		l, ok := store.(graph.Lister)
		if !ok {
			return nil, graph.ErrNoList
		}
		if seen[store] {
			continue
		}
		seen[store] = true
		for info, err := range graph.AllThreads(ctx, l, list) {
			if err != nil {
				return nil, err
			}
			t := s.of(info, name)
			if (len(q.IDs) == 0 || slices.Contains(q.IDs, info.Thread)) && (q.Status == "" || s.status(t) == q.Status) {
				out = append(out, t)
			}
			if len(out) == maxListed {
				return out, nil
			}
		}
	}
	return out, nil
}

// of returns a thread of the store of a graph.
func (s *service) of(info graph.ThreadInfo, name string) *found {
	if used := info.Metadata["graph_id"]; s.graphs[used] != nil {
		return &found{s.graphs[used], info, used}
	}
	return &found{s.graphs[name], info, ""}
}

func (s *service) searchThreads(w http.ResponseWriter, r *http.Request) (any, error) {
	q, err := read[threadQuery](w, r)
	if err != nil {
		return nil, err
	}
	list, err := s.list(r.Context(), q)
	if err != nil {
		return nil, err
	}
	total, limit := len(list), cmp.Or(max(q.Limit, 0), 10)
	from := min(max(q.Offset, 0), total)
	list = list[from:min(from+min(limit, graph.MaxPage), total)]
	w.Header().Set("X-Pagination-Total", strconv.Itoa(total))
	if next := from + len(list); next < total {
		w.Header().Set("X-Pagination-Next", strconv.Itoa(next))
	}
	rows := []any{}
	for _, t := range list {
		row, err := s.row(r.Context(), t, q.Select)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (s *service) countThreads(w http.ResponseWriter, r *http.Request) (any, error) {
	q, err := read[threadQuery](w, r)
	if err != nil {
		return nil, err
	}
	list, err := s.list(r.Context(), q)
	return len(list), err
}

func (s *service) getThread(_ http.ResponseWriter, r *http.Request) (any, error) {
	t, err := s.find(r.Context(), r.PathValue("thread"))
	if err != nil {
		return nil, err
	}
	return s.row(r.Context(), t, nil)
}

func (s *service) patchThread(w http.ResponseWriter, r *http.Request) (any, error) {
	q, err := read[threadRequest](w, r)
	if err != nil {
		return nil, err
	}
	t, err := s.find(r.Context(), r.PathValue("thread"))
	if err != nil {
		return nil, err
	}
	if err := describe(r.Context(), t.Thread, t.Store(), q.Metadata); err != nil {
		return nil, err
	}
	return s.getThread(w, r)
}

func (s *service) deleteThread(_ http.ResponseWriter, r *http.Request) (any, error) {
	return nothing{}, s.remove(r.Context(), r.PathValue("thread"))
}

func (s *service) remove(ctx context.Context, thread string) error {
	t, err := s.find(ctx, thread)
	if err != nil {
		return err
	}
	store, ok := t.Store().(interface {
		Delete(ctx context.Context, threads ...string) error
	})
	if !ok {
		return unsupported("the store")
	}
	if err := s.runs.forget(ctx, thread); err != nil {
		return err
	}
	return store.Delete(ctx, thread)
}

func (s *service) copyThread(_ http.ResponseWriter, r *http.Request) (any, error) {
	t, err := s.find(r.Context(), r.PathValue("thread"))
	if err != nil {
		return nil, err
	}
	id := newID()
	if err := t.Fork(r.Context(), graph.Point{Thread: t.Thread}, id); err != nil {
		return nil, err
	}
	if t, err = s.find(r.Context(), id); err != nil {
		return nil, err
	}
	return s.row(r.Context(), t, nil)
}

type pruneRequest struct {
	Threads  []string `json:"thread_ids"`
	Strategy string   `json:"strategy"`
}

func (s *service) pruneThreads(w http.ResponseWriter, r *http.Request) (any, error) {
	q, err := read[pruneRequest](w, r)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, id := range q.Threads {
		switch q.Strategy {
		case "", "delete":
			err = s.remove(r.Context(), id)
		case "keep_latest":
			var t *found
			if t, err = s.find(r.Context(), id); err == nil {
				_, err = t.Prune(r.Context(), graph.Pruning{Thread: id, KeepTurns: 1})
			}
		default:
			return nil, unsupported("strategy " + strconv.Quote(q.Strategy))
		}
		if err != nil && !missing(err) {
			return nil, err
		}
		if err == nil {
			n++
		}
	}
	return map[string]int{"pruned_count": n}, nil
}
