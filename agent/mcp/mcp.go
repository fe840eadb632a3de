// Package mcp makes agent tools of the tools of MCP servers (Model Context Protocol).
//
//	files, err := mcp.Connect(ctx, mcp.Config{Name: "files", Command: []string{"mcp-files", "/srv/manuals"}})
//	defer files.Close()
//	plan, err := agent.Compile(agent.Agent{Chat: chat, Tools: files.Tools})
//
// # Rules
//
//   - A person must approve each call, unless [Config].Allow names the tool. A server's claims
//     about the harmlessness of its tools are ignored.
//   - Names, descriptions, schemas and results come from the server. They are bounded in size,
//     and the model gets results as data: a [Source N] in one is not taken for a citation.
//   - A tool with a broken schema or name is left out: see [Server].LeftOut.
//   - If a server dies, hangs or answers wrongly, calls fail, and the model sees why. It is not started again.
//   - A command gets the environment variables of [Config].Env and a few that programs need,
//     such as PATH, so no key that this process holds.
package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"example.com/ragflow/agent"
)

// Limits of what a server sends.
const (
	DefaultTimeout = 30 * time.Second
	MaxTools       = 128      // that an agent gets; models choose badly among many
	MaxResult      = 64 << 10 // bytes; the rest is cut
	maxListed      = 10_000   // tools that are read
	maxDescription = 2 << 10  // bytes
	maxSchema      = 32 << 10 // bytes
	maxResponse    = 16 << 20 // bytes of a response by HTTP; the SDK bounds what a command writes
)

// Config says how to reach a server: by Command or by URL.
type Config struct {
	Name    string        // stands before the names of the tools, as in files_read; may be empty
	Command []string      // program and arguments; it is started and speaks on its stdin and stdout
	Env     []string      // environment of the command, as NAME=value
	URL     string        // address of a server that speaks streamable HTTP
	HTTP    *http.Client  // for URL, for example to add a key to requests; default http.DefaultClient
	Only    []string      // tools to use, by the names that the server gives; empty: all
	Allow   []string      // tools that need no approval, by the names that the server gives
	Timeout time.Duration // of Connect, and of each call; default [DefaultTimeout]
}

// Server is a connection to a server.
type Server struct {
	Tools   []agent.Tool
	LeftOut []error // why a tool is not among Tools, one error a tool

	config  Config
	session *mcp.ClientSession
}

// Connect starts or reaches a server and lists its tools. The context and the timeout bound
// Connect only; the connection ends with [Server.Close].
func Connect(ctx context.Context, c Config) (*Server, error) {
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	if (c.URL == "") == (len(c.Command) == 0) {
		return nil, errors.New("an MCP server needs a Command or a URL")
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "ragflow", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	session, err := client.Connect(ctx, c.transport(), nil)
	if err != nil {
		return nil, fmt.Errorf("connect to the MCP server %s: %w", cmp.Or(c.Name, c.URL, strings.Join(c.Command, " ")), err)
	}
	s := &Server{config: c, session: session}
	if err := s.list(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("list the tools of the MCP server: %w", err), s.Close())
	}
	return s, nil
}

// Close ends the connection, and the command if there is one. Calls under way fail.
func (s *Server) Close() error { return s.session.Close() }

func (c Config) transport() mcp.Transport {
	if c.URL == "" {
		command := exec.Command(c.Command[0], c.Command[1:]...) //nolint:gosec,noctx // the caller names the program, which lives until Close
		for name := range strings.FieldsSeq("HOME LANG PATH TMPDIR USER APPDATA LOCALAPPDATA SYSTEMROOT TEMP USERPROFILE") {
			if value, ok := os.LookupEnv(name); ok {
				command.Env = append(command.Env, name+"="+value)
			}
		}
		command.Env = append(command.Env, c.Env...)
		apart(command)
		return &mcp.CommandTransport{Command: command, TerminateDuration: time.Second}
	}
	client := *cmp.Or(c.HTTP, http.DefaultClient)
	client.Transport = bounded{cmp.Or(client.Transport, http.DefaultTransport)}
	return &mcp.StreamableClientTransport{Endpoint: c.URL, HTTPClient: &client, DisableStandaloneSSE: true}
}

// bounded limits the bodies of responses.
type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.next.RoundTrip(r)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, maxResponse)
	}
	return response, err
}

// list fills Tools and LeftOut.
func (s *Server) list(ctx context.Context) error {
	listed := 0
	for t, err := range s.session.Tools(ctx, nil) {
		switch listed++; {
		case err != nil:
			return err
		case listed > maxListed:
			return fmt.Errorf("there are more than %d", maxListed)
		case len(s.config.Only) > 0 && !slices.Contains(s.config.Only, t.Name):
			continue
		}
		tool, err := s.tool(t)
		if slices.ContainsFunc(s.Tools, func(o agent.Tool) bool { return o.Name == tool.Name }) {
			err = errors.New("another tool has the same name")
		}
		if err != nil {
			s.LeftOut = append(s.LeftOut, fmt.Errorf("tool %.80q: %w", t.Name, err))
		} else {
			s.Tools = append(s.Tools, tool)
		}
	}
	if len(s.Tools) > MaxTools {
		return fmt.Errorf("there are %d, at most %d are allowed: choose with Config.Only", len(s.Tools), MaxTools)
	}
	return nil
}

// tool makes a tool of one that the server lists.
func (s *Server) tool(t *mcp.Tool) (agent.Tool, error) {
	schema, err := json.Marshal(t.InputSchema)
	if len(schema) > maxSchema {
		err = fmt.Errorf("its schema has %d bytes, at most %d are allowed", len(schema), maxSchema)
	}
	name := strings.NewReplacer(".", "_", "/", "_").Replace(t.Name) // models accept fewer characters than the protocol
	if s.config.Name != "" {
		name = s.config.Name + "_" + name
	}
	out := agent.Tool{Name: name, Description: data(cmp.Or(t.Description, t.Title), maxDescription), Schema: schema, Timeout: s.config.Timeout}
	if !slices.Contains(s.config.Allow, t.Name) {
		out.Approve = agent.Always
	}
	out.Run = func(ctx context.Context, arguments json.RawMessage) (agent.Result, error) {
		r, err := s.session.CallTool(ctx, &mcp.CallToolParams{Name: t.Name, Arguments: arguments})
		if err == nil && r.IsError {
			err = errors.New(textOf(r))
		}
		if err != nil {
			return agent.Result{}, errors.New(data(err.Error(), MaxResult))
		}
		return agent.Result{Text: data(textOf(r), MaxResult)}, nil
	}
	return out, cmp.Or(err, out.Check())
}

// textOf returns a result as text. Pictures and sounds are only named.
func textOf(r *mcp.CallToolResult) string {
	var parts []string
	for _, c := range r.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			parts = append(parts, c.Text)
		case *mcp.ImageContent, *mcp.AudioContent:
			parts = append(parts, "(a picture or a sound, which is not shown)")
		default:
			part, _ := json.Marshal(c) // it was read from JSON
			parts = append(parts, string(part))
		}
	}
	if structured, _ := json.Marshal(r.StructuredContent); len(parts) == 0 && r.StructuredContent != nil {
		return string(structured)
	}
	return strings.Join(parts, "\n\n")
}

// data bounds a text of the server, and takes from it what looks like a source of ours.
func data(text string, most int) string {
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + fmt.Sprintf(" (cut: %d of %d bytes)", most, len(text))
	}
	return strings.ReplaceAll(text, "[Source", `\[Source`)
}
