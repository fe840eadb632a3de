package doors_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// used is what a client of MCP saw.
type used struct {
	Tools    []string
	Hits     int
	Text     string
	Answer   struct{ Answer string }
	Progress []string
	Resource string
	Wrong    bool
	Again    int // hits after the server was killed and started again
}

func (u used) check(t *testing.T, client string, restarted bool) {
	t.Helper()
	switch {
	case !slices.Equal(u.Tools, []string{"ask", "fetch", "list_documents", "search"}), u.Hits != 1, u.Text != leave, u.Resource != leave, !u.Wrong,
		!strings.Contains(u.Answer.Answer, "26 days"), !slices.Contains(u.Progress, "retrieval"), restarted && u.Again != 1:
		t.Errorf("%s: %+v", client, u)
	}
}

// TestIntegrationMCPClients: the official clients use the server, and go on with it after it was
// killed and started again.
func TestIntegrationMCPClients(t *testing.T) {
	for _, name := range []string{"client.mjs", "client.py"} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			h := newHouse(t)
			url, kill := h.serve(t, "127.0.0.1:0")
			args := []string{"http", url + "/mcp"}
			if strings.HasSuffix(name, ".py") {
				args = args[1:]
			}
			in, lines := talk(t, script(ctx, t, "mcp", name, args...))
			if !lines.Scan() || lines.Text() != "ready" {
				t.Fatalf("%q, %v", lines.Text(), lines.Err())
			}
			kill()
			h.serve(t, strings.TrimPrefix(url, "http://"))
			fmt.Fprintln(in, "go on")
			if !lines.Scan() {
				t.Fatal("the client does not survive the restart")
			}
			var seen map[string]used
			if err := json.Unmarshal(lines.Bytes(), &seen); err != nil {
				t.Fatal(err)
			}
			for client, u := range seen {
				u.check(t, client, true)
			}
		})
	}
}

// TestIntegrationMCPStdio: the client starts the program, and every line of its output is the protocol's.
func TestIntegrationMCPStdio(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	h := newHouse(t)
	if err := os.WriteFile(filepath.Join(h.docs, "broken.pdf"), []byte("%PDF-1.7\nbroken"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := h.ragflow(t, "mcp", "--docs", h.docs)
	client := script(ctx, t, "mcp", "client.mjs", append([]string{"stdio"}, c.Args...)...)
	client.Env = c.Env
	_, lines := talk(t, client)
	if !lines.Scan() {
		t.Fatal("the client ended early")
	}
	var seen map[string]used
	if err := json.Unmarshal(lines.Bytes(), &seen); err != nil {
		t.Fatal(err)
	}
	seen["TypeScript 1"].check(t, "TypeScript 1", false)

	in, lines := talk(t, h.ragflow(t, "mcp", "--docs", h.docs))
	for _, m := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":2,"method":"nosuch"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"ask","arguments":{"question":"How many days of leave?"}}}`,
	} {
		fmt.Fprintln(in, m)
	}
	for id := 0.0; id != 3; {
		var m map[string]any
		if !lines.Scan() || json.Unmarshal(lines.Bytes(), &m) != nil || m["jsonrpc"] != "2.0" {
			t.Fatalf("no message: %q", lines.Text())
		}
		id, _ = m["id"].(float64)
	}
}
