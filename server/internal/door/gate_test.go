package door_test

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server/internal/door"
)

// fixture is a gate with one route for each scope, and the folder of its tokens.
type fixture struct {
	*door.Gate
	keys   *door.Keys
	folder tokens.Folder
}

func newFixture(t *testing.T, rules door.Rules, more ...door.Route) fixture {
	t.Helper()
	f := fixture{folder: tokens.In(t.TempDir())}
	logger := slog.New(slog.DiscardHandler)
	f.keys = door.NewKeys(f.folder, time.Now, logger)
	routes := more
	for _, s := range tokens.Scopes() {
		routes = append(routes, door.Route{Pattern: "GET /" + string(s), Scope: s, Do: func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, graph.OwnerOf(r.Context())+" "+door.Of(r.Context()).Name)
		}})
	}
	var err error
	if f.Gate, err = door.NewGate(rules, f.keys, logger, routes...); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go f.keys.Watch(ctx)
	return f
}

// token adds a token and waits until the gate knows it.
func (f fixture) token(t *testing.T, x tokens.Token) string {
	t.Helper()
	secret, err := f.folder.Add(x)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return f.keys.LogIn(secret) != "" })
	return secret
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not happen")
		}
	}
}

// get asks for a path. Headers are given as names and values.
func (f fixture) get(path string, headers ...string) *httptest.ResponseRecorder {
	return f.do(request(http.MethodGet, path, ""), headers...)
}

func request(method, path, body string) *http.Request {
	return httptest.NewRequestWithContext(context.Background(), method, "http://localhost"+path, strings.NewReader(body))
}

func (f fixture) do(r *http.Request, headers ...string) *httptest.ResponseRecorder {
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		} else {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w
}

// TestHosts: a page whose name resolves to this machine reads nothing.
func TestHosts(t *testing.T) {
	t.Parallel()
	f := newFixture(t, door.Rules{Hosts: []string{"docs.example.com"}}, door.Route{Pattern: "GET /healthz", Do: func(http.ResponseWriter, *http.Request) {}})
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:8080": 200, "localhost.": 200, "127.0.0.1:1": 200, "127.9.9.9": 200, "[::1]:80": 200, "docs.example.com": 200,
		"evil.test": 403, "localhost.evil.test": 403, "127.0.0.1.evil.test": 403, "": 403, "0.0.0.0": 403, "192.168.1.1": 403, "[::]": 403,
	} {
		for _, path := range []string{"/ask", "/healthz", "/nothing"} {
			w := f.get(path, "Host", host)
			if want == 403 && w.Code != 403 || want == 200 && w.Code == 403 {
				t.Errorf("%s of %q: %d", path, host, w.Code)
			}
		}
	}
}

// TestCredentials: every form of a credential reaches what its scope allows, and nothing else.
func TestCredentials(t *testing.T) {
	t.Parallel()
	f := newFixture(t, door.Rules{Token: true})
	for _, has := range tokens.Scopes() {
		token := tokens.Token{Name: string(has), Owner: "anna", Scopes: []tokens.Scope{has}}
		secret := f.token(t, token)
		for name, headers := range map[string][]string{
			"bearer": {"Authorization", "bearer " + secret}, "key": {"X-Api-Key", secret}, "azure": {"api-key", secret},
			"cookie": {"Cookie", door.CookieName + "=" + f.keys.LogIn(secret)},
		} {
			for _, needed := range tokens.Scopes() {
				w, want := f.get("/"+string(needed), headers...), http.StatusForbidden
				if token.May(needed) {
					want = http.StatusOK
				}
				if w.Code != want || want == 200 && w.Body.String() != "anna "+string(has) {
					t.Errorf("%s with %s by %s: %d %s", needed, has, name, w.Code, w.Body)
				}
			}
		}
	}
	for _, headers := range [][]string{{}, {"Authorization", "Bearer x"}, {"Authorization", "Basic x"}, {"X-Api-Key", "x"}, {"Cookie", door.CookieName + "="}} {
		if w := f.get("/ask", headers...); w.Code != http.StatusUnauthorized {
			t.Errorf("%v: %d", headers, w.Code)
		}
	}
}

// TestLocal: programs of this machine need no token unless the server wants one, and the key of another
// service counts as none, but a wrong token is refused.
func TestLocal(t *testing.T) {
	t.Parallel()
	f := newFixture(t, door.Rules{})
	if w := f.get("/admin"); w.Code != 200 || w.Body.String() != " local" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := f.get("/ask", "Authorization", "Bearer none"); w.Code != 200 {
		t.Errorf("another key: %d", w.Code)
	}
	if w := f.get("/ask", "X-Api-Key", tokens.Prefix+"wrong"); w.Code != http.StatusUnauthorized {
		t.Errorf("wrong token: %d", w.Code)
	}
}

// TestSpeak: only a token of that scope may name the person that it asks for.
func TestSpeak(t *testing.T) {
	t.Parallel()
	f := newFixture(t, door.Rules{Token: true})
	webUI := f.token(t, tokens.Token{Name: "webui", Owner: "webui", Scopes: []tokens.Scope{tokens.Ask, tokens.Speak}})
	admin := f.token(t, tokens.Token{Name: "admin", Owner: "admin", Scopes: []tokens.Scope{tokens.Admin}})
	for secret, want := range map[string]string{webUI: "webui/bert webui", admin: "admin admin"} {
		if w := f.get("/ask", "X-Api-Key", secret, "X-OpenWebUI-User-Id", "bert"); w.Body.String() != want {
			t.Errorf("%s, want %s", w.Body, want)
		}
	}
}

// signed returns a JSON Web Token with the signature of HS256.
func signed(key, header, claims string) string {
	part := base64.RawURLEncoding.EncodeToString
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(part([]byte(header)) + "." + part([]byte(claims))))
	return part([]byte(header)) + "." + part([]byte(claims)) + "." + part(mac.Sum(nil))
}

// TestSignedPerson: with a key, a person of Open WebUI is believed only with its signature.
func TestSignedPerson(t *testing.T) {
	t.Parallel()
	const key, header = "0123456789abcdef0123456789abcdef", `{"alg":"HS256","typ":"JWT"}`
	f := newFixture(t, door.Rules{Token: true, PersonKey: []byte(key)})
	scopes := []tokens.Scope{tokens.Ask, tokens.Speak}
	speaks := f.token(t, tokens.Token{Name: "w", Owner: "w", Scopes: scopes})
	asks := f.token(t, tokens.Token{Name: "a", Owner: "a", Scopes: scopes[:1]})
	claims := func(from, to time.Duration) string {
		return fmt.Sprintf(`{"sub":"bert","email":"b@x","iss":"open-webui","nbf":%d,"exp":%d}`, time.Now().Add(from).Unix(), time.Now().Add(to).Unix())
	}
	good := signed(key, header, claims(0, time.Minute))
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + strings.Split(good, ".")[1] + "."
	for name, c := range map[string]struct {
		header, value, secret string
		want, why             string // owner and token, or a part of the refusal
	}{
		"signed":           {"X-OpenWebUI-User-Jwt", good, speaks, "w/bert w", ""},
		"may not speak":    {"X-OpenWebUI-User-Jwt", good, asks, "a a", ""},
		"nobody":           {"X-Other", "x", speaks, "w w", ""},
		"another program":  {"X-Ragflow-User", "carl", speaks, "w/carl w", ""},
		"plain":            {"X-OpenWebUI-User-Id", "bert", speaks, "", "not signed for"},
		"plain mail":       {"X-OpenWebUI-User-Email", "b@x", speaks, "", "not signed for"},
		"another key":      {"X-OpenWebUI-User-Jwt", signed("x"+key, header, claims(0, time.Minute)), speaks, "", "is not signed with"},
		"changed":          {"X-OpenWebUI-User-Jwt", strings.Replace(good, ".", ".e30", 1), speaks, "", "is not signed with"},
		"alg none":         {"X-OpenWebUI-User-Jwt", none, speaks, "", "is not signed with"},
		"alg none, signed": {"X-OpenWebUI-User-Jwt", signed(key, `{"alg":"none"}`, claims(0, time.Minute)), speaks, "", "is not signed with"},
		"alg HS512":        {"X-OpenWebUI-User-Jwt", signed(key, `{"alg":"HS512"}`, claims(0, time.Minute)), speaks, "", "is not signed with"},
		"no parts":         {"X-OpenWebUI-User-Jwt", "x", speaks, "", "is not signed with"},
		"four parts":       {"X-OpenWebUI-User-Jwt", good + ".x", speaks, "", "is not signed with"},
		"huge":             {"X-OpenWebUI-User-Jwt", signed(key, header, `{"sub":"`+strings.Repeat("x", 9000)+`"}`), speaks, "", "is not signed with"},
		"another issuer":   {"X-OpenWebUI-User-Jwt", signed(key, header, `{"sub":"bert","iss":"x","exp":9999999999}`), speaks, "", "is not signed with"},
		"no person":        {"X-OpenWebUI-User-Jwt", signed(key, header, `{"iss":"open-webui","exp":9999999999}`), speaks, "", "is not signed with"},
		"expired":          {"X-OpenWebUI-User-Jwt", signed(key, header, claims(-time.Hour, -time.Minute)), speaks, "", "has expired"},
		"no end":           {"X-OpenWebUI-User-Jwt", signed(key, header, `{"sub":"bert","iss":"open-webui"}`), speaks, "", "has expired"},
		"not yet":          {"X-OpenWebUI-User-Jwt", signed(key, header, claims(time.Hour, 2*time.Hour)), speaks, "", "not valid yet"},
	} {
		w := f.get("/ask", "X-Api-Key", c.secret, c.header, c.value)
		passes, refused := w.Code == 200 && w.Body.String() == c.want, w.Code == 401 && strings.Contains(w.Body.String(), c.why)
		if c.want != "" && !passes || c.want == "" && !refused {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	open := newFixture(t, door.Rules{Token: true})
	if w := open.get("/ask", "X-Api-Key", open.token(t, tokens.Token{Name: "w", Owner: "w", Scopes: scopes}), "X-OpenWebUI-User-Jwt", good); w.Code != http.StatusUnauthorized {
		t.Errorf("without a key to check it: %d %s", w.Code, w.Body)
	}
	if _, err := door.NewGate(door.Rules{PersonKey: []byte("short")}, f.keys, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a short key is taken")
	}
}

// TestOrigins: pages of other origins are refused unless they are allowed.
func TestOrigins(t *testing.T) {
	t.Parallel()
	post := door.Route{Pattern: "POST /post", Scope: tokens.Ask, Do: func(http.ResponseWriter, *http.Request) {}}
	f := newFixture(t, door.Rules{Origins: []string{"http://localhost:3000"}}, post)
	if w := f.do(request("POST", "/post", ""), "Origin", "http://evil.test"); w.Code != http.StatusForbidden {
		t.Errorf("foreign origin: %d", w.Code)
	}
	if w := f.do(request("POST", "/post", ""), "Sec-Fetch-Site", "cross-site"); w.Code != http.StatusForbidden {
		t.Errorf("cross-site: %d", w.Code)
	}
	w := f.do(request("POST", "/post", ""), "Origin", "http://localhost:3000", "Sec-Fetch-Site", "cross-site")
	if w.Code != http.StatusOK || w.Header().Get("Access-Control-Allow-Origin") != "http://localhost:3000" || !strings.Contains(w.Header().Get("Access-Control-Expose-Headers"), "Location") {
		t.Errorf("allowed origin: %d %v", w.Code, w.Header())
	}
	w = f.do(request("OPTIONS", "/post", ""), "Origin", "http://localhost:3000", "Access-Control-Request-Method", "POST", "Access-Control-Request-Private-Network", "true",
		"Access-Control-Request-Headers", "authorization,x-stainless-lang") // as npm openai asks
	if h := w.Header(); w.Code != http.StatusNoContent || h.Get("Access-Control-Allow-Private-Network") != "true" || h.Get("Access-Control-Allow-Headers") != "authorization,x-stainless-lang" {
		t.Errorf("preflight: %d %v", w.Code, w.Header())
	}
	w = f.do(request("OPTIONS", "/post", ""), "Origin", "http://evil.test", "Access-Control-Request-Method", "POST")
	if w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("foreign preflight: %v", w.Header())
	}
}

// TestRevoked: a stream ends within a second of the end of its token, which then opens nothing.
func TestRevoked(t *testing.T) {
	t.Parallel()
	route := door.Route{Pattern: "GET /stream", Scope: tokens.Ask, Long: true, Do: func(w http.ResponseWriter, r *http.Request) {
		ctx, s := door.OpenStream(w, r)
		defer s.Close()
		_ = s.Send(door.Message{Event: "begin", ID: "1", Data: []byte("a\nb")})
		<-ctx.Done()
	}}
	f := newFixture(t, door.Rules{Token: true}, route)
	secret := f.token(t, tokens.Token{Name: "anna", Scopes: []tokens.Scope{tokens.Ask}})
	server := httptest.NewServer(f)
	defer server.Close()
	stream, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/stream", nil)
	stream.Header.Set("Authorization", "Bearer "+secret)
	response, err := server.Client().Do(stream)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	in := bufio.NewReader(response.Body)
	for _, want := range []string{"event: begin\n", "id: 1\n", "data: a\n", "data: b\n", "\n"} {
		if line, err := in.ReadString('\n'); line != want {
			t.Fatalf("%q, want %q, %v", line, want, err)
		}
	}
	revoked := time.Now()
	if err := f.folder.Revoke("anna"); err != nil {
		t.Fatal(err)
	}
	if _, err := in.ReadString('\n'); err != io.EOF {
		t.Errorf("after the end of the token: %v", err)
	}
	if took := time.Since(revoked); took > 5*time.Second { // 0.5 s on an idle machine
		t.Errorf("ended after %s", took)
	}
	if w := f.get("/ask", "Authorization", "Bearer "+secret); w.Code != http.StatusUnauthorized {
		t.Errorf("resumed: %d", w.Code)
	}
}

// TestLimits: so many requests take long at a time, a token has so many a second, and a body has an end.
func TestLimits(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	defer close(release)
	long := door.Route{Pattern: "GET /long", Scope: tokens.Ask, Long: true, Do: func(http.ResponseWriter, *http.Request) { <-release }}
	read := door.Route{Pattern: "POST /read", Scope: tokens.Read, MaxBody: 10, Do: func(w http.ResponseWriter, r *http.Request) {
		var v any
		if err := door.ReadJSON(r, &v); err != nil {
			door.Problem(w, door.Status(err), err.Error())
		}
	}}
	f := newFixture(t, door.Rules{Token: true, Rate: 20, Long: 4}, long, read)
	secret := f.token(t, tokens.Token{Name: "anna", Scopes: []tokens.Scope{tokens.Admin}})
	codes := make(chan int)
	for range 5 {
		go func() { codes <- f.get("/long", "X-Api-Key", secret).Code }()
	}
	if code := <-codes; code != http.StatusTooManyRequests {
		t.Errorf("the fifth long request: %d", code)
	}
	for body, want := range map[string]int{"{}": 200, "": 200, `"12345678901"`: 413, "{": 422, "{} {}": 422} {
		w := f.do(request("POST", "/read", body), "X-Api-Key", secret)
		if w.Code != want {
			t.Errorf("%q: %d, want %d", body, w.Code, want)
		}
	}
	refused := 0
	for range 100 {
		if w := f.get("/ask", "X-Api-Key", secret); w.Code == http.StatusTooManyRequests && w.Header().Get("Retry-After") != "" {
			refused++
		}
	}
	if refused == 0 {
		t.Error("100 requests at once are not too many")
	}
}

// TestPanic of a handler ends one request.
func TestPanic(t *testing.T) {
	t.Parallel()
	f := newFixture(t, door.Rules{}, door.Route{Pattern: "GET /panic", Scope: tokens.Read, Do: func(http.ResponseWriter, *http.Request) { panic("secret") }})
	if w := f.get("/panic"); w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
