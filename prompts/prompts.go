package prompts

import (
	"crypto/rand"
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/template"
)

//go:embed *.tmpl
var files embed.FS

// Languages lists the languages that have templates of their own, by ISO 639-1
// code.
func Languages() []string { return []string{"en", "pl", "vi"} }

// Names lists the prompts. Each is named for the node that asks; judge is that
// of the evaluation, and is in English for every language: a rubric has to be
// the same for all that is compared by it.
func Names() []string {
	return []string{"pre_retrieval", "check_and_refine", "summarize_conversation", "generate", nameJudge}
}

func file(name, language string) string {
	if name == nameJudge || !slices.Contains(Languages(), language) {
		language = "en"
	}
	return name + "." + language + ".tmpl"
}

// Rendered is a prompt as it is sent.
type Rendered struct {
	System string
	User   string
}

// NewBoundary returns a boundary that no text written before can hold.
func NewBoundary() string { return "=== " + rand.Text() + " ===" }

// parsed holds every template by file name.
//
//nolint:gochecknoglobals // a cache of what is embedded
var parsed = sync.OnceValue(func() map[string]*template.Template {
	all := map[string]*template.Template{}
	for _, name := range Names() {
		for _, language := range Languages() {
			f := file(name, language)
			all[f] = template.Must(template.New(f).Funcs(template.FuncMap{"join": strings.Join}).ParseFS(files, f))
		}
	}
	return all
})

func render(name, language string, input any) Rendered {
	t := parsed()[file(name, language)]
	return Rendered{System: execute(t, "system", input), User: execute(t, "user", input)}
}

// execute panics where a template does not fit its input: both are ours.
func execute(t *template.Template, part string, input any) string {
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, part, input); err != nil {
		panic(fmt.Sprintf("prompts: %v", err))
	}
	return strings.TrimSpace(b.String())
}

// Earlier is an earlier turn of the conversation.
type Earlier struct {
	Question string
	Terms    []string // telling words of its answer
}

// PreRetrieval asks for search queries.
type PreRetrieval struct {
	Question string
	Earlier  []Earlier // oldest first
	Boundary string    // see [NewBoundary]
}

// Render writes the prompt in a language.
func (p PreRetrieval) Render(language string) Rendered {
	return render("pre_retrieval", language, p)
}

// Passage is the beginning of a chunk.
type Passage struct {
	N     int // from 1
	Title string
	Text  string // one line
}

// CheckAndRefine asks for a grade and a better query.
type CheckAndRefine struct {
	Question string
	Passages []Passage
	Boundary string
}

// Render writes the prompt in a language.
func (p CheckAndRefine) Render(language string) Rendered {
	return render("check_and_refine", language, p)
}

// Said is a message of the conversation.
type Said struct {
	Human bool
	Text  string
}

// SummarizeConversation asks for the running summary, extended.
type SummarizeConversation struct {
	Summary  string // so far; empty at first
	Messages []Said // that leave the conversation, oldest first
	Words    int    // the most the summary may have
	Boundary string
}

// Render writes the prompt in a language.
func (p SummarizeConversation) Render(language string) Rendered {
	return render("summarize_conversation", language, p)
}

// SourceText is a numbered text to answer from.
type SourceText struct {
	N        int // of [Source N], from 1
	Title    string
	Headings []string
	Text     string

	About     []string // see [About]
	Relevance string   // of the source to the question, as 0.83; empty: not told
}

// Generate asks for the answer.
type Generate struct {
	Question string
	Summary  string
	Sources  []SourceText
	Boundary string
	Refusal  string // see [Refusal]
	Own      SystemTemplate
}

// Render writes the prompt in a language.
func (p Generate) Render(language string) Rendered {
	if p.Own != (SystemTemplate{}) {
		return p.Own.render(p, language)
	}
	return render("generate", language, p)
}
