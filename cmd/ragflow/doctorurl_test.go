package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server"
)

// site is a served assistant with one token.
type site struct{ URL, secret string }

func newSite(t *testing.T, o server.Options) site {
	t.Helper()
	docs := t.TempDir()
	if err := os.WriteFile(filepath.Join(docs, "leave.md"), []byte("# Leave\n\nEveryone has 28 days of leave.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := ragflow.Config{DataDir: t.TempDir(), Docs: []string{docs}}
	a, err := ragflow.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	folder := tokens.In(c.DataDir)
	secret, err := folder.Add(tokens.Token{Name: "anna", Owner: "anna", Scopes: []tokens.Scope{tokens.Read}})
	if err != nil {
		t.Fatal(err)
	}
	o.Tokens = string(folder)
	s, err := server.New(a, o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Serve(ctx, l)
	}()
	t.Cleanup(func() { end(); <-ended })
	return site{"http://" + l.Addr().String(), secret}
}

// proxy is a proxy in front of a server. It passes the name on that it is called by, if keeps says so, and changes
// responses as change says.
func proxy(t *testing.T, to string, keeps bool, change func(*http.Response) error) string {
	t.Helper()
	web := httptest.NewServer(forward(t, to, keeps, change))
	t.Cleanup(web.Close)
	return web.URL
}

func forward(t *testing.T, to string, keeps bool, change func(*http.Response) error) http.Handler {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	silent := slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	return &httputil.ReverseProxy{FlushInterval: -1, ModifyResponse: change, ErrorLog: silent, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		if keeps {
			r.Out.Host = r.In.Host
		}
	}}
}

// lump collects a response before it passes it on, as a proxy that buffers does.
func lump(r *http.Response) error {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.Header.Del("X-Accel-Buffering")
	return err
}

// named reaches a server by another name than those of this machine.
func named(t *testing.T, to string) (string, *http.Client) {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	c := visitor()
	c.Transport = &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, u.Host)
	}}
	return "http://docs.test", c
}

// visited returns the checks of a visit as "name status", and its hints.
func visited(t *testing.T, address string, c *http.Client, token string) (checks []string, hints string) {
	t.Helper()
	d := &doctor{}
	if err := d.visitServer(t.Context(), address, c, token); err != nil {
		t.Fatal(err)
	}
	for _, c := range d.Checks {
		checks = append(checks, c.Name+" "+c.Status)
	}
	return checks, strings.Join(d.Hints, "\n")
}

// TestDoctorURL: each fault on the way to a server is named, with the line that mends it.
func TestDoctorURL(t *testing.T) {
	t.Parallel()
	local := newSite(t, server.Options{})
	guarded := newSite(t, server.Options{Hosts: []string{"docs.test"}, Token: true})
	secure := httptest.NewUnstartedServer(forward(t, local.URL, true, nil))
	secure.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // of the visitor who does not trust it
	secure.StartTLS()
	t.Cleanup(secure.Close)
	away := httptest.NewServer(http.NotFoundHandler())
	away.Close()
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	moved := httptest.NewServer(http.RedirectHandler("https://docs.test/", http.StatusMovedPermanently))
	t.Cleanup(moved.Close)

	here := func(address string) func(*testing.T) (string, *http.Client) {
		return func(*testing.T) (string, *http.Client) { return address, visitor() }
	}
	there := func(address string) func(*testing.T) (string, *http.Client) {
		return func(t *testing.T) (string, *http.Client) { t.Helper(); return named(t, address) }
	}
	reached := []string{"reachable ok", "name ok"}
	for _, tt := range []struct {
		name  string
		way   func(*testing.T) (string, *http.Client)
		token string
		want  []string
		hint  string // a part of the hints; empty: none
	}{
		{"all is well", here(local.URL + "/v1/"), "", append(reached, "token ok", "stream ok"), ""},
		{"through a proxy", here(proxy(t, local.URL, true, nil)), "", append(reached, "token ok", "stream ok"), ""},
		{"with a token", there(guarded.URL), guarded.secret, append(reached, "tls warning", "token ok", "stream ok"), "HTTPS"},
		{"no token", there(guarded.URL), "", append(reached, "tls warning", "token warning"), "RAGFLOW_TOKEN"},
		{"wrong token", there(guarded.URL), "rag_wrong", append(reached, "tls warning", "token broken"), "Authorization"},
		{"wrong name", there(local.URL), "", []string{"reachable ok", "name broken"}, "--host docs.test"},
		{"a proxy lets everybody in", there(proxy(t, local.URL, false, nil)), "", append(reached, "tls warning", "token broken"), "proxy_set_header Host $host;"},
		{"a proxy buffers", here(proxy(t, local.URL, true, lump)), "", append(reached, "token ok", "stream broken"), "proxy_buffering off;"},
		{"nothing listens", here(away.URL), "", []string{"reachable broken"}, "listens there"},
		{"the proxy reaches nothing", here(proxy(t, away.URL, true, nil)), "", []string{"reachable broken"}, "proxy_pass http://127.0.0.1:8080;"},
		{"another program", here(other.URL), "", []string{"reachable broken"}, "ragflow serve"},
		{"moved", here(moved.URL), "", []string{"reachable broken"}, "that address"},
		{"unknown authority", here(secure.URL), "", []string{"tls broken"}, "certificate"},
		{"tls", func(*testing.T) (string, *http.Client) { return secure.URL, secure.Client() }, "", []string{"reachable ok", "name ok", "tls ok", "token ok", "stream ok"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			address, client := tt.way(t)
			got, hints := visited(t, address, client, tt.token)
			if !slices.Equal(got, tt.want) || !strings.Contains(hints, tt.hint) || tt.hint == "" && hints != "" {
				t.Errorf("%v, want %v; hints: %s", got, tt.want, hints)
			}
			if tt.token != "" && strings.Contains(hints, tt.token) {
				t.Errorf("the hints show the token: %s", hints)
			}
		})
	}
}

// TestDoctorURLCommand: the command prints the checks and fails if something is broken.
func TestDoctorURLCommand(t *testing.T) {
	t.Parallel()
	s := newSite(t, server.Options{})
	ask := func(address string) (int, doctorReply) {
		var out, errs bytes.Buffer
		code := run(t.Context(), []string{"doctor", "--json", "--url", address}, strings.NewReader(""), &out, &errs, []string{"HOME=" + t.TempDir()})
		var reply doctorReply
		_ = json.Unmarshal(out.Bytes(), &reply) // empty if the command is used wrongly
		return code, reply
	}
	if code, reply := ask(s.URL); code != 0 || !reply.OK || len(reply.Checks) != 4 {
		t.Errorf("%d, %+v", code, reply)
	}
	if code, reply := ask(proxy(t, s.URL, true, lump)); code != exitFailure || reply.OK {
		t.Errorf("%d, %+v", code, reply)
	}
	for _, address := range []string{"docs.example.com", "https://anna:secret@docs.example.com", "ftp://docs.example.com"} {
		if code, _ := ask(address); code != exitUsage {
			t.Errorf("%s: %d", address, code)
		}
	}
}
