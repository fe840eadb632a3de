package web

import (
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"golang.org/x/text/language"
)

//go:embed words/*.json
var wordFiles embed.FS

// words are the sentences of the pages in one language, by name. A name that ends with ".one" is for
// the number 1, ".few" for what the language calls few.
type words struct {
	language string
	said     map[string]string
}

type named struct{ Code, Name string }

// pageLanguages are the languages of the pages, in the order in which they are offered.
func pageLanguages() []named {
	return []named{{"en", "English"}, {"de", "Deutsch"}, {"pl", "Polski"}, {"vi", "Tiếng Việt"}}
}

func allWords() map[string]*words {
	out := map[string]*words{}
	for _, l := range pageLanguages() {
		w := &words{language: l.Code, said: map[string]string{}}
		data, err := wordFiles.ReadFile("words/" + l.Code + ".json")
		if err == nil {
			err = json.Unmarshal(data, &w.said)
		}
		if err != nil {
			panic(fmt.Errorf("words of the page in %s: %w", l.Name, err)) // they are part of the program
		}
		out[l.Code] = w
	}
	return out
}

// say returns the sentence of a name, with its values.
func (w *words) say(name string, values ...any) (string, error) {
	text, ok := w.said[name]
	switch {
	case !ok:
		return "", fmt.Errorf("the page has no sentence %q", name)
	case len(values) == 0 || !strings.Contains(text, "%"): // once
		return text, nil
	}
	return fmt.Sprintf(text, values...), nil
}

// count returns the sentence of a name for a number of things.
func (w *words) count(name string, n int) (string, error) {
	form := name
	switch {
	case n == 1:
		form = name + ".one"
	case w.language == "pl" && n%10 >= 2 && n%10 <= 4 && (n%100 < 12 || n%100 > 14):
		form = name + ".few"
	}
	if _, ok := w.said[form]; !ok {
		form = name
	}
	return w.say(form, n)
}

// step returns what a step of a run does; the name of the step if it has no sentence.
func (w *words) step(name string) string {
	text, err := w.say("step." + name)
	if err != nil {
		return name
	}
	return text
}

const (
	languageCookie = "ragflow_language"
	themeCookie    = "ragflow_theme"
)

// matcher chooses among pageLanguages.
var matcher = sync.OnceValue(func() language.Matcher {
	return language.NewMatcher([]language.Tag{language.English, language.German, language.Polish, language.Vietnamese})
})

// languageOf returns the language that a person chose, or else the browser asks for.
func languageOf(r *http.Request) string {
	asked := r.Header.Get("Accept-Language")
	if c, err := r.Cookie(languageCookie); err == nil {
		asked = c.Value
	}
	_, i := language.MatchStrings(matcher(), asked)
	return pageLanguages()[i].Code
}

func themeOf(r *http.Request) string {
	if c, err := r.Cookie(themeCookie); err == nil && (c.Value == "light" || c.Value == "dark") {
		return c.Value
	}
	return ""
}

// prefer keeps the language and the theme that a person chooses.
func (s *site) prefer(r *http.Request) (answer, error) {
	a := answer{to: r.FormValue("here"), header: http.Header{}}
	for form, cookie := range map[string]string{"language": languageCookie, "theme": themeCookie} {
		if v := r.FormValue(form); v != "" && len(v) < 16 {
			a.header.Add("Set-Cookie", s.cookie(cookie, v, year))
		}
	}
	if !strings.HasPrefix(a.to, "/") || strings.HasPrefix(a.to, "//") || strings.HasPrefix(a.to, `/\`) {
		a.to = "/"
	}
	return a, nil
}
