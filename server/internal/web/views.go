package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"strings"
)

//go:embed templates
var templates embed.FS

//go:embed static
var statics embed.FS

// views are the templates of all pages in all languages.
type views struct {
	sets    map[string]map[string]*template.Template // by language and page
	version string                                   // of the static files
}

// newViews parses the templates: a file of a page is the template "main" of the layout. They are part of the program, so
// an error of them is one of it.
func newViews() *views {
	v := &views{sets: map[string]map[string]*template.Template{}, version: versionOf(statics)}
	pages, _ := fs.Glob(templates, "templates/pages/*.html")
	for language, words := range allWords() {
		funcs := template.FuncMap{"t": words.say, "n": words.count, "step": words.step, "static": func(name string) string { return "/static/" + name + "?v=" + v.version }}
		maps.Copy(funcs, shapes())
		base := template.Must(template.New("").Funcs(funcs).ParseFS(templates, "templates/*.html"))
		v.sets[language] = map[string]*template.Template{}
		for _, p := range pages {
			text, _ := fs.ReadFile(templates, p) // it is there
			set := template.Must(base.Clone())
			template.Must(set.New("main").Parse(string(text)))
			v.sets[language][strings.TrimSuffix(path.Base(p), ".html")] = set
		}
	}
	return v
}

func versionOf(files fs.FS) string {
	sum := sha256.New()
	names, _ := fs.Glob(files, "static/*") // the pattern is right
	for _, name := range names {
		data, _ := fs.ReadFile(files, name) // it is there
		_, _ = sum.Write(data)              // never fails
	}
	return hex.EncodeToString(sum.Sum(nil)[:6])
}

// part renders a template of a page.
func (s *site) part(language, name, part string, data any) []byte {
	var out bytes.Buffer
	if err := s.views.sets[language][name].ExecuteTemplate(&out, part, data); err != nil {
		panic(fmt.Errorf("template %s of the page %s: %w", part, name, err)) // the gate logs it
	}
	return out.Bytes()
}

// policy lets a page run the scripts of this server alone, and load nothing from elsewhere.
const policy = "default-src 'none'; script-src 'self' 'nonce-NONCE'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types htmx"

// static serves the style, scripts and the icon, which never change under one address.
func static(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	http.ServeFileFS(w, r, statics, "static/"+r.PathValue("file"))
}
