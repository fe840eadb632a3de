package langgraph

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
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
	names   []string // of graphs; threads that no graph has used yet are in the store of the first
	facts   *longterm.Store
	runs    *registry
	began   time.Time
}

// Routes are the routes of the protocol for graphs by their names, the default one first. facts,
// which may be nil, is the store of /store.
func Routes(graphs map[string]untyped.Runner, facts *longterm.Store, version string) []door.Route {
	s := &service{version: version, graphs: graphs, names: slices.Sorted(maps.Keys(graphs)), facts: facts, runs: newRegistry(), began: time.Now()}
	if i := slices.Index(s.names, FlowName); i > 0 {
		s.names = append([]string{FlowName}, slices.Delete(s.names, i, i+1)...)
	}
	return slices.Concat(s.assistantRoutes(), s.threadRoutes(), s.runRoutes(), s.streamRoutes(), s.protocolRoutes(), s.storeRoutes())
}

// failure is an error with the status that it has in the protocol.
type failure struct {
	status int
	detail string
}

func (f *failure) Error() string { return f.detail }

func failed(status int, format string, args ...any) error {
	return &failure{status, fmt.Sprintf(format, args...)}
}

// unsupported is the error of a field that this server does not act on.
func unsupported(field string) error {
	return failed(http.StatusUnprocessableEntity, "%s: this server does not support it", field)
}

// problem is the form of errors.
func problem(w http.ResponseWriter, status int, message string) {
	door.WriteJSON(w, status, map[string]string{"detail": message})
}

func fail(w http.ResponseWriter, err error) {
	status := door.Status(err)
	if f, ok := errors.AsType[*failure](err); ok {
		status = f.status
	} else if _, ok := errors.AsType[*graph.EntryError](err); ok {
		status = http.StatusUnprocessableEntity
	} else if _, ok := errors.AsType[*graph.AnswerError](err); ok {
		status = http.StatusUnprocessableEntity
	} else if _, ok := errors.AsType[*graph.MoveError](err); ok {
		status = http.StatusNotFound
	}
	problem(w, status, err.Error())
}

// nothing is the reply of a call that answers with status 204.
type nothing struct{}

// handler returns what is answered as JSON.
type handler func(w http.ResponseWriter, r *http.Request) (any, error)

func call(pattern string, f handler) door.Route {
	return door.Route{Pattern: pattern, Scope: tokens.Ask, Errors: problem, Do: func(w http.ResponseWriter, r *http.Request) {
		out, err := f(w, r)
		switch {
		case err != nil:
			fail(w, err)
		case out == nothing{}:
			w.WriteHeader(http.StatusNoContent)
		default:
			door.WriteJSON(w, http.StatusOK, out)
		}
	}}
}

// read reads a body, refusing fields that T lacks.
func read[T any](w http.ResponseWriter, r *http.Request) (v T, err error) {
	err = door.ReadStrict(w, r, &v)
	return v, err
}

// strictly decodes JSON, refusing fields that v lacks.
func strictly(body json.RawMessage, v any) error {
	in := json.NewDecoder(bytes.NewReader(body))
	in.DisallowUnknownFields()
	if err := in.Decode(v); err != nil {
		return failed(http.StatusUnprocessableEntity, "%v", err)
	}
	return nil
}

// graphOf returns the graph that an assistant is, which is named by its name or its id.
func (s *service) graphOf(id string) (string, untyped.Runner, error) {
	for _, name := range s.names {
		if id == name || id == assistantID(name) {
			return name, s.graphs[name], nil
		}
	}
	return "", nil, failed(http.StatusNotFound, "there is no assistant %q; the graphs are %s", id, strings.Join(s.names, ", "))
}

// assistantID is the id that LangGraph gives to the assistant of a graph.
func assistantID(name string) string {
	return uuid.NewSHA1(uuid.MustParse("6ba7b821-9dad-11d1-80b4-00c04fd430c8"), []byte(name)).String()
}

func (s *service) assistantRoutes() []door.Route {
	fixed := func(http.ResponseWriter, *http.Request) (any, error) {
		return nil, failed(http.StatusMethodNotAllowed, "the assistants are the graphs of the server; they cannot be changed")
	}
	return []door.Route{
		call("GET /ok", func(http.ResponseWriter, *http.Request) (any, error) { return map[string]bool{"ok": true}, nil }),
		call("GET /info", func(http.ResponseWriter, *http.Request) (any, error) {
			return map[string]any{"version": s.version, "flags": map[string]bool{"assistants": true, "crons": false, "langsmith": false}}, nil
		}),
		call("POST /assistants/search", s.searchAssistants),
		call("POST /assistants/count", func(w http.ResponseWriter, r *http.Request) (any, error) {
			rows, err := s.assistantsOf(w, r)
			return len(rows), err
		}),
		call("GET /assistants/{assistant}", s.ofAssistant(func(name string, _ untyped.Runner) (any, error) { return s.assistant(name), nil })),
		call("GET /assistants/{assistant}/graph", s.ofAssistant(func(_ string, g untyped.Runner) (any, error) { return drawn(g.Shape()), nil })),
		call("GET /assistants/{assistant}/schemas", s.ofAssistant(schemas)),
		call("GET /assistants/{assistant}/subgraphs", s.ofAssistant(func(string, untyped.Runner) (any, error) { return struct{}{}, nil })),
		call("POST /assistants/{assistant}/versions", s.ofAssistant(func(name string, _ untyped.Runner) (any, error) {
			return []any{s.assistant(name)}, nil
		})),
		call("POST /assistants", fixed), call("PATCH /assistants/{assistant}", fixed), call("DELETE /assistants/{assistant}", fixed),
	}
}

func (s *service) ofAssistant(f func(name string, g untyped.Runner) (any, error)) handler {
	return func(_ http.ResponseWriter, r *http.Request) (any, error) {
		name, g, err := s.graphOf(r.PathValue("assistant"))
		if err != nil {
			return nil, err
		}
		return f(name, g)
	}
}

func (s *service) assistant(name string) map[string]any {
	return map[string]any{
		"assistant_id": assistantID(name), "graph_id": name, "name": name, "description": nil, "version": 1,
		"config": struct{}{}, "context": struct{}{}, "metadata": map[string]any{"created_by": "system"},
		"created_at": stamp(s.began), "updated_at": stamp(s.began),
	}
}

type assistantQuery struct {
	Metadata  map[string]any `json:"metadata"`
	Graph     string         `json:"graph_id"`
	Name      string         `json:"name"`
	Limit     int            `json:"limit"`
	Offset    int            `json:"offset"`
	SortBy    string         `json:"sort_by"`
	SortOrder string         `json:"sort_order"`
	Select    []string       `json:"select"`
}

func (s *service) assistantsOf(w http.ResponseWriter, r *http.Request) (rows []any, err error) {
	q, err := read[assistantQuery](w, r)
	for _, name := range s.names {
		if contains(map[string]any{"created_by": "system"}, q.Metadata) && (q.Graph == "" || q.Graph == name) &&
			strings.Contains(strings.ToLower(name), strings.ToLower(q.Name)) {
			rows = append(rows, selected(s.assistant(name), q.Select))
		}
	}
	return page(rows, q.Offset, q.Limit), err
}

func (s *service) searchAssistants(w http.ResponseWriter, r *http.Request) (any, error) {
	return s.assistantsOf(w, r)
}

// drawn is the shape of a graph as clients draw it.
func drawn(g graph.Shape) any {
	nodes := []any{map[string]any{"id": graph.Start, "type": "runnable", "data": map[string]string{"name": graph.Start}}}
	for _, n := range g.Nodes {
		nodes = append(nodes, map[string]any{"id": n, "type": "runnable", "data": map[string]string{"name": n}})
	}
	edges := []any{}
	for _, l := range g.Links {
		e := map[string]any{"source": l.From, "target": l.To}
		if l.Label != "" {
			e["data"] = l.Label
		}
		if l.Optional {
			e["conditional"] = true
		}
		edges = append(edges, e)
	}
	return map[string]any{"nodes": append(nodes, map[string]any{"id": graph.End}), "edges": edges}
}

func schemas(name string, g untyped.Runner) (any, error) {
	state, update, err := g.Schemas()
	return map[string]any{
		"graph_id": name, "input_schema": update, "output_schema": state, "state_schema": state, "config_schema": struct{}{}, "context_schema": nil,
	}, err
}

// stamp is a time as clients read it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000+00:00") }

// defaultPage is how many rows a list has for a request without a limit.
const defaultPage = 10

// page returns the part of a list that was asked for. It is never nil.
func page(rows []any, offset, limit int) []any {
	if limit <= 0 {
		limit = defaultPage
	}
	rows = rows[min(max(offset, 0), len(rows)):]
	return append([]any{}, rows[:min(limit, len(rows))]...)
}

// selected leaves the fields of a row that were asked for; all without any.
func selected(row map[string]any, fields []string) map[string]any {
	if len(fields) > 0 {
		maps.DeleteFunc(row, func(k string, _ any) bool { return !slices.Contains(fields, k) })
	}
	return row
}

// contains reports whether metadata has all values of another.
func contains(metadata, want map[string]any) bool {
	return graph.HasMetadata(packed(metadata), packed(want))
}

// packed is metadata as threads and runs keep it: a text as itself, another value as JSON behind a mark.
func packed(metadata map[string]any) map[string]string {
	out := make(map[string]string, len(metadata))
	for k, v := range metadata {
		text, ok := v.(string)
		if !ok || strings.HasPrefix(text, marked) {
			body, _ := json.Marshal(v) // it was decoded from JSON
			text = marked + string(body)
		}
		out[k] = text
	}
	return out
}

const marked = "json:"

// unpacked is the inverse of packed.
func unpacked(metadata map[string]string) map[string]any {
	out := make(map[string]any, len(metadata))
	for k, text := range metadata {
		out[k] = text
		if body, ok := strings.CutPrefix(text, marked); ok {
			var v any
			if json.Unmarshal([]byte(body), &v) == nil {
				out[k] = v
			}
		}
	}
	return out
}

// lister returns the store of a graph as a list of threads.
func lister(g untyped.Runner) (graph.Lister, error) {
	l, ok := g.Store().(graph.Lister)
	if !ok {
		return nil, graph.ErrNoList
	}
	return l, nil
}

// found is a thread and the graph that it belongs to.
type found struct {
	untyped.Runner
	graph.ThreadInfo

	name string // of the graph; empty while none has used the thread
}

// blank reports whether a thread was created and nothing else.
func (f *found) blank() bool { return f.Inputs == 0 && f.Bytes == 0 && f.First == f.Head }

// find returns a thread. If several stores have one of its name, that which a graph has used wins.
func (s *service) find(ctx context.Context, thread string) (*found, error) {
	var best *found
	for _, name := range s.names {
		g := s.graphs[name]
		l, err := lister(g)
		if err != nil {
			return nil, err
		}
		info, err := l.Info(ctx, thread)
		if errors.Is(err, graph.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		used := info.Metadata["graph_id"]
		if s.graphs[used] == nil {
			used = ""
		}
		if used == name || used == "" && (best == nil || best.blank() && info.Inputs > 0) {
			best = &found{g, info, used}
		}
		if used == name {
			break
		}
	}
	if best == nil {
		return nil, failed(http.StatusNotFound, "thread %q: %v", thread, graph.ErrNotFound)
	}
	return best, nil
}
