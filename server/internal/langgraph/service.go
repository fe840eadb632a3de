package langgraph

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/untyped"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/longterm"
	"example.com/ragflow/server/internal/door"
)

type service struct {
	version string
	graphs  map[string]untyped.Runner
	names   []string      // of graphs; threads that no graph has used yet are in the store of the first
	stores  []threadStore // of graphs, in this order, each once; a thread is in the first that has one of its name
	facts   *longterm.Store
	runs    *registry
	began   time.Time
}

// threadStore is a store of threads and the first graph that has it.
type threadStore struct {
	graph.Lister

	graph string
}

// has reports whether a graph keeps its threads in the store.
func (t threadStore) has(g untyped.Runner) bool { return any(t.Lister) == any(g.Store()) }

// Routes are the routes of the protocol for graphs by their names, the default one first. facts,
// which may be nil, is the store of /store. The error of a graph whose threads cannot be listed matches graph.ErrNoList.
func Routes(graphs map[string]untyped.Runner, facts *longterm.Store, version string) ([]door.Route, error) {
	s := &service{version: version, graphs: graphs, names: slices.Sorted(maps.Keys(graphs)), facts: facts, runs: newRegistry(), began: time.Now()}
	if i := slices.Index(s.names, FlowName); i > 0 {
		s.names = append([]string{FlowName}, slices.Delete(s.names, i, i+1)...)
	}
	for _, name := range s.names {
		l, ok := graphs[name].Store().(graph.Lister)
		if !ok {
			return nil, fmt.Errorf("graph %q: %w", name, graph.ErrNoList)
		}
		if !slices.ContainsFunc(s.stores, func(x threadStore) bool { return x.has(graphs[name]) }) {
			s.stores = append(s.stores, threadStore{l, name})
		}
	}
	return slices.Concat(s.assistantRoutes(), s.threadRoutes(), s.stateRoutes(), s.runRoutes(), s.streamRoutes(), s.storeRoutes()), nil
}

// call is a request of a client.
type call struct {
	*http.Request

	w       http.ResponseWriter
	cancels bool // the run of the call ends when the client leaves
}

// left ends the run of the call if it shall, when the client has left.
func (c *call) left(ctx context.Context, r *run) {
	if ctx.Err() != nil && c.cancels {
		r.cancel(graph.ErrCancelled)
	}
}

// none is the body of a request that needs none: what is there counts for nothing.
type none = json.RawMessage

// on is a route whose handler takes the body of the request, without unknown fields.
func on[Q any](pattern string, do func(c *call, q *Q) (any, error)) door.Route {
	return door.Route{Pattern: pattern, Scope: tokens.Ask, Errors: problem, Do: door.Answer(fail, func(w http.ResponseWriter, r *http.Request) (any, error) {
		q := new(Q)
		if err := door.ReadStrict(r, q); err != nil {
			return nil, err
		}
		return do(&call{Request: r, w: w}, q)
	})}
}

// onThread is a route of a thread that exists.
func onThread[Q any](s *service, pattern string, do func(c *call, t *found, q *Q) (any, error)) door.Route {
	return on(pattern, func(c *call, q *Q) (any, error) {
		t, err := s.find(c.Context(), c.PathValue("thread"))
		if err != nil {
			return nil, err
		}
		return do(c, t, q)
	})
}

// long is a route that may answer for minutes.
func long(r door.Route) door.Route {
	r.Long = true
	return r
}

// invalid is the error of a request that cannot be understood.
func invalid(format string, args ...any) error {
	return door.Errorf(http.StatusUnprocessableEntity, format, args...)
}

// unsupported is the error of a field that this server does not act on.
func unsupported(field string) error { return invalid("%s: this server does not support it", field) }

// refusing is a route of what this server does not do.
func refusing(pattern string, status int, why string) door.Route {
	return on(pattern, func(*call, *none) (any, error) { return nil, door.Errorf(status, "%s", why) })
}

// problem is the form of errors.
func problem(w http.ResponseWriter, _ *http.Request, status int, message string) {
	door.WriteJSON(w, status, map[string]string{"detail": message})
}

func fail(w http.ResponseWriter, err error) { problem(w, nil, door.Status(err), err.Error()) }

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// stamp is a time as clients read it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000+00:00") }

func merged(list ...map[string]any) map[string]any {
	out := map[string]any{}
	for _, m := range list {
		maps.Copy(out, m)
	}
	return out
}

// pageQuery is the part of a list that a client asks for.
type pageQuery struct {
	Limit  int `json:"limit"`
	Offset int `json:"offset"`
}

// defaultLimit is how much of a list a client gets that says nothing of it.
const defaultLimit = 10

// page returns a part of a list. It is never nil.
func page[T any](rows []T, s pageQuery) []T {
	if s.Limit <= 0 {
		s.Limit = defaultLimit
	}
	rows = rows[min(max(s.Offset, 0), len(rows)):]
	return append([]T{}, rows[:min(s.Limit, graph.MaxPage, len(rows))]...)
}

// selected leaves the fields of a row that were asked for; all without any.
func selected(row map[string]any, fields []string) map[string]any {
	if len(fields) > 0 {
		maps.DeleteFunc(row, func(k string, _ any) bool { return !slices.Contains(fields, k) })
	}
	return row
}
