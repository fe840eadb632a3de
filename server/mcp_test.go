package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server"
)

// withToken sends a token with each request.
type withToken struct{ secret string }

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if w.secret != "" {
		r.Header.Set("Authorization", "Bearer "+w.secret)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// connect connects the official client to a server.
func connect(t *testing.T, h http.Handler, secret string, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: s.URL + "/mcp", HTTPClient: &http.Client{Transport: withToken{secret}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// use calls a tool and decodes its structured result.
func use(t *testing.T, c *mcp.ClientSession, name string, arguments, out any) *mcp.CallToolResult {
	t.Helper()
	p := &mcp.CallToolParams{Name: name, Arguments: arguments}
	p.SetProgressToken("p")
	r, err := c.CallTool(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if r.IsError {
		return r
	}
	data, err := json.Marshal(r.StructuredContent)
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

type found struct{ ID, Title, Text, Path, Place, Next string }

// TestMCP searches, reads and asks by the Model Context Protocol.
func TestMCP(t *testing.T) {
	t.Parallel()
	steps := make(chan string, 100)
	observed := make(chan string, 1000)
	observe := func(_ context.Context, method string) func(error) { return func(error) { observed <- method } }
	defer func() {
		seen := map[string]bool{}
		for len(observed) > 0 {
			seen[<-observed] = true
		}
		if !seen["tools/call"] {
			t.Errorf("observed %v", seen)
		}
	}()
	c := connect(t, open(t, server.Options{ObserveMCP: observe}, nil), "", &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { steps <- r.Params.Message },
	})
	var hits struct{ Results []found }
	r := use(t, c, "search", map[string]any{"query": "paid leave"}, &hits)
	if len(hits.Results) != 1 || !strings.Contains(hits.Results[0].Text, "26 days") || hits.Results[0].Place == "" || len(r.Content) != 2 {
		t.Fatalf("%+v", hits)
	}
	var doc found
	if use(t, c, "fetch", map[string]any{"id": hits.Results[0].ID}, &doc); doc.Text != leave || doc.Next != "" {
		t.Errorf("%+v", doc)
	}
	var list struct{ Documents []found }
	if use(t, c, "list_documents", map[string]any{"prefix": "l"}, &list); len(list.Documents) != 1 || list.Documents[0].ID != doc.ID {
		t.Errorf("%+v", list)
	}
	var answer struct {
		Answer, Thread string
		Found          bool
		Sources        []found
	}
	r = use(t, c, "ask", map[string]any{"question": "How many days of leave?"}, &answer)
	if !answer.Found || len(answer.Sources) != 1 || !strings.Contains(r.Content[0].(*mcp.TextContent).Text, "[Source 1] leave.md") {
		t.Errorf("%+v", answer)
	}
	if step := <-steps; step != "ingest" {
		t.Errorf("the first step is %s", step)
	}
	if use(t, c, "ask", map[string]any{"question": "And of what?", "thread": answer.Thread}, &answer); answer.Thread == "" {
		t.Errorf("%+v", answer)
	}
	for name, arguments := range map[string]map[string]any{
		"search": {"query": "x", "limit": 1000}, "fetch": {"id": "-/00000000/passwd"}, "list_documents": {"cursor": "x"}, "ask": {"question": "x", "collection": "nosuch"},
	} {
		if r := use(t, c, name, arguments, nil); !r.IsError {
			t.Errorf("%s with %v is no error", name, arguments)
		}
	}
}

// TestMCPResources lists and reads documents as resources, and offers prompts.
func TestMCPResources(t *testing.T) {
	t.Parallel()
	c := connect(t, open(t, server.Options{}, nil), "", nil)
	list, err := c.ListResources(t.Context(), nil)
	if err != nil || len(list.Resources) != 1 || list.Resources[0].Name != "leave.md" {
		t.Fatalf("%+v, %v", list, err)
	}
	for query, want := range map[string]string{"": leave, "?lines=3-3": "Every employee has 26 days of paid leave a year.\n", "?lines=9-12": ""} {
		r, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: list.Resources[0].URI + query})
		if err != nil || r.Contents[0].Text != want {
			t.Errorf("%q: %+v, %v", query, r, err)
		}
	}
	for _, uri := range []string{"ragflow://doc/x", "ragflow://doc/-%2F00000000%2Fpasswd", list.Resources[0].URI + "x"} {
		if _, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s is a resource", uri)
		}
	}
	prompts, err := c.ListPrompts(t.Context(), nil)
	if err != nil || len(prompts.Prompts) != 2 {
		t.Errorf("%+v, %v", prompts, err)
	}
	p, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "compare", Arguments: map[string]string{"about": "leave and sick days"}})
	if err != nil || !strings.Contains(p.Messages[0].Content.(*mcp.TextContent).Text, "leave and sick days") {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestMCPSchemas: each field has one type and says what it means, and no schema refers to another.
func TestMCPSchemas(t *testing.T) {
	t.Parallel()
	c := connect(t, open(t, server.Options{}, nil), "", nil)
	tools, err := c.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 4 {
		t.Fatalf("%+v, %v", tools, err)
	}
	var check func(name string, schema map[string]any)
	check = func(name string, schema map[string]any) {
		if _, one := schema["type"].(string); !one || schema["$ref"] != nil || schema["type"] == "object" && schema["properties"] == nil && schema["additionalProperties"] == false {
			t.Errorf("%s: %v", name, schema)
		}
		properties, _ := schema["properties"].(map[string]any)
		for field, p := range properties {
			p := p.(map[string]any)
			if p["description"] == nil {
				t.Errorf("%s.%s has no description", name, field)
			}
			check(name+"."+field, p)
		}
		if items, ok := schema["items"].(map[string]any); ok {
			check(name+"[]", items)
		}
	}
	for _, tool := range tools.Tools {
		check(tool.Name, tool.InputSchema.(map[string]any))
		check(tool.Name, tool.OutputSchema.(map[string]any))
		if !tool.Annotations.ReadOnlyHint || *tool.Annotations.OpenWorldHint {
			t.Errorf("%s: %+v", tool.Name, tool.Annotations)
		}
	}
}

// TestMCPScopes: a token that may only read is offered no questions, and threads belong to its owner.
func TestMCPScopes(t *testing.T) {
	t.Parallel()
	h := open(t, server.Options{Token: true}, nil)
	reader := h.token(t, tokens.Token{Name: "reader", Owner: "reader", Scopes: []tokens.Scope{tokens.Read}})
	anna := h.token(t, tokens.Token{Name: "anna", Owner: "anna", Scopes: []tokens.Scope{tokens.Read, tokens.Ask}})
	s, err := server.New(h.a, server.Options{Token: true, Tokens: string(h.folder)})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := connect(t, s, reader, nil).ListTools(t.Context(), nil)
	if err != nil || slices.ContainsFunc(tools.Tools, func(t *mcp.Tool) bool { return t.Name == "ask" }) {
		t.Errorf("%+v, %v", tools, err)
	}
	var answer struct{ Thread string }
	use(t, connect(t, s, anna, nil), "ask", map[string]any{"question": "How many days of leave?"}, &answer)
	if info, err := h.a.Threads().For("anna").Info(t.Context(), answer.Thread); err != nil || info.Owner != "anna" {
		t.Errorf("%+v, %v", info, err)
	}
}

// TestMCPCancel: a call that its client gives up ends the run.
func TestMCPCancel(t *testing.T) {
	t.Parallel()
	m := llmtest.Hold(leaveAnswer)
	h, _ := serve(t, m)
	c := connect(t, h, "", nil)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = c.CallTool(ctx, &mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"question": "How many days of leave?"}})
	}()
	happens(t, m.Asked, "the question")
	began := time.Now()
	cancel()
	happens(t, m.Cancelled, "the end of the call")
	if took := time.Since(began); took > 5*time.Second { // some milliseconds on an idle machine
		t.Errorf("cancelled after %s", took)
	}
	<-ended
}
