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
	"example.com/ragflow/internal/address"
	"example.com/ragflow/server/internal/door"
)

func (s *service) threadRoutes() []door.Route {
	return []door.Route{
		on("POST /threads", s.createThread), on("POST /threads/search", s.searchThreads), on("POST /threads/prune", s.pruneThreads),
		on("POST /threads/count", func(c *call, q *threadQuery) (any, error) {
			list, err := s.list(c.Context(), q)
			return len(list), err
		}),
		onThread(s, "GET /threads/{thread}", func(c *call, t *found, _ *none) (any, error) { return s.shown(c.Context(), t, nil) }),
		onThread(s, "PATCH /threads/{thread}", s.patchThread),
		on("DELETE /threads/{thread}", func(c *call, _ *none) (any, error) {
			return door.Nothing{}, s.remove(c.Context(), c.PathValue("thread"))
		}),
		onThread(s, "POST /threads/{thread}/copy", s.copyThread),
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

func (s *service) createThread(c *call, q *threadRequest) (any, error) {
	switch {
	case !isNull(q.TTL):
		return nil, unsupported("ttl")
	case len(q.Supersteps) > 0:
		return nil, unsupported("supersteps")
	case q.Graph != "":
		q.Metadata = merged(q.Metadata, map[string]any{"graph_id": q.Graph})
	}
	q.Thread = cmp.Or(q.Thread, newID())
	t, err := s.find(c.Context(), q.Thread)
	switch {
	case errors.Is(err, graph.ErrNotFound):
		t, err = s.create(c.Context(), q.Thread, q.Metadata)
	case err == nil && q.IfExists != "do_nothing":
		err = door.Errorf(http.StatusConflict, "thread %q exists already", q.Thread)
	}
	return s.shown(c.Context(), t, err)
}

// shown is a thread as clients know it, unless there is an error.
func (s *service) shown(ctx context.Context, t *found, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return s.row(ctx, t, nil)
}

// isNull reports whether a member of a body is null, or absent.
func isNull(body json.RawMessage) bool { return len(body) == 0 || string(body) == "null" }

// row is a thread as clients know it, with the fields that were asked for; all without any.
func (s *service) row(ctx context.Context, t *found, fields []string) (map[string]any, error) {
	metadata := unpacked(t.Metadata)
	if t.used {
		metadata["assistant_id"] = assistantID(t.graph)
	}
	out := map[string]any{
		"thread_id": t.Thread, "created_at": stamp(t.Created), "updated_at": stamp(t.Touched), "state_updated_at": stamp(t.Touched),
		"metadata": metadata, "status": s.status(t), "config": struct{}{}, "values": nil, "error": nil, "interrupts": struct{}{},
	}
	wanted := func(f string) bool { return slices.Contains(fields, f) }
	if t.blank() || len(fields) > 0 && !slices.ContainsFunc([]string{"values", "interrupts", "error"}, wanted) {
		return selected(out, fields), nil
	}
	last, err := t.History(ctx, t.Thread, 0, 1)
	for _, m := range last {
		c, asked := m.Commit, map[string][]any{}
		for _, q := range questions(c) {
			id := taskID(c.Run, c.Step+1, "", address.Root(q.At))
			asked[id] = append(asked[id], interrupt(q))
		}
		out["values"], out["interrupts"] = valuesOf(m.State), asked
		if c.Error != "" && c.Status != graph.Interrupted {
			out["error"] = map[string]string{"error": "Error", "message": c.Error}
		}
	}
	return selected(out, fields), err
}

// stalled is how long a run that this process does not know may save nothing before it counts
// as one whose process died.
const stalled = 2 * time.Minute

// status is the status of a thread: busy, idle, interrupted or error.
func (s *service) status(t *found) string {
	switch {
	case len(s.runs.active(t.Thread)) > 0:
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
	pageQuery

	Metadata  map[string]any `json:"metadata"`
	Values    map[string]any `json:"values"`
	IDs       []string       `json:"ids"`
	Status    string         `json:"status"`
	SortBy    string         `json:"sort_by"`
	SortOrder string         `json:"sort_order"`
	Select    []string       `json:"select"`
}

// maxListed is how many threads a search goes through.
const maxListed = 10_000

var threadFields = []string{
	"thread_id", "created_at", "updated_at", "state_updated_at", "metadata", "status", "config", "values", "error", "interrupts",
}

// stored returns the query as stores understand it.
func (q *threadQuery) stored() (out graph.ThreadQuery, err error) {
	if len(q.Values) > 0 {
		return out, unsupported("values")
	}
	for _, f := range q.Select {
		if !slices.Contains(threadFields, f) {
			return out, invalid("select: a thread has no field %q", f)
		}
	}
	out = graph.ThreadQuery{Limit: graph.MaxPage, Metadata: packed(q.Metadata), OldestFirst: q.SortOrder == "asc"}
	switch q.SortBy {
	case "", "created_at":
		if q.SortBy+q.SortOrder != "" {
			out.Order = graph.ByCreation
		}
	case "updated_at", "state_updated_at":
		out.Order = graph.ByActivity
	default:
		err = unsupported("sort_by " + strconv.Quote(q.SortBy))
	}
	return out, err
}

// list returns the threads that a query selects, in its order.
func (s *service) list(ctx context.Context, q *threadQuery) (out []*found, err error) {
	query, err := q.stored()
	if err != nil {
		return nil, err
	}
	for _, in := range s.stores {
		for info, err := range graph.AllThreads(ctx, in, query) {
			if err != nil || len(out) == maxListed {
				return out, err
			}
			t := s.of(info, in)
			if (len(q.IDs) == 0 || slices.Contains(q.IDs, t.Thread)) && (q.Status == "" || s.status(t) == q.Status) {
				out = append(out, t)
			}
		}
	}
	return out, nil
}

func (s *service) searchThreads(c *call, q *threadQuery) (any, error) {
	list, err := s.list(c.Context(), q)
	if err != nil {
		return nil, err
	}
	rows := []any{}
	for _, t := range page(list, q.pageQuery) {
		row, err := s.row(c.Context(), t, q.Select)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	c.w.Header().Set("X-Pagination-Total", strconv.Itoa(len(list)))
	if next := max(q.Offset, 0) + len(rows); next < len(list) {
		c.w.Header().Set("X-Pagination-Next", strconv.Itoa(next))
	}
	return rows, nil
}

func (s *service) patchThread(c *call, t *found, q *threadRequest) (any, error) {
	store := t.Store().(graph.Lister) //nolint:forcetypeassert // see Routes
	err := store.Describe(c.Context(), t.Thread, graph.ThreadFacts{Metadata: packed(q.Metadata)})
	if err == nil {
		t, err = s.find(c.Context(), t.Thread)
	}
	return s.shown(c.Context(), t, err)
}

func (s *service) copyThread(c *call, t *found, _ *none) (any, error) {
	id := newID()
	err := t.Fork(c.Context(), graph.Point{Thread: t.Thread}, id)
	if err == nil {
		t, err = s.find(c.Context(), id)
	}
	return s.shown(c.Context(), t, err)
}

type pruneRequest struct {
	Threads  []string `json:"thread_ids"`
	Strategy string   `json:"strategy"`
}

func (s *service) pruneThreads(c *call, q *pruneRequest) (any, error) {
	prune := s.remove
	switch q.Strategy {
	case "", "delete":
	case "keep_latest":
		prune = func(ctx context.Context, id string) error {
			t, err := s.find(ctx, id)
			if err == nil {
				_, err = t.Prune(ctx, graph.Pruning{Thread: id, KeepTurns: 1})
			}
			return err
		}
	default:
		return nil, unsupported("strategy " + strconv.Quote(q.Strategy))
	}
	n := 0
	for _, id := range q.Threads {
		if err := prune(c.Context(), id); err == nil {
			n++
		} else if !errors.Is(err, graph.ErrNotFound) {
			return nil, err
		}
	}
	return map[string]int{"pruned_count": n}, nil
}
