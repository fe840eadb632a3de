package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/graph"
	"example.com/ragflow/graph/untyped"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/longterm"
	"example.com/ragflow/server/internal/agui"
	"example.com/ragflow/server/internal/api"
	"example.com/ragflow/server/internal/door"
	"example.com/ragflow/server/internal/langgraph"
	"example.com/ragflow/server/internal/mcp"
	"example.com/ragflow/server/internal/openai"
	"example.com/ragflow/server/internal/source"
	"example.com/ragflow/server/internal/web"
)

// Options say who may use a server. The zero value serves programs of this machine.
type Options struct {
	Hosts   []string // names of the server, beside those of the loopback interface; they need Token
	Origins []string // of pages of other servers that may call, such as http://localhost:3000
	Tokens  string   // folder of tokens, which is read again when it changes; empty: there are none
	Token   bool     // every caller needs a token; else programs of this machine need none

	// PersonKey is the secret, of 32 bytes or more, with which Open WebUI signs for the person whom a token of the scope
	// "speak" asks for. Empty: such a token is believed.
	PersonKey []byte

	// PublicURL is the address of the server in the links of answers, such as https://docs.example.com; empty: each
	// client's own.
	PublicURL string

	// Machine says which models can be had here, for the page: provider, status, and its models or what to do; nil: nothing.
	Machine func(ctx context.Context) [][3]string

	Version string // that the description of the interface tells

	// Graphs are offered to the clients of a LangGraph server, beside the assistant, which is "ragflow". Close
	// their graph.Options.Drain when Serve shall end, so that their runs are resumed by the next server.
	Graphs map[string]untyped.Runner
	Facts  *longterm.Store // for these clients; nil: none

	CertFile, KeyFile string // for TLS, in PEM; empty: plain HTTP

	Logger *slog.Logger // gets a line for each request; nil discards them
	// Metrics answers GET /metrics for those who may administer; nil: there is no such route.
	Metrics http.Handler
	// Observe gets each request that may use its route, with the pattern of the route and the request's
	// X-Request-Id. The request is served with ctx; ended gets the status. It may be nil.
	Observe func(r *http.Request, route, id string) (ctx context.Context, ended func(status int))
	// ObserveMCP gets each request by the Model Context Protocol over HTTP; ended gets its error. It may be nil.
	ObserveMCP func(ctx context.Context, method string) (ended func(err error))
}

// Server serves an Assistant over HTTP. It is safe for concurrent use.
type Server struct {
	a      *ragflow.Assistant
	o      Options
	graphs map[string]untyped.Runner // those of Options, and the flow of the assistant
	keys   *door.Keys
	gate   *door.Gate
	ready  atomic.Bool
}

// ErrOpen is the error of a server that others could use without a token.
var ErrOpen = errors.New("a server with a name of its own needs tokens")

// New makes a server. The caller closes the assistant when Serve has returned. Without one, which is nil,
// it serves Options.Graphs alone.
func New(a *ragflow.Assistant, o Options) (*Server, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if len(o.Hosts) > 0 && !o.Token {
		return nil, ErrOpen
	}
	o.PublicURL = strings.TrimRight(o.PublicURL, "/")
	if u, err := url.Parse(o.PublicURL); o.PublicURL != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.RawQuery+u.Fragment != "") {
		return nil, fmt.Errorf("the public address %q is not like https://docs.example.com", o.PublicURL)
	}
	s := &Server{a: a, o: o, keys: door.NewKeys(tokens.Folder(o.Tokens), time.Now, o.Logger)}
	rules := door.Rules{Hosts: o.Hosts, Origins: o.Origins, Token: o.Token, PersonKey: o.PersonKey}
	routes, err := s.routes()
	if err != nil {
		return nil, err
	}
	if s.gate, err = door.NewGate(rules, s.keys, o.Logger, routes...); err != nil {
		return nil, err
	}
	s.gate.Observe = o.Observe
	return s, nil
}

// routes are those of all protocols.
func (s *Server) routes() ([]door.Route, error) {
	own := []door.Route{
		{Pattern: "GET /healthz", Do: func(w http.ResponseWriter, _ *http.Request) { door.WriteJSON(w, http.StatusOK, "ok") }},
		{Pattern: "GET /readyz", Do: s.readiness},
		{Pattern: "GET /streamz", Scope: tokens.Read, Long: true, Do: ticking},
	}
	if s.o.Metrics != nil {
		own = append(own, door.Route{Pattern: "GET /metrics", Scope: tokens.Admin, Do: s.o.Metrics.ServeHTTP})
	}
	s.graphs = map[string]untyped.Runner{}
	maps.Copy(s.graphs, s.o.Graphs)
	if s.a != nil {
		s.graphs[langgraph.FlowName] = langgraph.Flow(s.a)
	}
	ofGraphs, err := langgraph.Routes(s.graphs, s.o.Facts, s.o.Version)
	if err != nil || s.a == nil {
		return append(own, ofGraphs...), err
	}
	more, err := api.Routes(s.a, s.o.Version)
	pages := web.Routes(s.a, web.Options{Secure: s.o.CertFile != "", LogIn: s.keys.LogIn, Machine: s.o.Machine})
	return slices.Concat(own, pages, more, mcp.Routes(s.a, s.o.Version, s.o.ObserveMCP), openai.Routes(s.a, s.o.PublicURL), agui.Routes(s.a, s.o.PublicURL), ofGraphs), err
}

func (s *Server) readiness(w http.ResponseWriter, _ *http.Request) {
	if !s.ready.Load() {
		door.Problem(w, http.StatusServiceUnavailable, "the server ends or has not begun")
		return
	}
	door.WriteJSON(w, http.StatusOK, "ready")
}

// ticking answers with five events, one each 0.2 s, so that a client can tell whether a proxy collects them.
func ticking(w http.ResponseWriter, r *http.Request) {
	ctx, stream := door.OpenStream(w, r)
	defer stream.Close()
	for n := range 5 {
		if n > 0 {
			select {
			case <-time.After(200 * time.Millisecond):
			case <-ctx.Done():
				return
			}
		}
		if stream.Send(door.Message{Data: strconv.AppendInt(nil, int64(n), 10)}) != nil {
			return
		}
	}
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.gate.ServeHTTP(w, r) }

// drainTime is how long runs have to save the step they are at, and closeTime how long responses
// have to end after that.
const (
	drainTime = 8 * time.Second
	closeTime = time.Second
)

// Serve answers the requests of a listener, which it closes, until ctx ends. It resumes the runs that ended with
// their process within the last hour. When ctx ends it takes no new requests, lets runs save the step
// they are at, ends all responses and returns nil.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	base, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	go s.keys.Watch(base)
	h := &http.Server{
		Handler: s, BaseContext: func(net.Listener) context.Context { return base }, ConnContext: bounded,
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(s.o.Logger.Handler(), slog.LevelDebug), Protocols: new(http.Protocols),
	}
	h.Protocols.SetHTTP1(true)
	h.Protocols.SetHTTP2(true)
	h.Protocols.SetUnencryptedHTTP2(true) // for proxies
	ended := make(chan error, 1)
	go func() {
		if s.o.CertFile != "" {
			ended <- h.ServeTLS(l, s.o.CertFile, s.o.KeyFile)
		} else {
			ended <- h.Serve(l)
		}
	}()
	s.ready.Store(true)
	go s.warm(base)
	live, stop := context.WithCancel(ctx)
	var resumed sync.WaitGroup
	resumed.Go(func() { s.resume(live) })
	defer resumed.Wait()
	defer stop()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	s.ready.Store(false)
	s.drain(base)
	time.AfterFunc(closeTime/2, func() { cancel(graph.ErrDrained) }) // runs whose step takes longer, and streams that wait for the next run
	end, cancelEnd := context.WithTimeout(base, closeTime)
	defer cancelEnd()
	if err := h.Shutdown(end); err != nil {
		return h.Close()
	}
	return nil
}

// warm starts what draws pages, which takes seconds, if there are pages to draw.
func (s *Server) warm(ctx context.Context) {
	if s.a == nil {
		return
	}
	stats, err := s.a.Library().Stats(ctx, true)
	if err != nil {
		return // who asks is told
	}
	for _, c := range stats.Collections {
		if slices.ContainsFunc(c.FileList, func(f ingest.FileStatus) bool { return strings.EqualFold(path.Ext(f.Source), ".pdf") }) {
			source.Warm()
			return
		}
	}
}

// drain lets runs end after the step they are at.
func (s *Server) drain(ctx context.Context) {
	if s.a == nil {
		return
	}
	s.a.Runs().Drain()
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	for len(s.a.Runs().List(ctx)) > 0 {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return
		}
	}
}

// ServeMCP serves one program of this machine by the Model Context Protocol over a pair of streams,
// until in ends or ctx does. Nothing else may write to out.
func ServeMCP(ctx context.Context, a *ragflow.Assistant, version string, in io.ReadCloser, out io.WriteCloser) error {
	return mcp.Serve(ctx, a, version, in, out)
}
