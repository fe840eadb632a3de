package langgraph

import (
	"net/http"
	"strings"

	"github.com/google/uuid"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/untyped"
	"example.com/ragflow/server/internal/door"
)

func (s *service) assistantRoutes() []door.Route {
	const fixed = "the assistants are the graphs of the server; they cannot be changed"
	return []door.Route{
		on("GET /ok", func(*call, *none) (any, error) { return map[string]bool{"ok": true}, nil }),
		on("GET /info", func(*call, *none) (any, error) {
			return map[string]any{"version": s.version, "flags": map[string]bool{"assistants": true, "crons": false, "langsmith": false}}, nil
		}),
		on("POST /assistants/search", func(_ *call, q *assistantQuery) (any, error) { return page(s.assistants(q), q.pageQuery), nil }),
		on("POST /assistants/count", func(_ *call, q *assistantQuery) (any, error) { return len(s.assistants(q)), nil }),
		s.onAssistant("GET /assistants/{assistant}", func(name string, _ untyped.Runner) (any, error) { return s.assistant(name), nil }),
		s.onAssistant("GET /assistants/{assistant}/graph", func(_ string, g untyped.Runner) (any, error) { return drawn(g.Shape()), nil }),
		s.onAssistant("GET /assistants/{assistant}/schemas", schemas),
		s.onAssistant("GET /assistants/{assistant}/subgraphs", func(string, untyped.Runner) (any, error) { return struct{}{}, nil }),
		s.onAssistant("POST /assistants/{assistant}/versions", func(name string, _ untyped.Runner) (any, error) { return []any{s.assistant(name)}, nil }),
		refusing("POST /assistants", http.StatusMethodNotAllowed, fixed),
		refusing("PATCH /assistants/{assistant}", http.StatusMethodNotAllowed, fixed),
		refusing("DELETE /assistants/{assistant}", http.StatusMethodNotAllowed, fixed),
	}
}

func (s *service) onAssistant(pattern string, do func(name string, g untyped.Runner) (any, error)) door.Route {
	return on(pattern, func(c *call, _ *none) (any, error) {
		name, g, err := s.graphOf(c.PathValue("assistant"))
		if err != nil {
			return nil, err
		}
		return do(name, g)
	})
}

// graphOf returns the graph that an assistant is, which is named by its name or its id.
func (s *service) graphOf(id string) (string, untyped.Runner, error) {
	for _, name := range s.names {
		if id == name || id == assistantID(name) {
			return name, s.graphs[name], nil
		}
	}
	return "", nil, door.Errorf(http.StatusNotFound, "there is no assistant %q; the graphs are %s", id, strings.Join(s.names, ", "))
}

// assistantID is the id that LangGraph gives to the assistant of a graph.
func assistantID(name string) string {
	return uuid.NewSHA1(uuid.MustParse("6ba7b821-9dad-11d1-80b4-00c04fd430c8"), []byte(name)).String()
}

// madeBy is the metadata of all assistants.
func madeBy() map[string]any { return map[string]any{"created_by": "system"} }

func (s *service) assistant(name string) map[string]any {
	return map[string]any{
		"assistant_id": assistantID(name), "graph_id": name, "name": name, "description": nil, "version": 1,
		"config": struct{}{}, "context": struct{}{}, "metadata": madeBy(), "created_at": stamp(s.began), "updated_at": stamp(s.began),
	}
}

type assistantQuery struct {
	pageQuery

	Metadata  map[string]any `json:"metadata"`
	Graph     string         `json:"graph_id"`
	Name      string         `json:"name"`
	SortBy    string         `json:"sort_by"`
	SortOrder string         `json:"sort_order"`
	Select    []string       `json:"select"`
}

func (s *service) assistants(q *assistantQuery) []map[string]any {
	var rows []map[string]any
	for _, name := range s.names {
		named := strings.Contains(strings.ToLower(name), strings.ToLower(q.Name))
		if named && (q.Graph == "" || q.Graph == name) && graph.HasMetadata(packed(madeBy()), packed(q.Metadata)) {
			rows = append(rows, selected(s.assistant(name), q.Select))
		}
	}
	return rows
}

// drawn is the shape of a graph as clients draw it.
func drawn(g graph.Shape) any {
	node := func(name string) any {
		return map[string]any{"id": name, "type": "runnable", "data": map[string]string{"name": name}}
	}
	nodes := []any{node(graph.Start)}
	for _, n := range g.Nodes {
		nodes = append(nodes, node(n))
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
