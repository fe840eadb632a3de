package web

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"path"
	"strings"

	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server/internal/door"
)

//go:embed templates/*.html
var templates embed.FS

//go:embed static
var statics embed.FS

// views are the templates of all pages in all languages.
type views struct {
	sets    map[string]map[string]*template.Template // by language and page
	version string                                   // of the static files
}

// newViews parses the templates. They are part of the program, so an error of them is one of it.
func newViews() *views {
	v := &views{sets: map[string]map[string]*template.Template{}, version: versionOf(statics)}
	pages, _ := fs.Glob(templates, "templates/*.html")
	for language, words := range allWords() {
		funcs := template.FuncMap{"t": words.say, "n": words.count, "static": func(name string) string { return "/static/" + name + "?v=" + v.version }}
		maps.Copy(funcs, shapes())
		base := template.Must(template.New("").Funcs(funcs).ParseFS(templates, "templates/layout.html", "templates/parts_*.html"))
		v.sets[language] = map[string]*template.Template{}
		for _, p := range pages {
			name := strings.TrimSuffix(path.Base(p), ".html")
			v.sets[language][name] = template.Must(template.Must(base.Clone()).ParseFS(templates, p))
		}
	}
	return v
}

func versionOf(files fs.FS) string {
	sum := sha256.New()
	_ = fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error { // embedded files can be read
		if err == nil && !d.IsDir() {
			data, _ := fs.ReadFile(files, p)
			_, _ = sum.Write(data) // never fails
		}
		return nil
	})
	return hex.EncodeToString(sum.Sum(nil)[:6])
}

// page is what every template gets.
type page struct {
	Language string
	Theme    string // light, dark or "", which is that of the system
	Nonce    string
	Here     string // path of the page, to come back to
	Person   bool   // somebody is logged in
	Admin    bool   // who asks may see evaluation and usage
	Data     any
}

// show answers with a page, or with the part of it that is named after "#": ask, thread#turns.
func (s *site) show(w http.ResponseWriter, r *http.Request, status int, name string, data any) {
	name, part, _ := strings.Cut(name, "#")
	if part == "" {
		part = "layout"
	}
	p := page{Language: languageOf(r), Theme: themeOf(r), Nonce: rand.Text(), Here: r.URL.RequestURI(), Data: data}
	if who := door.Of(r.Context()); who != nil {
		p.Person, p.Admin = !who.Local, who.May(tokens.Admin)
	}
	if browserOf(r) == "" {
		http.SetCookie(w, &http.Cookie{Name: browserCookie, Value: rand.Text(), Path: "/", HttpOnly: true, Secure: s.secure, SameSite: http.SameSiteStrictMode})
	}
	var out bytes.Buffer
	if err := s.views.sets[p.Language][name].ExecuteTemplate(&out, part, p); err != nil {
		panic(fmt.Errorf("page %s: %w", name, err)) // the gate logs it
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", strings.ReplaceAll(policy, "NONCE", p.Nonce))
	h.Set("X-Frame-Options", "DENY")
	w.WriteHeader(status)
	_, _ = out.WriteTo(w) // a reader that has left needs nothing
}

// part renders one template without a response.
func (s *site) part(language, name string, data any) []byte {
	name, part, _ := strings.Cut(name, "#")
	var out bytes.Buffer
	if err := s.views.sets[language][name].ExecuteTemplate(&out, part, data); err != nil {
		panic(fmt.Errorf("part %s of %s: %w", part, name, err))
	}
	return out.Bytes()
}

// policy lets a page run the scripts of this server alone, and load nothing from elsewhere.
const policy = "default-src 'none'; script-src 'self' 'nonce-NONCE'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types htmx"

// static serves the style, scripts and the icon, which never change under one address.
func static(w http.ResponseWriter, r *http.Request) {
	data, err := statics.ReadFile("static/" + path.Base(r.PathValue("file")))
	if err != nil {
		door.Problem(w, http.StatusNotFound, "there is no such file")
		return
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(r.PathValue("file"))))
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(data) // a reader that has left needs nothing
}
