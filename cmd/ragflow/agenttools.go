package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"example.com/ragflow/agent/mcp"
	"example.com/ragflow/llm"
)

// openTools gives an agent its memory and the tools of MCP servers. What fails is a warning: the
// question is answered without it.
func (a *app) openTools(ctx context.Context, s *session) {
	c := &s.settings.Config.Models
	facts, err := s.settings.OpenMemory(ctx)
	if err != nil {
		a.warn(fmt.Sprintf("the agent remembers nothing: %v", err))
	} else {
		c.Memory, s.tools = facts, append(s.tools, facts)
	}
	configs := s.settings.Models.Servers
	servers, errs := make([]*mcp.Server, len(configs)), make([]error, len(configs))
	var group sync.WaitGroup
	for i, config := range configs {
		group.Go(func() { servers[i], errs[i] = mcp.Connect(ctx, config) })
	}
	group.Wait()
	for i, server := range servers {
		if errs[i] != nil {
			a.warn(fmt.Sprintf("the agent has no tools of %s: %.300v", configs[i].Name, errs[i]))
			continue
		}
		s.tools = append(s.tools, server)
		a.useTools(s, configs[i], server)
	}
}

// useTools lets an agent call the tools of a server that the person allows.
func (a *app) useTools(s *session, config mcp.Config, server *mcp.Server) {
	if u, err := llm.CheckBaseURL(config.URL); err == nil && !llm.Loopback(u) {
		a.tell("what an agent asks of %s goes to %s", config.Name, u.Host)
		if u.Scheme == "http" {
			a.warn(u.Host + " is asked over plain http: others can read what is sent; use https")
		}
	}
	if bad := server.LeftOut; len(bad) > 0 {
		a.warn(fmt.Sprintf("%s: %s cannot be used: %.300v", config.Name, count(len(bad), "tool"), bad[0]))
	}
	var names []string
	for _, t := range server.Tools {
		names = append(names, strings.TrimPrefix(t.Name, config.Name+"_"))
		if t.Approve == nil {
			s.settings.Config.Models.Tools = append(s.settings.Config.Models.Tools, t)
		}
	}
	list := fmt.Sprintf("%.300s", strings.Join(names, ", "))
	switch {
	case len(config.Allow) == 0:
		a.warn(fmt.Sprintf("%s has the tools %s, and none may be called: name some after its program, such as allow=%s", config.Name, list, strings.Join(names[:min(2, len(names))], ",")))
	case list == "":
		a.warn(fmt.Sprintf("%s has no tool %s", config.Name, strings.Join(config.Allow, ", ")))
	default:
		a.tell("the agent may call %s of %s: MCP_SERVERS from %s", list, config.Name, s.settings.Source("MCP_SERVERS"))
	}
}
