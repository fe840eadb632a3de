package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"example.com/ragflow"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// maxPassages is how many passages one search returns at most.
const maxPassages = 20

type searchIn struct {
	Query      string `json:"query"                jsonschema:"what to look for, in words or as a question; \"words in quotes\" must stand together"`
	Limit      int    `json:"limit,omitempty"      jsonschema:"how many passages, at most 20; 8 if it is left out"`
	Collection string `json:"collection,omitempty" jsonschema:"the collection to search in; the default one if it is left out"`
	Path       string `json:"path,omitempty"       jsonschema:"only documents whose path fits this glob, such as contracts/**/*.pdf"`
}

type searchOut struct {
	Results  []passage `json:"results"  jsonschema:"the passages that fit best, best first"`
	Warnings []string  `json:"warnings" jsonschema:"what the search could not do"`
}

// passage is a passage found or cited.
type passage struct {
	ID    string  `json:"id"              jsonschema:"id of the document, for fetch"`
	Title string  `json:"title"           jsonschema:"title of the document"`
	URL   string  `json:"url"             jsonschema:"address of the document"`
	Text  string  `json:"text"            jsonschema:"the passage, word for word"`
	Path  string  `json:"path"            jsonschema:"path of the document in its folder"`
	Place string  `json:"place"           jsonschema:"lines or pages of the passage"`
	Score float64 `json:"score,omitempty" jsonschema:"relevance; only to be compared within this list"`
}

type askIn struct {
	Question   string `json:"question"             jsonschema:"the question, as a person would ask it"`
	Thread     string `json:"thread,omitempty"     jsonschema:"id of an earlier answer's conversation, to go on with it"`
	Collection string `json:"collection,omitempty" jsonschema:"the collection to answer from; the default one if it is left out"`
}

type askOut struct {
	Answer    string    `json:"answer"    jsonschema:"the answer; [Source 1] is the first of the sources"`
	Found     bool      `json:"found"     jsonschema:"whether the documents hold the answer; if not, the answer says what was found instead"`
	Certainty float64   `json:"certainty" jsonschema:"probability that the sources answer the question, 0 to 1"`
	Thread    string    `json:"thread"    jsonschema:"id of the conversation"`
	Sources   []passage `json:"sources"   jsonschema:"the passages that the answer cites"`
}

func (h *house) addTools(s *mcp.Server) {
	closed := false
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &closed}
	add(s, "search", "Search the documents", "Find the passages of the documents that fit a query best.", reads, h.search)
	add(s, "fetch", "Read a document", "Read the text of a document, by the id that search or list_documents gave.", reads, h.fetch)
	add(s, "list_documents", "List the documents", "List the documents by their paths.", reads, h.list)
	if h.who.May(tokens.Ask) {
		add(s, "ask", "Ask the documents", "Answer a question from the documents, with the passages that say so.", reads, h.ask)
	}
}

// add adds a tool whose schemas use only what every model's vendor takes: one type a field.
func add[In, Out any](s *mcp.Server, name, title, description string, hints *mcp.ToolAnnotations, do mcp.ToolHandlerFor[In, Out]) {
	mcp.AddTool(s, &mcp.Tool{Name: name, Title: title, Description: description, Annotations: hints, InputSchema: schema[In](), OutputSchema: schema[Out]()}, do)
}

func schema[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		panic(err) // the type is one of this package
	}
	single(s)
	return s
}

// single takes null out of the types of a schema.
func single(s *jsonschema.Schema) {
	for _, t := range s.Types {
		if t != "null" {
			s.Type, s.Types = t, nil
		}
	}
	if s.Items != nil {
		single(s.Items)
	}
	for _, p := range s.Properties {
		single(p)
	}
}

func (h *house) search(ctx context.Context, _ *mcp.CallToolRequest, in searchIn) (*mcp.CallToolResult, searchOut, error) {
	collections, err := h.who.Choose(in.Collection)
	if err != nil {
		return nil, searchOut{}, err
	}
	if in.Limit < 0 || in.Limit > maxPassages {
		return nil, searchOut{}, fmt.Errorf("limit is within 1 and %d", maxPassages)
	}
	if in.Limit == 0 {
		in.Limit = 8
	}
	var filter state.Filter
	if in.Path != "" {
		filter.AddPaths(in.Path)
	}
	reply, err := h.a.Search(ctx, in.Query, ragflow.SearchOptions{Collections: collections, Request: search.Request{K: in.Limit, Filter: filter}})
	if err != nil {
		return nil, searchOut{}, err
	}
	out := searchOut{Results: []passage{}, Warnings: append([]string{}, reply.Warnings...)}
	for _, hit := range reply.Hits {
		c := hit.Chunk
		p := h.passage(ctx, collections, state.Citation{Root: c.Root, Source: c.Source, Title: c.Title, URL: c.URL, Quote: c.Text, StartLine: c.StartLine, EndLine: c.EndLine, Page: c.Page, EndPage: hit.EndPage})
		p.Score = hit.Score
		out.Results = append(out.Results, p)
	}
	return &mcp.CallToolResult{Content: append([]mcp.Content{&mcp.TextContent{Text: texts(out.Results, "")}}, links(out.Results)...)}, out, nil
}

// passage describes a passage to a client.
func (h *house) passage(ctx context.Context, collections []string, c state.Citation) passage {
	p := passage{ID: h.documents.ID(ctx, collections, c.Root, c.Source), Title: c.Title, URL: c.URL, Text: c.Quote, Path: c.Source}
	switch {
	case c.Page > 0:
		p.Place = span("page", c.Page, c.EndPage)
	case c.StartLine > 0:
		p.Place = span("line", c.StartLine, c.EndLine)
	}
	if p.Title == "" {
		p.Title = p.Path
	}
	if p.URL == "" {
		p.URL = address(p.ID)
	}
	return p
}

func span(what string, from, to int) string {
	if to <= from {
		return fmt.Sprintf("%s %d", what, from)
	}
	return fmt.Sprintf("%ss %d-%d", what, from, to)
}

// texts is a list of passages for clients that show text alone; mark stands before each number.
func texts(list []passage, mark string) string {
	if len(list) == 0 {
		return "Nothing was found."
	}
	var b strings.Builder
	for i, p := range list {
		fmt.Fprintf(&b, "[%s%d] %s, %s (id %s)\n%s\n\n", mark, i+1, p.Path, p.Place, p.ID, p.Text)
	}
	return strings.TrimSpace(b.String())
}

// links are the documents of passages, each once.
func links(list []passage) (out []mcp.Content) {
	seen := map[string]bool{}
	for _, p := range list {
		if !seen[p.ID] {
			seen[p.ID] = true
			out = append(out, &mcp.ResourceLink{URI: address(p.ID), Name: p.Path, Title: p.Title})
		}
	}
	return out
}

// errNoAnswer is the error of a question that ended without one.
var errNoAnswer = errors.New("the question was not answered")

func (h *house) ask(ctx context.Context, r *mcp.CallToolRequest, in askIn) (*mcp.CallToolResult, askOut, error) {
	collections, err := h.who.Choose(in.Collection)
	if err != nil {
		return nil, askOut{}, err
	}
	var reply *ragflow.Reply
	steps := 0.0
	for e, err := range h.a.Stream(ctx, ragflow.Question{Text: in.Question, Thread: in.Thread, Collections: collections}) {
		if err != nil {
			return nil, askOut{}, err
		}
		switch e.Kind {
		case ragflow.StepBegan:
			if token := r.Params.GetProgressToken(); token != nil {
				steps++
				_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: steps, Message: e.Node}) // news that may be lost
			}
		case ragflow.Asked:
			return nil, askOut{}, errors.New("the question waits for a person, whom this protocol does not reach")
		case ragflow.Done:
			reply = e.Reply
		default:
		}
	}
	if reply == nil {
		return nil, askOut{}, errNoAnswer
	}
	out := askOut{Answer: reply.Answer, Found: !reply.Abstained, Certainty: reply.Certainty.P, Thread: reply.ThreadID, Sources: []passage{}}
	for _, c := range reply.Citations {
		out.Sources = append(out.Sources, h.passage(ctx, collections, c.Citation))
	}
	text := out.Answer
	if len(out.Sources) > 0 {
		text += "\n\nSources:\n" + texts(out.Sources, "Source ")
	}
	return &mcp.CallToolResult{Content: append([]mcp.Content{&mcp.TextContent{Text: text}}, links(out.Sources)...)}, out, nil
}
