package api

import (
	"fmt"
	"html/template"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"example.com/ragflow"
	"example.com/ragflow/server/internal/door"
)

// service is the interface of one assistant.
type service struct {
	a   *ragflow.Assistant
	all []endpoint
}

// Routes are the routes of the interface. The error names a type that cannot be described.
func Routes(a *ragflow.Assistant, version string) ([]door.Route, error) {
	s := &service{a: a}
	for _, more := range [][]endpoint{s.questions(), s.conversations(), s.ratings(), s.documents(), s.sums()} {
		s.all = append(s.all, more...)
	}
	description, err := describe(s.all, version)
	if err != nil {
		return nil, err
	}
	routes := []door.Route{
		{Pattern: "GET /api/openapi.json", Do: func(w http.ResponseWriter, _ *http.Request) { door.WriteJSON(w, http.StatusOK, description) }},
		{Pattern: "GET /api", Do: s.page},
	}
	for _, e := range s.all {
		routes = append(routes, e.Route)
	}
	return routes, nil
}

// object is a JSON object of the description.
type object = map[string]any

// describe returns the description of endpoints in OpenAPI 3.1.
func describe(all []endpoint, version string) (object, error) {
	paths := map[string]object{}
	for _, e := range all {
		method, path, _ := strings.Cut(e.Pattern, " ")
		path = strings.ReplaceAll(path, "...}", "}")
		operation, err := e.describe(method)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Pattern, err)
		}
		if paths[path] == nil {
			paths[path] = object{}
		}
		paths[path][strings.ToLower(method)] = operation
	}
	return object{
		"openapi": "3.1.0", "info": object{"title": "ragflow", "version": version}, "paths": paths,
		"components": object{"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}}},
		"security":   []object{{"token": []string{}}},
	}, nil
}

func (e endpoint) describe(method string) (object, error) {
	answer := object{"description": "done"}
	if e.media != "" {
		answer["content"] = object{e.media: object{}}
	} else if e.out != reflect.TypeFor[none]() {
		schema, err := schemaOf(e.out)
		if err != nil {
			return nil, err
		}
		answer["content"] = object{"application/json": object{"schema": schema}}
	}
	status := map[bool]string{true: "204", false: "200"}[answer["content"] == nil]
	failure := object{"description": "it failed", "content": object{"application/json": object{"schema": object{
		"type": "object", "properties": object{"error": object{"type": "string"}}, "required": []string{"error"},
	}}}}
	out := object{"summary": e.summary, "x-scope": e.Scope, "responses": object{status: answer, "default": failure}}
	if p := parameters(e.in); len(p) > 0 {
		out["parameters"] = p
	}
	if e.body != "" {
		out["requestBody"] = object{"content": object{e.body: object{}}, "required": true}
	} else if method != http.MethodGet && method != http.MethodDelete && hasBody(e.in) {
		schema, err := schemaOf(e.in)
		if err != nil {
			return nil, err
		}
		out["requestBody"] = object{"content": object{"application/json": object{"schema": schema}}}
	}
	return out, nil
}

// hasBody reports whether a field of a request comes from its body.
func hasBody(t reflect.Type) bool {
	for _, f := range reflect.VisibleFields(t) {
		if f.Tag.Get("json") != "-" && !f.Anonymous {
			return true
		}
	}
	return false
}

// parameters describes what a request takes from its path and its query.
func parameters(t reflect.Type) (out []object) {
	for f := range t.Fields() {
		kind := map[bool]string{true: "integer", false: "string"}[f.Type.Kind() != reflect.String]
		for _, in := range []string{"path", "query"} {
			if name := f.Tag.Get(in); name != "" {
				out = append(out, object{"name": name, "in": in, "required": in == "path", "schema": object{"type": kind}})
			}
		}
	}
	return out
}

// schemaOf returns the schema of a type as its JSON is.
func schemaOf(t reflect.Type) (*jsonschema.Schema, error) {
	return jsonschema.ForType(t, &jsonschema.ForOptions{IgnoreInvalidTypes: true, TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[time.Time](): {Type: "string", Format: "date-time"},
	}})
}

// page lists the endpoints for people.
func (s *service) page(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = listing().Execute(w, s.all) // a reader that has left needs nothing
}

func listing() *template.Template {
	return template.Must(template.New("").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>ragflow API</title>
<h1>ragflow API</h1>
<p>Requests and replies are JSON, described in <a href="/api/openapi.json">openapi.json</a>. A token goes into the header
<code>Authorization: Bearer TOKEN</code>. Clients of OpenAI find the documents at <code>/v1</code>, agents by MCP at <code>/mcp</code>, and clients
of LangGraph at the address of this server.</p>
<table><thead><tr><th>request<th>scope<th>what it does</thead><tbody>
{{range .}}<tr><td><code>{{.Pattern}}</code><td>{{.Scope}}<td>{{.Summary}}
{{end}}</tbody></table></html>
`))
}

// Summary says what an endpoint does.
func (e endpoint) Summary() string { return e.summary }
