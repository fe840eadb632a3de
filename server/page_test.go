package server_test

import (
	"context"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server"
)

// visitor is a person at the page, without scripts.
type visitor struct {
	t      *testing.T
	client *http.Client
	base   string
}

func visit(t *testing.T, h house) visitor {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	jar, _ := cookiejar.New(nil) // never fails
	return visitor{t, &http.Client{Jar: jar}, s.URL}
}

// get returns the path that a page was reached at in the end, and its text.
func (v visitor) get(status int, path string) (at, page string) {
	v.t.Helper()
	return v.do(status, http.MethodGet, path, nil)
}

// send sends a form.
func (v visitor) send(status int, path string, fields ...string) (at, page string) {
	v.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return v.do(status, http.MethodPost, path, form)
}

func (v visitor) do(status int, method, path string, form url.Values) (at, page string) {
	v.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, v.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		v.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	data, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	body := string(data)
	if res.StatusCode != status {
		v.t.Fatalf("%s %s: %d, want %d: %s", method, path, res.StatusCode, status, body)
	}
	return res.Request.URL.RequestURI(), body
}

// settled returns the page of a conversation once nothing in it is under way.
func (v visitor) settled(path string) string {
	v.t.Helper()
	for {
		if _, page := v.get(200, path); !strings.Contains(page, `data-state="running"`) {
			return page
		}
	}
}

var links = regexp.MustCompile(`(?:href|action)="(/t/[^"]+)"`)

// link returns the first link of a page that contains a text.
func (v visitor) link(page, part string) string {
	v.t.Helper()
	for _, m := range links.FindAllStringSubmatch(page, -1) {
		if strings.Contains(m[1], part) {
			return html.UnescapeString(m[1])
		}
	}
	v.t.Fatalf("no link with %q in %s", part, page)
	return ""
}

func (v visitor) holds(page string, texts ...string) {
	v.t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			v.t.Errorf("no %q in %s", text, page)
		}
	}
}

// TestPage is the way of a person without scripts: ask, read the source, look how it was found, and tidy up.
func TestPage(t *testing.T) {
	t.Parallel()
	machine := func(context.Context) [][3]string { return [][3]string{{"ollama", "running", "llama3.2 <b>"}} }
	v := visit(t, open(t, server.Options{Machine: machine}, nil))
	_, page := v.get(200, "/")
	v.holds(page, "The documents are being read")
	thread, _ := v.send(200, "/ask", "question", "How many days of <b>paid</b> leave?")
	page = v.settled(thread)
	v.holds(page, "26 days", "How many days of &lt;b&gt;paid&lt;/b&gt; leave?", "The sources")
	_, page = v.get(200, v.link(page, "/cite/"))
	v.holds(page, "<mark>", "leave.md", "26 days")
	page = v.settled(thread)
	_, trace := v.get(200, v.link(page, "/run/"))
	v.holds(trace, "check_and_refine", "leave.md", "<svg")

	v.send(200, v.link(page, "/rate/"), "good", "no", "note", "it is <b>short</b>")
	v.holds(v.settled(thread), "You found this not good", "it is &lt;b&gt;short&lt;/b&gt;")
	v.send(200, v.link(page, "/rate/"), "good", "yes")
	v.holds(v.settled(thread), "You found this good")

	_, page = v.send(200, v.link(page, "/collect/"))
	v.holds(page, "collected", "1 question")
	v.send(200, "/evaluation", "dataset", "collected")
	for !strings.Contains(page, `name="a"`) {
		_, page = v.get(200, "/evaluation")
		time.Sleep(20 * time.Millisecond)
	}
	_, page = v.get(200, "/settings")
	v.holds(page, "Language of answers")
	v.send(200, "/settings", "language", "de", "top_k", "7")
	_, page = v.get(200, "/settings")
	v.holds(page, `value="de" lang="de" selected`, `value="7"`)
	for !strings.Contains(page, "days of") {
		_, page = v.get(200, "/usage") // the log is written in the background
		time.Sleep(20 * time.Millisecond)
	}
	v.holds(page, "Answer", "95 % within", "How many days of &lt;b&gt;paid&lt;/b&gt; leave?")
	_, page = v.get(200, "/models")
	v.holds(page, "No language model is used", "llama3.2 &lt;b&gt;")

	v.send(200, thread+"/ask", "question", "And of what kind?")
	page = v.settled(thread)
	if n := strings.Count(page, "<article"); n != 2 {
		t.Errorf("%d turns: %s", n, page)
	}
	v.send(200, thread+"/rename", "title", "Leave & more")
	_, page = v.get(200, "/threads?q=leave")
	v.holds(page, "Leave &amp; more", "2 questions")
	_, text := v.get(200, thread+"/export")
	v.holds(text, "26 days", "And of what kind?")

	fork, _ := v.send(200, thread+"/fork")
	if fork == thread {
		t.Error("a copy has the address of the original")
	}
	edit := v.link(v.settled(thread), "/edit/")
	edited, _ := v.send(200, edit, "question", "How many days of leave a year?")
	page = v.settled(edited)
	v.holds(page, "How many days of leave a year?", "This began as an edit")
	v.holds(v.settled(thread), "And of what kind?")

	_, page = v.send(200, thread+"/delete")
	v.holds(page, "was deleted")
	_, page = v.get(200, "/threads?q=more")
	if strings.Contains(page, thread+`"`) {
		t.Errorf("a deleted conversation is listed: %s", page)
	}
	_, page = v.get(200, thread)
	if v.holds(page, "was deleted"); strings.Contains(page, `id="question"`) {
		t.Error("a deleted conversation takes a question, which would be lost with it")
	}
	for _, form := range []string{"/ask", "/resume", "/fork", "/rename", strings.TrimPrefix(edit, thread)} {
		_, page = v.send(410, thread+form, "question", "Is it lost?", "title", "x")
		v.holds(page, "This conversation was deleted.", "Undo")
	}
	v.send(200, v.link(page, "/restore"))
	if page = v.settled(thread); strings.Contains(page, "Is it lost?") {
		t.Errorf("a deleted conversation took a question: %s", page)
	}
	_, page = v.get(200, "/threads")
	v.holds(page, thread+`"`)
}

// TestPageErrors shows what a person sees who comes to nothing, or sends it.
func TestPageErrors(t *testing.T) {
	t.Parallel()
	v := visit(t, open(t, server.Options{}, nil))
	for _, path := range []string{"/t/nosuch", "/t/nosuch/run/x", "/t/nosuch/cite/x/0", "/t/nosuch/export", "/t/nosuch/live"} {
		if _, page := v.get(404, path); !strings.Contains(page, "There is no such page") {
			t.Errorf("%s: %s", path, page)
		}
	}
	_, page := v.get(404, "/d/-/abc/x.md")
	v.holds(page, "There is no such document.")
	_, page = v.send(422, "/ask", "question", "  ")
	v.holds(page, "There is no question.")
	thread, _ := v.send(200, "/ask", "question", "How many days of leave?")
	page = v.settled(thread)
	v.get(404, strings.Replace(v.link(page, "/cite/"), "/cite/", "/other/", 1)+"99")
	v.send(200, "/preferences", "language", "de", "here", "//evil.test")
	_, page = v.get(200, "/")
	v.holds(page, `lang="de"`, "Fragen Sie Ihre Dokumente")
}

// TestPageLogIn shows that a person with a token sees the conversations of its owner alone.
func TestPageLogIn(t *testing.T) {
	t.Parallel()
	h := open(t, server.Options{Token: true}, nil)
	ann := h.token(t, tokens.Token{Name: "ann", Owner: "ann", Scopes: tokens.Scopes()})
	bob := h.token(t, tokens.Token{Name: "bob", Owner: "bob", Scopes: tokens.Scopes()})
	s, err := server.New(h.a, server.Options{Token: true, Tokens: string(h.folder)})
	if err != nil {
		t.Fatal(err)
	}
	h.Server = s
	v, w := visit(t, h), visit(t, h)
	v.send(401, "/preferences", "language", "de")
	_, page := v.get(401, "/threads")
	v.holds(page, "Anmelden", `lang="de"`)
	v.client.Jar, _ = cookiejar.New(nil)
	_, page = v.get(401, "/")
	v.holds(page, "Log in")
	v.send(401, "/login", "token", "wrong")
	v.send(200, "/login", "token", ann)
	thread, _ := v.send(200, "/ask", "question", "How many days of leave?")
	page = v.settled(thread)
	w.send(200, "/login", "token", bob)
	for _, path := range []string{thread, v.link(page, "/cite/"), v.link(page, "/run/"), thread + "/export"} {
		_, theirs := w.get(404, path)
		_, none := w.get(404, "/t/nosuch")
		if nonce.ReplaceAllString(theirs, "") != nonce.ReplaceAllString(strings.ReplaceAll(none, "/t/nosuch", path), "") {
			t.Errorf("%s of another person answers otherwise than nothing", path)
		}
	}
}

var fieldName = regexp.MustCompile(`<select name="([^"]*verdict)"`)

var nonce = regexp.MustCompile(`nonce="[^"]*"`)

// TestPageCollections asks a collection by its name, and one that is not there.
func TestPageCollections(t *testing.T) {
	t.Parallel()
	v := visit(t, open(t, server.Options{}, func(c *ragflow.Config) { c.Collection = "notes" }))
	thread, _ := v.send(200, "/ask", "question", "How many days of leave?", "collection", "notes")
	v.holds(v.settled(thread), "26 days")
	_, page := v.send(404, "/ask", "question", "x", "collection", "nosuch")
	v.holds(page, "There is no such collection.")
}
