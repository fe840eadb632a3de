package door

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"example.com/ragflow/internal/lru"
	"example.com/ragflow/internal/tokens"
)

// Rules are what a Gate lets pass.
type Rules struct {
	Hosts   []string // names of this server, beside those of the loopback interface
	Origins []string // of pages of other servers that may call, such as http://localhost:3000
	Token   bool     // programs of this machine need a token, too
	// PersonKey is the secret with which Open WebUI signs whom it asks for; empty: none does. Else at least MinPersonKey bytes.
	PersonKey []byte

	Rate float64 // requests a second for one token; 0: 50
	Long int64   // requests at a time that may take minutes; 0: 2000
}

// Gate checks requests and serves the routes of all protocols. It is safe for concurrent use.
type Gate struct {
	// Observe gets each request that may use its route, with the pattern of the route and the request's id; ended gets
	// the status. It may be nil. It is set before the first request.
	Observe func(r *http.Request, route, id string) (ctx context.Context, ended func(status int))

	rules    Rules
	keys     *Keys
	logger   *slog.Logger
	mux      *http.ServeMux
	origins  *http.CrossOriginProtection
	limiters lru.Cache[string, *rate.Limiter]
	routes   []Route
	long     atomic.Int64 // long requests under way
}

// NewGate makes a gate in front of routes. An error names an origin or a pattern that makes no sense.
func NewGate(rules Rules, keys *Keys, logger *slog.Logger, routes ...Route) (*Gate, error) {
	rules.Rate, rules.Long = cmp.Or(rules.Rate, 50), cmp.Or(rules.Long, 2000)
	g := &Gate{rules: rules, keys: keys, logger: logger, mux: http.NewServeMux(), origins: http.NewCrossOriginProtection(), routes: routes}
	if n := len(rules.PersonKey); n > 0 && n < MinPersonKey {
		return nil, fmt.Errorf("the secret of Open WebUI has %d bytes, and at least %d are needed", n, MinPersonKey)
	}
	for _, o := range rules.Origins {
		if err := g.origins.AddTrustedOrigin(o); err != nil {
			return nil, fmt.Errorf("allowed origin: %w", err)
		}
	}
	for _, r := range routes {
		g.mux.Handle(r.Pattern, g.guard(r))
	}
	return g, nil
}

// Routes are the routes that the gate serves.
func (g *Gate) Routes() []Route { return slices.Clone(g.routes) }

var requestIDs = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// ServeHTTP checks host and origin, hands the request to its route, and logs it.
func (g *Gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began, id := time.Now(), r.Header.Get("X-Request-Id")
	if !requestIDs.MatchString(id) {
		id = rand.Text()
	}
	out := &response{ResponseWriter: w, zips: acceptsGzip(r)}
	if r.Body != nil && r.Body != http.NoBody { // a server waits for the rest of a body, also of one that it refuses
		_ = http.NewResponseController(w).SetReadDeadline(began.Add(bodyTime)) // else the limits of the server hold
	}
	h := out.Header()
	h.Set("X-Request-Id", id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	g.pass(out, r, id)
	g.logger.InfoContext(r.Context(), "request", "id", id, "method", r.Method, "route", r.Pattern, "status", out.status, "ms", time.Since(began).Milliseconds())
}

// pass answers a request, also if its handler panics.
func (g *Gate) pass(out *response, r *http.Request, id string) {
	ctx := r.Context()
	defer func() {
		if v := recover(); v != nil && v != http.ErrAbortHandler { //nolint:errorlint // the value that net/http compares
			g.logger.ErrorContext(ctx, "a request failed", "id", id, "panic", v, "stack", string(debug.Stack()))
			if out.status != 0 {
				panic(http.ErrAbortHandler) // what was sent is not whole
			}
			Problem(out, http.StatusInternalServerError, "internal error; the log has it under "+id)
		}
	}()
	if !g.known(r.Host) {
		Problem(out, http.StatusForbidden, "the server has no such name; --host names those that it has")
		return
	}
	if g.crossOrigin(out, r) {
		return
	}
	g.mux.ServeHTTP(out, r)
}

// known reports whether a Host header names this server. Another name is that of a page which
// had its name resolved to this machine.
func (g *Gate) known(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if ip := net.ParseIP(name); ip != nil && ip.IsLoopback() {
		return true
	}
	return name == "localhost" || name != "" && slices.Contains(g.rules.Hosts, name)
}

// crossOrigin sets the headers for pages of allowed origins, and answers preflights and requests
// of other pages.
func (g *Gate) crossOrigin(w http.ResponseWriter, r *http.Request) (answered bool) {
	origin, h := r.Header.Get("Origin"), w.Header()
	if origin != "" && slices.Contains(g.rules.Origins, origin) {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Add("Vary", "Origin")
		h.Set("Access-Control-Expose-Headers", "Location, Content-Location, X-Pagination-Total, X-Pagination-Next, X-Request-Id, X-Ragflow-Thread, Mcp-Session-Id")
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
			h.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers")) // clients have many of their own
			h.Set("Access-Control-Max-Age", "600")
			if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
				h.Set("Access-Control-Allow-Private-Network", "true")
			}
			w.WriteHeader(http.StatusNoContent)
			return true
		}
	}
	if err := g.origins.Check(r); err != nil {
		Problem(w, http.StatusForbidden, "pages of other servers may not call this one; --allow-origin names those that may")
		return true
	}
	return false
}

// guard lets those pass who may use a route.
func (g *Gate) guard(route Route) http.HandlerFunc {
	fail := route.Errors
	if fail == nil {
		fail = func(w http.ResponseWriter, _ *http.Request, status int, message string) { Problem(w, status, message) }
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if route.MaxBody >= 0 {
			r.Body = http.MaxBytesReader(w, r.Body, cmp.Or(route.MaxBody, 1<<20))
		}
		if route.Scope == "" {
			route.Do(w, r)
			return
		}
		p, err := g.principal(r)
		if err != nil {
			fail(w, r, http.StatusUnauthorized, err.Error())
			return
		}
		if p == nil {
			w.Header().Set("WWW-Authenticate", "Bearer")
			fail(w, r, http.StatusUnauthorized, `a token is needed: "ragflow tokens add" makes one`)
			return
		}
		if !p.May(route.Scope) {
			fail(w, r, http.StatusForbidden, fmt.Sprintf("the token lacks the scope %q", route.Scope))
			return
		}
		if wait := g.wait(p); wait > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(1+int(wait.Seconds())))
			fail(w, r, http.StatusTooManyRequests, "too many requests with this token")
			return
		}
		if route.Long {
			defer g.long.Add(-1)
			if g.long.Add(1) > g.rules.Long {
				w.Header().Set("Retry-After", "5")
				fail(w, r, http.StatusTooManyRequests, "too many requests are under way")
				return
			}
		}
		p.Fresh = fresh(r.Header)
		ctx := With(r.Context(), p)
		if !p.Local {
			var release func()
			ctx, release = g.keys.hold(ctx, p.Hash)
			defer release()
		}
		g.do(w, r.WithContext(ctx), route)
	}
}

// do serves a request that may use its route.
func (g *Gate) do(w http.ResponseWriter, r *http.Request, route Route) {
	if g.Observe == nil {
		route.Do(w, r)
		return
	}
	ctx, ended := g.Observe(r, route.Pattern, w.Header().Get("X-Request-Id"))
	status := http.StatusInternalServerError // of a panic
	defer func() { ended(status) }()
	route.Do(w, r.WithContext(ctx))
	status = http.StatusOK
	if out, ok := w.(*response); ok {
		status = cmp.Or(out.status, status)
	}
}

// principal returns who asks: nil for somebody without a right. The error says why the person is not believed that a
// program speaks for.
func (g *Gate) principal(r *http.Request) (*Principal, error) {
	secret, session := credential(r)
	ours := session && secret != "" || strings.HasPrefix(secret, tokens.Prefix)
	if !ours && !g.rules.Token { // many clients need some key, such as "none"
		return &Principal{Token: tokens.Token{Name: "local", Scopes: tokens.Scopes()}, Local: true}, nil
	}
	t := g.keys.find(secret, session)
	if t == nil {
		return nil, nil //nolint:nilnil // see above
	}
	p := &Principal{Token: *t}
	if !t.May(tokens.Speak) {
		return p, nil
	}
	person, err := spokenFor(r.Header, g.rules.PersonKey, g.keys.clock())
	if person != "" {
		p.Owner = t.Owner + "/" + person
	}
	return p, err
}

// wait returns how long a principal has to wait before the next request.
func (g *Gate) wait(p *Principal) time.Duration {
	if p.Local {
		return 0
	}
	l, ok := g.limiters.Get(p.Hash)
	if !ok {
		l = rate.NewLimiter(rate.Limit(g.rules.Rate), int(2*g.rules.Rate)+1)
		g.limiters.Put(p.Hash, l, 0, 10_000, 0)
	}
	if l.Allow() {
		return 0
	}
	return time.Duration(float64(time.Second) / g.rules.Rate)
}
