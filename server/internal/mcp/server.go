package mcp

import (
	"context"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"example.com/ragflow"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server/internal/door"
)

const instructions = `Search and read the person's own documents. search finds passages, fetch reads a document, ` +
	`list_documents lists them, and ask answers a question with the passages that it cites. Cite the title or path of a document.`

// house is what one caller is served with.
type house struct {
	a         *ragflow.Assistant
	documents door.Documents
	who       *door.Principal
	leaves    func(f func()) (stop func() bool) // calls f when the caller has left
	observe   Observe
}

// Observe gets each request; ended gets its error. Nil: nobody does.
type Observe = func(ctx context.Context, method string) (ended func(err error))

// newServer makes a server for one caller, whose requests end with a context.
func newServer(ctx context.Context, a *ragflow.Assistant, who *door.Principal, version string, schemas *mcp.SchemaCache, observe Observe) *mcp.Server {
	h := &house{a: a, documents: door.Documents{Assistant: a}, who: who, observe: observe}
	h.leaves = func(f func()) func() bool { return context.AfterFunc(ctx, f) }
	s := mcp.NewServer(&mcp.Implementation{Name: "ragflow", Title: "Documents", Version: version}, &mcp.ServerOptions{
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" }, // what is listed depends on the caller
		Instructions: instructions, SchemaCache: schemas,
		Capabilities: &mcp.ServerCapabilities{Resources: &mcp.ResourceCapabilities{}, Tools: &mcp.ToolCapabilities{}, Prompts: &mcp.PromptCapabilities{}},
	})
	s.AddReceivingMiddleware(h.enter)
	h.addTools(s)
	h.addDocuments(s)
	return s
}

// enter gives a request its caller, ends it when that one leaves, and answers the list of resources.
func (h *house) enter(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (result mcp.Result, err error) {
		if h.observe != nil {
			ended := h.observe(ctx, method)
			defer func() { ended(err) }()
		}
		ctx, cancel := context.WithCancel(door.With(ctx, h.who))
		defer cancel()
		defer h.leaves(cancel)() // the SDK does so for the newest protocol alone, and nobody can come back for an answer
		if p, ok := r.GetParams().(*mcp.ListResourcesParams); ok && method == "resources/list" {
			cursor := ""
			if p != nil {
				cursor = p.Cursor
			}
			return h.resources(ctx, cursor)
		}
		return next(ctx, method, r)
	}
}

// Routes are the routes of the protocol over HTTP.
func Routes(a *ragflow.Assistant, version string, observe Observe) []door.Route {
	schemas := mcp.NewSchemaCache()
	handler := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		return newServer(r.Context(), a, door.Of(r.Context()), version, schemas, observe)
	}, &mcp.StreamableHTTPOptions{
		Stateless:                  true,
		DisableLocalhostProtection: true, // the gate has checked the host
	})
	var out []door.Route
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		out = append(out, door.Route{Pattern: method + " /mcp", Scope: tokens.Read, Long: true, Do: handler.ServeHTTP})
	}
	return out
}

// Serve serves one program over a pair of streams until the first one ends or ctx does.
func Serve(ctx context.Context, a *ragflow.Assistant, version string, in io.ReadCloser, out io.WriteCloser) error {
	local := &door.Principal{Token: tokens.Token{Name: "local", Scopes: tokens.Scopes()}, Local: true}
	return newServer(ctx, a, local, version, nil, nil).Run(ctx, &mcp.IOTransport{Reader: in, Writer: out})
}
