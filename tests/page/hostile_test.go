package page_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/ragflow"
	"example.com/ragflow/llm"
	"example.com/ragflow/server"
	"example.com/ragflow/tests/browser"
)

// attacks are texts that would run a script or load something if a page took them for HTML, Markdown, an
// address or an attribute. CODE is a script that tells the canary, HOST is its address.
var attacks = []string{
	`<script>CODE</script>`, `<img src=x onerror="CODE">`, `<svg onload="CODE">`, `<svg><script>CODE</script></svg>`, `<body onload="CODE">`,
	`<iframe src="javascript:CODE"></iframe>`, `<iframe srcdoc="<script>CODE</script>"></iframe>`, `<a href="javascript:CODE" autofocus onfocus="CODE">x</a>`,
	`<input autofocus onfocus="CODE">`, `<details open ontoggle="CODE">x</details>`, `<video><source onerror="CODE"></video>`, `<math><mtext></form><form><mglyph><style></math><img src onerror="CODE">`,
	`"><script>CODE</script>`, `'><img src=x onerror=CODE>`, `" onmouseover="CODE" x="`, `</textarea><script>CODE</script>`, `</title><script>CODE</script>`,
	`</script><script>CODE</script>`, `<!--><img src=x onerror="CODE">-->`, `<![CDATA[><script>CODE</script>]]>`, `<style>@import "HOST/a.css";</style>`, `<link rel=stylesheet href="HOST/b.css">`,
	`<img src="HOST/c.png">`, `<object data="HOST/d"></object>`, `<embed src="HOST/e">`, `<meta http-equiv=refresh content="0;url=HOST/f">`, `<base href="HOST/">`,
	`![x](HOST/g.png)`, `![x](javascript:CODE)`, `[x](javascript:CODE)`, `[x](data:text/html,<script>CODE</script>)`, `[![x](HOST/h.png)](HOST/i)`, `[x]: javascript:CODE`,
	`<HOST/j>`, `<javascript:CODE>`, "```html\n<script>CODE</script>\n```", "`<script>CODE</script>`", "<div\nonclick=CODE>x</div>",
	`<div hx-get="HOST/k" hx-trigger="load">x</div>`, `<div hx-on:load="CODE" hx-trigger="load">x</div>`, `<hx-partial hx-target="#turns"><script>CODE</script></hx-partial>`,
	`<template hx type="partial" hx-target="body"><img src=x onerror="CODE"></template>`, `<form action="HOST/l"><button autofocus>x</button></form>`, `{{.Nonce}}<script>CODE</script>`,
	`${CODE}`, `<x onclick="CODE" tabindex=1 id=x autofocus onfocus="CODE">`, `&lt;script&gt;CODE&lt;/script&gt;`, `&#60;script&#62;CODE&#60;/script&#62;`, `<scr<script>ipt>CODE</script>`,
	`\u003cscript\u003eCODE\u003c/script\u003e`,
}

// ways are how an attack stands in a text.
var ways = []string{"%s", "*%s*", "| a | b |\n| --- | --- |\n| 1 | %s |", "> %s"}

// parrot is a model that answers with what it is told to.
type parrot struct{ text *atomic.Value }

func (parrot) Model() string { return "parrot" }

func (p parrot) Complete(_ context.Context, _ llm.Request, piece func(string)) (llm.Response, error) {
	text := "Every employee has 26 days of paid leave a year [Source 1]. " + p.text.Load().(string)
	if piece != nil {
		piece(text)
	}
	return llm.Response{Text: text}, nil
}

// TestIntegrationHostile puts 200 attacks into documents, questions, answers, titles and names, and looks at every page
// with the policy of the server and without it: nothing runs, and nothing is fetched from elsewhere.
func TestIntegrationHostile(t *testing.T) {
	tab := open(t)
	var hits atomic.Value
	canary := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { hits.Store(r.URL.Path) }))
	defer canary.Close()
	code := "document.documentElement.dataset.ran='yes';fetch('" + canary.URL + "/ran')"
	var texts []string
	for _, way := range ways {
		for _, a := range attacks {
			texts = append(texts, fmt.Sprintf(way, strings.NewReplacer("CODE", code, "HOST", canary.URL).Replace(a)))
		}
	}
	documents := map[string]string{}
	const each = 10
	for i := 0; i < len(texts); i += each {
		name := fmt.Sprintf("d%d %s.md", i, strings.NewReplacer("/", "∕", "\n", " ", "\x00", "").Replace(texts[i])) //nolint:gosmopolitan // a slash that a name may have
		name = strings.ToValidUTF8(name[:min(len(name), 200)], "")
		if !strings.HasSuffix(name, ".md") {
			name += ".md"
		}
		documents[name] = fmt.Sprintf("# Kiwi%d %s\n\nKiwi%d grows here.\n\n%s\n", i, texts[i], i, strings.Join(texts[i:min(len(texts), i+each)], "\n\n"))
	}
	said := &atomic.Value{}
	a, url := serve(t, documents, parrot{said})
	bare, err := server.New(a, server.Options{})
	if err != nil {
		t.Fatal(err)
	}
	open := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bare.ServeHTTP(withoutPolicy{w}, r)
	}))
	defer open.Close()
	defer open.CloseClientConnections()

	var paths []string
	for i := 0; i < len(texts); i += each {
		thread := ""
		for j, text := range texts[i:min(len(texts), i+each)] {
			said.Store(text)
			q := ragflow.Question{Text: fmt.Sprintf("Where does kiwi%d grow? %s", i, text), Thread: thread}
			if j%2 == 1 { // no model: the document is quoted
				q.Settings = &ragflow.Settings{Offline: true}
			}
			reply, err := a.Ask(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			thread = reply.ThreadID
			if j == 0 {
				paths = append(paths, fmt.Sprintf("/t/%s/run/%s", thread, reply.RunID))
			}
			if len(reply.Citations) > 0 && j%3 == 1 {
				paths = append(paths, fmt.Sprintf("/t/%s/cite/%s/0", thread, reply.RunID))
			}
		}
		if err := a.Threads().Rename(t.Context(), thread, texts[i]); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, "/t/"+thread)
	}
	paths = append(paths, "/", "/threads", "/threads?q=kiwi")
	for _, base := range []string{url, open.URL} {
		for _, path := range paths {
			browser.Do(tab, t, chromedp.Navigate(base+path))
			until(tab, t, `document.querySelector("main")`)
			if strings.HasPrefix(path, "/t/") && strings.Count(path, "/") == 2 {
				until(tab, t, `document.querySelector(".turn")`)
				eval[any](tab, t, `document.querySelector(".sources a")?.click()`)
				eval[any](tab, t, `document.querySelectorAll(".turn *").forEach(e => e.dispatchEvent(new MouseEvent("mouseover", { bubbles: true })))`)
			}
			if ran := eval[string](tab, t, `document.documentElement.dataset.ran || ""`); ran != "" {
				t.Fatalf("%s of %s ran a script", path, base)
			}
			if at := eval[string](tab, t, `location.href`); at != base+path {
				t.Fatalf("%s led to %s", path, at)
			}
			if hit := hits.Load(); hit != nil {
				t.Fatalf("%s of %s fetched %v", path, base, hit)
			}
		}
	}
	t.Logf("%d attacks on %d pages, twice", len(texts), len(paths))
}

// withoutPolicy is a response whose page may run anything.
type withoutPolicy struct{ http.ResponseWriter }

func (w withoutPolicy) WriteHeader(status int) {
	w.Header().Del("Content-Security-Policy")
	w.ResponseWriter.WriteHeader(status)
}

func (w withoutPolicy) Unwrap() http.ResponseWriter { return w.ResponseWriter }
