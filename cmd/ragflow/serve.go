package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow/internal/settings"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server"
)

func (a *app) serveCommand(g *given) *cobra.Command {
	var addr string
	var o server.Options
	var logged, show bool
	c := command("serve", 0, func(c *cobra.Command, _ []string) error {
		return a.serve(c.Context(), g, addr, o, logged, show)
	})
	f := c.Flags()
	f.StringVar(&addr, "addr", "127.0.0.1:8080", "listen at `HOST:PORT`; port 0 takes a free one")
	f.StringArrayVar(&o.Hosts, "host", nil, "a `NAME` by which others reach the server, such as docs.example.com; they need tokens; may be repeated")
	f.StringVar(&o.PublicURL, "public-url", "", "begin the links of answers with `URL`, such as https://docs.example.com for a proxy")
	f.StringArrayVar(&o.Origins, "allow-origin", nil, "let pages of `URL` call the server, such as http://localhost:3000; may be repeated")
	f.BoolVar(&o.Token, "token", false, "want a token from programs of this machine, too")
	f.StringVar(&o.CertFile, "tls-cert", "", "serve HTTPS with the certificates of this `FILE`")
	f.StringVar(&o.KeyFile, "tls-key", "", "private key for --tls-cert, in a `FILE`")
	f.BoolVar(&show, "open", false, "show the page in your browser")
	f.BoolVar(&logged, "log", false, "write a line of JSON for each request to standard error")
	g.addSearch(f)
	g.addModels(f)
	g.addNoQueryLog(f)
	return c
}

func (a *app) serve(ctx context.Context, g *given, addr string, o server.Options, logged, show bool) error {
	host, _, err := net.SplitHostPort(addr)
	switch {
	case err != nil:
		return usagef("--addr %q is not HOST:PORT", addr).with("such as 127.0.0.1:8080")
	case (o.CertFile == "") != (o.KeyFile == ""):
		return usagef("--tls-cert and --tls-key go together")
	case !loopback(host) && len(o.Hosts) == 0:
		return usagef("--addr %s is open to other machines: name the server with --host, and give each client a token", addr).
			with("ragflow tokens add NAME; ragflow serve --addr " + addr + " --host docs.example.com")
	}
	for i := range o.Hosts {
		o.Hosts[i] = strings.ToLower(o.Hosts[i])
	}
	o.Token, o.PersonKey = o.Token || len(o.Hosts) > 0, []byte(a.env["RAGFLOW_OPENWEBUI_SECRET"])
	return a.with(ctx, g, opening{models: settings.AllModels, tools: true, metrics: true}, func(s *session) error {
		folder := tokens.In(s.settings.Config.DataDir)
		if list, _ := folder.List(); o.Token && len(list) == 0 { // a damaged one is logged
			return usagef("every client needs a token, and there is none").with("make one: ragflow tokens add NAME")
		}
		o.Machine = func(ctx context.Context) (rows [][3]string) {
			for _, r := range survey(ctx, s.settings) {
				rows = append(rows, [3]string{r.Provider, r.Status, r.About})
			}
			return rows
		}
		o.Tokens, o.Version, o.Facts = string(folder), readVersion().Version, s.settings.Config.Models.Memory
		if o.Metrics = s.telemetry.Handler(); s.telemetry != nil {
			o.Observe, o.ObserveMCP = s.telemetry.Request, s.telemetry.MCP
		}
		if logged {
			o.Logger = slog.New(slog.NewJSONHandler(a.err, nil))
		} else {
			o.Logger = slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: slog.LevelError}))
		}
		return a.listen(ctx, g, s, addr, o, show)
	})
}

// listen serves until the program is told to end, and keeps the index up to date.
func (a *app) listen(ctx context.Context, g *given, s *session, addr string, o server.Options, show bool) error {
	h, err := server.New(s.Assistant, o) //nolint:contextcheck // a deletion outlives the request that asks for it
	if err != nil {
		return &failure{code: exitUsage, err: err}
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return failed("", err) // it says "listen tcp" and the address
	}
	scheme := "http"
	if o.CertFile != "" {
		scheme = "https"
	}
	url := scheme + "://" + l.Addr().String()
	fmt.Fprintln(a.out, url)
	_ = a.out.Flush() // an error of the output is reported at the end
	if show {
		go func() {
			if err := openBrowser(ctx, url); err != nil && ctx.Err() == nil {
				a.warn("no browser could be started: open " + url + " yourself")
			}
		}()
	}
	a.tell("serving — end with Ctrl-C")
	live, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-a.ending.drain:
			cancel(errTerminated)
		case <-live.Done():
		}
	}()
	synced := make(chan struct{})
	go func() {
		defer close(synced)
		if docs := s.settings.Config.Docs; len(docs) > 0 {
			if err := a.sync(live, g, s); err != nil && live.Err() == nil {
				a.warn(err.Error())
			}
			_ = a.watch(live, s) // ends with live alone
		}
	}()
	err = h.Serve(live, l)
	cancel(nil)
	<-synced
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return failed("serve", err)
}

// loopback reports whether only programs of this machine reach a host.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
