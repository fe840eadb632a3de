package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow/internal/settings"
	"example.com/ragflow/server"
)

func (a *app) mcpCommand(g *given) *cobra.Command {
	client := ""
	c := command("mcp", 0, func(c *cobra.Command, _ []string) error {
		if client != "" {
			return a.printClient(g, client)
		}
		out := a.stdout
		a.stdout, a.out = a.err, bufio.NewWriter(a.err) // standard output is the protocol's alone
		os.Stdout = os.Stderr
		in, ok := a.in.(io.ReadCloser)
		if !ok {
			in = io.NopCloser(a.in)
		}
		return a.with(c.Context(), g, opening{models: settings.AllModels, tools: true}, func(s *session) error {
			a.tell("serving one client on standard input and output")
			err := server.ServeMCP(c.Context(), s.Assistant, readVersion().Version, in, nopWriteCloser{out})
			if c.Context().Err() != nil {
				err = nil // the client or the person ended it
			}
			return failed("serve", err)
		})
	})
	c.Flags().StringVar(&client, "print-config", "", "print what a `CLIENT` needs to start this: claude, cursor, vscode or codex")
	g.addSearch(c.Flags())
	g.addModels(c.Flags())
	g.addNoQueryLog(c.Flags())
	return c
}

// nopWriteCloser leaves a stream open.
type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }

// printClient prints the entry of a client's own settings: absolute paths, because clients start
// programs anywhere and with a bare environment.
func (a *app) printClient(g *given, client string) error {
	program, err := os.Executable()
	if err != nil {
		return failed("find this program", err)
	}
	s, err := a.load(a.input(g))
	if err != nil {
		return err
	}
	args := []string{"mcp", "--data-dir", s.Config.DataDir}
	for _, d := range s.Config.Docs {
		if d, err = filepath.Abs(d); err != nil {
			return failed("find the documents", err)
		}
		args = append(args, "--docs", d)
	}
	entry := map[string]any{"command": program, "args": args}
	settings := map[string]any{}
	switch client {
	case "claude", "cursor":
		settings["mcpServers"] = map[string]any{"ragflow": entry}
	case "vscode":
		entry["type"] = "stdio"
		settings["servers"] = map[string]any{"ragflow": entry}
	case "codex":
		quote := func(s string) string { b, _ := json.Marshal(s); return string(b) } // never fails; TOML has the same strings
		for i := range args {
			args[i] = quote(args[i])
		}
		fmt.Fprintf(a.out, "[mcp_servers.ragflow]\ncommand = %s\nargs = [%s]\n", quote(program), strings.Join(args, ", "))
		return nil
	default:
		return usagef("--print-config %q is none of claude, cursor, vscode, codex", client)
	}
	out := json.NewEncoder(a.out)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return failed("write JSON", out.Encode(settings))
}
