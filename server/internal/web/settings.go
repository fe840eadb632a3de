package web

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"example.com/ragflow"
)

// settingsCookie keeps what a person set for the questions of one browser.
const settingsCookie = "ragflow_settings"

// choices are the settings that a person may change, and what they have in the configuration.
type choices struct {
	Language string `json:"l,omitempty"` // of answers; "" is that of the question
	TopK     int    `json:"k,omitempty"` // passages for each search; 0: as configured
	Strict   bool   `json:"s,omitempty"`
	Verify   bool   `json:"v,omitempty"`
	Checked  bool   `json:"c,omitempty"`
}

type settingsPage struct {
	Chosen choices
	Usual  ragflow.Settings
	Saved  bool // just now
	Model  bool // there is one, so that what only models do matters
}

func chosen(r *http.Request) (c choices) {
	cookie, err := r.Cookie(settingsCookie)
	if err != nil {
		return c
	}
	if data, err := base64.RawURLEncoding.DecodeString(cookie.Value); err == nil {
		_ = json.Unmarshal(data, &c) // a broken one chooses nothing
	}
	c.TopK = min(max(c.TopK, 0), 50)
	if !slices.ContainsFunc(answerLanguages(), func(l named) bool { return l.Code == c.Language }) {
		c.Language = ""
	}
	return c
}

// answerLanguages are those that a person can choose for answers, beside that of the question.
func answerLanguages() []named {
	return append(
		pageLanguages(),
		named{"cs", "Čeština"}, named{"es", "Español"}, named{"fr", "Français"}, named{"it", "Italiano"}, named{"nl", "Nederlands"},
		named{"pt", "Português"}, named{"uk", "Українська"}, named{"ja", "日本語"}, named{"zh", "中文"},
	)
}

// settingsOf are the settings of a question that is asked from a page.
func (s *site) settingsOf(r *http.Request) *ragflow.Settings {
	c, model := chosen(r), r.FormValue("model")
	if c == (choices{}) && model == "" {
		return nil
	}
	out := s.a.Config().Settings
	if c.Language != "" {
		out.Language = c.Language
	}
	if c.TopK > 0 {
		out.TopK = c.TopK
	}
	out.Strict, out.Verify, out.Checked = out.Strict || c.Strict, out.Verify || c.Verify, out.Checked || c.Checked
	switch model {
	case "":
	case offline:
		out.Model, out.Offline = "", true
	default:
		out.Model, out.Offline = model, false
	}
	return &out
}

// settings shows what is set, and what a person may set for this browser.
func (s *site) settings(r *http.Request) (answer, error) {
	config := s.a.Config()
	usual, err := config.ResolveSettings(config.Settings)
	if err != nil {
		usual = config.Settings
	}
	return answer{name: "settings", data: settingsPage{chosen(r), usual, r.URL.Query().Has("saved"), config.Models.Chat != nil}}, nil
}

// set keeps the choices of a person for this browser.
func (s *site) set(r *http.Request) (answer, error) {
	k, _ := strconv.Atoi(r.FormValue("top_k")) // else as configured
	c := choices{
		Language: r.FormValue("language"), TopK: k, Strict: r.FormValue("strict") != "", Verify: r.FormValue("verify") != "", Checked: r.FormValue("checked") != "",
	}
	data, _ := json.Marshal(c) // never fails
	cookie := s.cookie(settingsCookie, base64.RawURLEncoding.EncodeToString(data), year)
	return answer{to: "/settings?saved=1", header: http.Header{"Set-Cookie": {cookie}}}, nil
}
