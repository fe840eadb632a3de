package web

import (
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"golang.org/x/text/language"
)

//go:embed words/*.json
var wordFiles embed.FS

// words are the sentences of the pages in one language, by name. A name that ends with ".one" is for
// the number 1, ".few" for what the language calls few.
type words struct {
	language string
	said     map[string]string
	other    *words // says what is missing here; nil for English
}

// Languages of the pages, in the order in which they are offered.
var languages = []string{"en", "de", "pl", "vi"}

func allWords() map[string]*words {
	out := map[string]*words{}
	for _, l := range languages {
		w := &words{language: l, said: map[string]string{}, other: out["en"]}
		data, err := wordFiles.ReadFile("words/" + l + ".json")
		if err == nil {
			err = json.Unmarshal(data, &w.said)
		}
		if err != nil {
			panic(fmt.Errorf("words of the page in %s: %w", l, err)) // they are part of the program
		}
		out[l] = w
	}
	return out
}

// say returns the sentence of a name, with its values.
func (w *words) say(name string, values ...any) (string, error) {
	text, ok := w.said[name]
	switch {
	case !ok && w.other != nil:
		return w.other.say(name, values...)
	case !ok:
		return "", fmt.Errorf("the page has no sentence %q", name)
	case len(values) == 0:
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

const (
	languageCookie = "ragflow_language"
	themeCookie    = "ragflow_theme"
)

var matcher = func() language.Matcher {
	var tags []language.Tag
	for _, l := range languages {
		tags = append(tags, language.MustParse(l))
	}
	return language.NewMatcher(tags)
}()

// languageOf returns the language that a person chose, or else the browser asks for.
func languageOf(r *http.Request) string {
	if c, err := r.Cookie(languageCookie); err == nil {
		for _, l := range languages {
			if c.Value == l {
				return l
			}
		}
	}
	_, i := language.MatchStrings(matcher, r.Header.Get("Accept-Language"))
	return languages[i]
}

func themeOf(r *http.Request) string {
	if c, err := r.Cookie(themeCookie); err == nil && (c.Value == "light" || c.Value == "dark") {
		return c.Value
	}
	return ""
}

// prefer keeps the language and the theme that a person chooses.
func (s *site) prefer(w http.ResponseWriter, r *http.Request) {
	for form, cookie := range map[string]string{"language": languageCookie, "theme": themeCookie} {
		if v := r.FormValue(form); v != "" && len(v) < 16 {
			http.SetCookie(w, &http.Cookie{Name: cookie, Value: v, Path: "/", MaxAge: 400 * 24 * 3600, HttpOnly: true, Secure: s.secure, SameSite: http.SameSiteLaxMode})
		}
	}
	back := r.FormValue("here")
	if !strings.HasPrefix(back, "/") || strings.HasPrefix(back, "//") || strings.HasPrefix(back, `/\`) {
		back = "/"
	}
	http.Redirect(w, r, back, http.StatusSeeOther)
}
