package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	tokenName  = "RAGFLOW_TOKEN"     // of the environment: what the doctor shows a server
	visitTime  = 20 * time.Second    // for one request to a server
	soonOver   = 14 * 24 * time.Hour // a certificate that ends sooner is a warning
	streamPath = "/streamz"
	// lumpTime is the least time between the first and the last event of a stream that comes event by event. The server
	// takes twice as long.
	lumpTime = 400 * time.Millisecond
)

// visit is the examination of a server, as its clients reach it.
type visit struct {
	*doctor

	base   *url.URL
	client *http.Client
	token  string // empty: none
}

// visitServer checks the server at an address.
func (d *doctor) visitServer(ctx context.Context, address string, client *http.Client, token string) error {
	base, err := url.Parse(strings.TrimSuffix(strings.TrimRight(address, "/"), "/v1"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.User != nil || base.RawQuery != "" {
		return usagef("--url must be an http or https address without user and query").with("such as https://docs.example.com")
	}
	v := &visit{d, base, client, token}
	if v.reach(ctx) && v.enter(ctx) {
		v.stream(ctx)
	}
	return nil
}

// visitor is a client that follows no redirect: other clients do not, either, with a token.
func visitor() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func (v *visit) get(ctx context.Context, path, token string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, v.base.String()+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return v.client.Do(r)
}

// answer is a response that was read.
type answer struct {
	status string // such as "404 Not Found"
	code   int
	header http.Header
	tls    *tls.ConnectionState
	body   string // the beginning
}

// text asks for a path.
func (v *visit) text(ctx context.Context, path, token string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, visitTime)
	defer cancel()
	resp, err := v.get(ctx, path, token)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))
	return answer{resp.Status, resp.StatusCode, resp.Header, resp.TLS, strings.TrimSpace(string(body))}, nil
}

// local reports whether the address is one of this machine.
func (v *visit) local() bool { return loopback(v.base.Hostname()) }

// reach checks the way to the server: connection, certificate, name.
func (v *visit) reach(ctx context.Context) bool {
	got, err := v.text(ctx, "/healthz", "")
	if err != nil {
		v.unreachable(err)
		return false
	}
	by := cmp.Or(got.header.Get("Server"), "no name")
	switch ours := got.header.Get("X-Request-Id") != ""; {
	case got.code >= 300 && got.code < 400:
		v.note(checkBroken, "reachable", "it sends clients to "+line(got.header.Get("Location")))
		v.hint("give clients that address, and check it: ragflow doctor --url")
		return false
	case ours && got.code == http.StatusForbidden:
		v.note(checkOK, "reachable", v.base.String())
		v.note(checkBroken, "name", "the server does not know the name that reaches it")
		v.hint("start it with that name: ragflow serve --host %s; and let the proxy pass it on, in nginx: proxy_set_header Host $host;", v.base.Hostname())
		return false
	case !ours || got.body != `"ok"`:
		v.note(checkBroken, "reachable", fmt.Sprintf("not ragflow answers there, but %s, with %s", line(by), got.status))
		if got.code >= 502 && got.code <= 504 {
			v.hint("the proxy does not reach ragflow: its address must be that of ragflow serve, in nginx: proxy_pass http://127.0.0.1:8080;")
		} else {
			v.hint("the address must lead to ragflow serve, with all paths below it")
		}
		return false
	}
	v.note(checkOK, "reachable", v.base.String())
	v.note(checkOK, "name", v.base.Host+" is accepted")
	v.certificate(got.tls)
	if ready, err := v.text(ctx, "/readyz", ""); err != nil || ready.code != http.StatusOK {
		v.note(checkWarning, "ready", "it takes no questions now: it begins or ends")
	}
	return true
}

func (v *visit) unreachable(err error) {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // the message names the address already
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		v.note(checkBroken, "tls", err.Error())
		v.hint("the certificate must be for this name, in force and of a known authority, with all certificates in between: ragflow serve --tls-cert, or the proxy's")
		return
	}
	v.note(checkBroken, "reachable", v.base.String()+": "+err.Error())
	v.hint("look whether ragflow serve or the proxy listens there, on an address that this machine reaches")
}

func (v *visit) certificate(state *tls.ConnectionState) {
	switch {
	case state != nil && len(state.PeerCertificates) > 0:
		left := time.Until(state.PeerCertificates[0].NotAfter)
		status := checkOK
		if left < soonOver {
			status = checkWarning
			v.hint("renew the certificate")
		}
		v.note(status, "tls", fmt.Sprintf("%s, the certificate ends in %d days", tls.VersionName(state.Version), int(left.Hours()/24)))
	case !v.local():
		v.note(checkWarning, "tls", "plain HTTP: others on the way can read tokens, questions and answers")
		v.hint("serve HTTPS: ragflow serve --tls-cert and --tls-key, or a proxy that does")
	}
}

// enter checks that those may enter who have a token, and no others.
func (v *visit) enter(ctx context.Context) bool {
	open, err := v.text(ctx, streamPath, "")
	if err != nil {
		v.unreachable(err)
		return false
	}
	if open.code == http.StatusOK && !v.local() {
		v.note(checkBroken, "token", "everybody who reaches this address may use the server, without a token")
		v.hint("the proxy calls ragflow by a name of its own machine: let it pass the name on, in nginx: proxy_set_header Host $host; "+
			"and start the server with that name: ragflow serve --host %s", v.base.Hostname())
		return false
	}
	got := open
	if v.token != "" {
		if got, err = v.text(ctx, streamPath, v.token); err != nil {
			v.unreachable(err)
			return false
		}
	}
	switch got.code {
	case http.StatusOK:
		about := "programs of this machine need none"
		if v.token != "" {
			about = tokenName + " is accepted"
		}
		v.note(checkOK, "token", about)
		return true
	case http.StatusUnauthorized:
		if v.token == "" {
			v.note(checkWarning, "token", "the server wants one, so the rest was not checked")
			v.hint("put a token into the environment as %s: ragflow tokens add NAME prints one", tokenName)
			return false
		}
		v.note(checkBroken, "token", tokenName+" is not accepted")
		v.hint("ragflow tokens list on the server shows which are in force; a proxy must pass the header Authorization on")
	case http.StatusForbidden:
		v.note(checkWarning, "token", tokenName+` lacks the scope "read", so the stream was not checked`)
	default:
		v.note(checkBroken, "token", "the server answers with "+got.status)
		v.hint("the server must be of this version, and the proxy must pass on all paths")
	}
	return false
}

// stream checks that events come one by one. A reader that was held up sees a lump, too, so it looks twice.
func (v *visit) stream(ctx context.Context) {
	for last := range 2 {
		events, took, header, err := v.timed(ctx)
		switch {
		case err != nil:
			v.note(checkBroken, "stream", err.Error())
			return
		case events == 0:
			v.note(checkBroken, "stream", "it has no event")
			return
		case took >= lumpTime:
			v.note(checkOK, "stream", fmt.Sprintf("%d events, one after the other over %.1f s", events, took.Seconds()))
			return
		case last == 1:
			v.lump(events, header)
		}
	}
}

func (v *visit) lump(events int, header http.Header) {
	v.note(checkBroken, "stream", fmt.Sprintf("%d events come in one lump: a proxy collects them, so answers show only when they are complete", events),
		"Server: "+line(cmp.Or(header.Get("Server"), "not named")), "Content-Encoding: "+line(cmp.Or(header.Get("Content-Encoding"), "none")))
	if header.Get("X-Accel-Buffering") != "" { // nginx takes it out, unless it is told to pass it on
		v.hint("the proxy that clients reach does not heed X-Accel-Buffering: turn its buffering off, in nginx: proxy_buffering off; and no proxy_ignore_headers X-Accel-Buffering;")
		return
	}
	v.hint("of several nginx in a row, the one nearest to ragflow needs: proxy_pass_header X-Accel-Buffering; or the others: proxy_buffering off;")
}

// timed reads the stream of the server that is made for this, and returns the time between its first and last event.
func (v *visit) timed(ctx context.Context) (events int, took time.Duration, header http.Header, err error) {
	ctx, cancel := context.WithTimeout(ctx, visitTime)
	defer cancel()
	resp, err := v.get(ctx, streamPath, v.token)
	if err != nil {
		return 0, 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	var first time.Time
	for lines := bufio.NewScanner(io.LimitReader(resp.Body, 1<<16)); lines.Scan(); {
		if !strings.HasPrefix(lines.Text(), "data:") {
			continue
		}
		if events++; events == 1 {
			first = time.Now()
		}
		took = time.Since(first)
	}
	return events, took, resp.Header, nil
}
