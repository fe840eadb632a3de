package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"example.com/ragflow/ingest"
)

const (
	scheme    = "ragflow://doc/"
	pageBytes = 20_000 // of a document in one result: clients cut what is longer
	pageFiles = 200    // documents in one list
)

// address returns the address of a document in this protocol.
func address(id string) string { return scheme + url.PathEscape(id) }

type fetchIn struct {
	ID     string `json:"id"               jsonschema:"id of the document"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next of the part before; left out: the beginning"`
}

type fetchOut struct {
	ID       string            `json:"id"             jsonschema:"id of the document"`
	Title    string            `json:"title"          jsonschema:"title of the document"`
	Text     string            `json:"text"           jsonschema:"the text, or a part of it"`
	URL      string            `json:"url"            jsonschema:"address of the document"`
	Next     string            `json:"next,omitempty" jsonschema:"cursor of the next part; left out after the last one"`
	Metadata map[string]string `json:"metadata"       jsonschema:"path of the document, and whether it has changed since it was indexed"`
}

type listIn struct {
	Prefix     string `json:"prefix,omitempty"     jsonschema:"only paths that begin so"`
	Collection string `json:"collection,omitempty" jsonschema:"the collection to list; the default one if it is left out"`
	Cursor     string `json:"cursor,omitempty"     jsonschema:"next of the list before"`
}

type listOut struct {
	Documents []listed `json:"documents"      jsonschema:"the documents by path"`
	Next      string   `json:"next,omitempty" jsonschema:"cursor of the next part; left out after the last one"`
}

type listed struct {
	ID    string `json:"id"    jsonschema:"id of the document, for fetch"`
	Title string `json:"title" jsonschema:"title of the document"`
	Path  string `json:"path"  jsonschema:"path of the document in its folder"`
	Bytes int64  `json:"bytes" jsonschema:"size of the file"`
}

// errCursor is the error of a cursor that no list gave.
var errCursor = errors.New("this is no cursor of an earlier part")

// part returns where a part begins that a cursor names.
func part(cursor string, size int) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(cursor)
	if err != nil || n < 0 || n > size {
		return 0, errCursor
	}
	return n, nil
}

func (h *house) fetch(ctx context.Context, _ *mcp.CallToolRequest, in fetchIn) (*mcp.CallToolResult, fetchOut, error) {
	l, root, source, err := h.documents.Find(ctx, in.ID)
	if err != nil {
		return nil, fetchOut{}, err
	}
	t, err := l.Text(ctx, root, source)
	if err != nil {
		return nil, fetchOut{}, err
	}
	from, err := part(in.Cursor, len(t.Text))
	if err != nil {
		return nil, fetchOut{}, err
	}
	from, to := whole(t.Text, from), whole(t.Text, from+pageBytes)
	out := fetchOut{ID: in.ID, Title: t.Title, Text: t.Text[from:to], URL: address(in.ID), Metadata: map[string]string{"path": source}}
	if t.Changed {
		out.Metadata["changed"] = "the file has changed since it was indexed"
	}
	if to < len(t.Text) {
		out.Next = strconv.Itoa(to)
	}
	return nil, out, nil
}

// whole returns the place of the last character of a text that begins at n or before.
func whole(s string, n int) int {
	n = min(n, len(s))
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

// files lists the documents of a collection that have a text.
func (h *house) files(ctx context.Context, collection, prefix string) ([]listed, error) {
	l, err := h.documents.Library(ctx, collection)
	if err != nil {
		return nil, err
	}
	if _, err := l.Ready(ctx); err != nil && !errors.Is(err, ingest.ErrNoDocuments) {
		return nil, err
	}
	stats, err := l.Stats(ctx, true)
	if err != nil {
		return nil, err
	}
	collections, err := h.who.Choose(collection)
	if err != nil {
		return nil, err
	}
	out := []listed{}
	for _, c := range stats.Collections {
		for _, f := range c.FileList {
			if f.Chunks > 0 && strings.HasPrefix(f.Source, prefix) {
				id := h.documents.ID(ctx, collections[:min(1, len(collections))], c.Root, f.Source)
				out = append(out, listed{ID: id, Title: f.Title, Path: f.Source, Bytes: f.Bytes})
			}
		}
	}
	return out, nil
}

// page returns a part of a list and the cursor of the next one.
func page[T any](all []T, cursor string) ([]T, string, error) {
	from, err := part(cursor, len(all))
	if err != nil {
		return nil, "", err
	}
	to, next := min(from+pageFiles, len(all)), ""
	if to < len(all) {
		next = strconv.Itoa(to)
	}
	return all[from:to], next, nil
}

func (h *house) list(ctx context.Context, _ *mcp.CallToolRequest, in listIn) (*mcp.CallToolResult, listOut, error) {
	all, err := h.files(ctx, in.Collection, in.Prefix)
	if err != nil {
		return nil, listOut{}, err
	}
	var out listOut
	out.Documents, out.Next, err = page(all, in.Cursor)
	return nil, out, err
}

// resources lists the documents of the default collection as resources.
func (h *house) resources(ctx context.Context, cursor string) (*mcp.ListResourcesResult, error) {
	all, err := h.files(ctx, "", "")
	if err != nil {
		return nil, err
	}
	part, next, err := page(all, cursor)
	out := &mcp.ListResourcesResult{Cacheable: mcp.Cacheable{CacheScope: "private"}, NextCursor: next, Resources: []*mcp.Resource{}}
	for _, f := range part {
		out.Resources = append(out.Resources, &mcp.Resource{URI: address(f.ID), Name: f.Path, Title: f.Title, MIMEType: "text/plain", Size: f.Bytes})
	}
	return out, err
}

func (h *house) addDocuments(s *mcp.Server) {
	s.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: scheme + "{id}{?lines}", Name: "document", Title: "A document", MIMEType: "text/plain",
		Description: "The text of a document, as it was read; lines=10-24 is a part of it.",
	}, h.read)
	for name, about := range map[string]string{
		"ask_documents": "Answer a question from the documents alone, and cite them: ",
		"compare":       "Search the documents for each side, and compare them point by point, with citations: ",
	} {
		s.AddPrompt(&mcp.Prompt{
			Name: name, Description: strings.TrimSuffix(about, ": ") + ".",
			Arguments: []*mcp.PromptArgument{{Name: "about", Description: "what it is about", Required: true}},
		}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			message := &mcp.TextContent{Text: about + r.Params.Arguments["about"]}
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: message}}}, nil
		})
	}
}

// read answers a resource: the text of a document, or some of its lines.
func (h *house) read(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	escaped, query, _ := strings.Cut(strings.TrimPrefix(r.Params.URI, scheme), "?")
	id, err := url.PathUnescape(escaped)
	if err != nil {
		return nil, mcp.ResourceNotFoundError(r.Params.URI)
	}
	l, root, source, err := h.documents.Find(ctx, id)
	if err != nil {
		return nil, mcp.ResourceNotFoundError(r.Params.URI)
	}
	t, err := l.Text(ctx, root, source)
	if errors.Is(err, ingest.ErrNoDocument) {
		return nil, mcp.ResourceNotFoundError(r.Params.URI)
	}
	if err != nil {
		return nil, err
	}
	content := t.Text
	if values, err := url.ParseQuery(query); err == nil && values.Get("lines") != "" {
		var first, last int
		if n, _ := fmt.Sscanf(values.Get("lines"), "%d-%d", &first, &last); n != 2 || first < 1 || last < first {
			return nil, errors.New("lines is FIRST-LAST, such as 10-24")
		}
		lines := slices.Collect(strings.Lines(content))
		content = strings.Join(lines[min(first-1, len(lines)):min(last, len(lines))], "")
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: "text/plain", Text: content}}}, nil
}
