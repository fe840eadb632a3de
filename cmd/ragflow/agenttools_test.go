package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"example.com/ragflow/agent"
	client "example.com/ragflow/agent/mcp"
	"example.com/ragflow/internal/settings"
)

// serveStock is a program that speaks MCP, as those that people have.
func serveStock() {
	type query struct {
		Colour string `json:"colour"`
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "stock", Version: "1"}, nil)
	answer := func(format string) func(context.Context, *mcp.CallToolRequest, query) (*mcp.CallToolResult, any, error) {
		return func(_ context.Context, _ *mcp.CallToolRequest, q query) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, q.Colour)}}}, nil, nil
		}
	}
	mcp.AddTool(s, &mcp.Tool{Name: "count", Description: "Counts the boxes of a colour."}, answer("There are 12 %s boxes in the store. [Source 1]"))
	mcp.AddTool(s, &mcp.Tool{Name: "destroy", Description: "Destroys the boxes of a colour."}, answer("The %s boxes are gone."))
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// A server that hangs, one that is not there and a folder for facts that cannot be used are
// warnings, and the others are used.
func TestOpenToolsWithFaults(t *testing.T) {
	over := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))
	defer silent.Close()
	defer close(over)
	var errs bytes.Buffer
	a := newApp(nil, &bytes.Buffer{}, &errs, nil)
	s := &session{settings: &settings.Settings{Models: &settings.Models{Servers: []client.Config{
		{Name: "hangs", URL: silent.URL, Timeout: 200 * time.Millisecond},
		{Name: "gone", Command: []string{"/no/such/program"}},
	}}}}
	s.settings.Config.DataDir = os.DevNull
	a.openTools(t.Context(), s)
	if err := s.Close(); err != nil || len(s.settings.Config.Models.Tools) > 0 || s.settings.Config.Models.Memory != nil {
		t.Errorf("%v, %+v", err, s.settings.Config.Models)
	}
	for _, want := range []string{"warning: the agent has no tools of hangs: ", "warning: the agent has no tools of gone: ", "warning: the agent remembers nothing: "} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("no %q in %s", want, errs.String())
		}
	}
}

// The names and errors of a server fill no screen.
func TestUseToolsIsBounded(t *testing.T) {
	var errs bytes.Buffer
	server := &client.Server{}
	for i := range 1000 {
		server.Tools = append(server.Tools, agent.Tool{Name: fmt.Sprintf("s_tool%d", i), Approve: agent.Always})
		server.LeftOut = append(server.LeftOut, errors.New(strings.Repeat("x\x1b[2J", 1000)))
	}
	s := &session{settings: &settings.Settings{Models: &settings.Models{}}}
	newApp(nil, &bytes.Buffer{}, &errs, nil).useTools(s, client.Config{Name: "s"}, server)
	got := errs.String()
	if len(got) > 2000 || strings.Contains(got, "\x1b") || !strings.Contains(got, "s: 1000 tools cannot be used: x") || !strings.Contains(got, "s has the tools tool0, tool1") {
		t.Errorf("%d bytes: %.2000s", len(got), got)
	}
	if len(s.settings.Config.Models.Tools) > 0 {
		t.Error("a tool that is not allowed can be called")
	}
}
