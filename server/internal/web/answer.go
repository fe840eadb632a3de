package web

import (
	"cmp"
	"crypto/rand"
	"maps"
	"net/http"
	"strings"

	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server/internal/door"
)

// answer is what a page says to a request.
type answer struct {
	status int         // 0: 200
	name   string      // of a page, or with "#" of a part of it: ask, thread#turns
	data   any         // for its template
	to     string      // the address to go to instead
	body   []byte      // to send instead, as the header says
	header http.Header // beside those of all pages
}

// page is what every template gets.
type page struct {
	Name     string
	Language string
	Theme    string // light, dark or "", which is that of the system
	Nonce    string
	Here     string // path of the page, to come back to
	Admin    bool   // who asks may see evaluation and usage
	Data     any
}

// quiet reports whether a request is one of the script for a part of a page.
func quiet(r *http.Request) bool { return r.Header.Get("Hx-Request") != "" }

// write sends an answer. A page that has sent a form by itself stays: its stream shows what came of it.
func (s *site) write(w http.ResponseWriter, r *http.Request, a answer) {
	h := w.Header()
	maps.Copy(h, a.header)
	switch {
	case a.to != "" && quiet(r):
		w.WriteHeader(http.StatusNoContent)
		return
	case a.to != "":
		http.Redirect(w, r, a.to, http.StatusSeeOther)
		return
	case a.body == nil:
		name, part, _ := strings.Cut(a.name, "#")
		p := page{Name: name, Language: languageOf(r), Theme: themeOf(r), Nonce: rand.Text(), Here: r.URL.RequestURI(), Data: a.data}
		if who := door.Of(r.Context()); who != nil {
			p.Admin = who.May(tokens.Admin)
		}
		if browserOf(r) == "" {
			h.Add("Set-Cookie", s.cookie(browserCookie, rand.Text(), 0))
		}
		a.body = s.part(p.Language, name, cmp.Or(part, "layout"), p)
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", strings.ReplaceAll(policy, "NONCE", p.Nonce))
		h.Set("X-Frame-Options", "DENY")
	}
	w.WriteHeader(cmp.Or(a.status, http.StatusOK))
	_, _ = w.Write(a.body) // a reader that has left needs nothing
}

// year is the time in seconds for which a browser keeps what a person chose.
const year = 365 * 24 * 3600

// cookie is the header that keeps a value in the browser for some seconds; 0: until it is closed. A short one is not
// sent by links of other sites.
func (s *site) cookie(name, value string, seconds int) string {
	c := http.Cookie{Name: name, Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, Secure: s.Secure, SameSite: http.SameSiteStrictMode}
	if seconds > 0 {
		c.SameSite = http.SameSiteLaxMode
	}
	return c.String()
}
