package prompts

import (
	"cmp"
	"crypto/rand"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"text/template"
)

//go:embed *.en.tmpl *.pl.tmpl *.vi.tmpl
var files embed.FS

//go:embed asked.tmpl
var asked string // shared by several templates

// Languages returns the ISO 639-1 codes of the languages with templates.
func Languages() []string { return []string{"en", "pl", "vi"} }

// englishPrompts are in English for every language: the judge of the evaluation, and optional steps.
var englishPrompts = []string{nameJudge, "multi_query", "hyde", "decompose", "rerank", "refine", "merge", "verify", "image"}

// inputs are the inputs of the prompts by name. The first four have the names of their nodes.
var inputs = map[string]any{
	"pre_retrieval": PreRetrieval{}, "check_and_refine": CheckAndRefine{}, "summarize_conversation": SummarizeConversation{}, "generate": Generate{},
	nameJudge: Judge{}, "multi_query": MultiQuery{}, "hyde": Hypothetical{}, "decompose": Decompose{}, "rerank": Rerank{}, "refine": Refine{}, "merge": Merge{}, "verify": Verify{}, "image": Image{},
}

func file(name, language string) string {
	if slices.Contains(englishPrompts, name) || !slices.Contains(Languages(), language) {
		language = "en"
	}
	return name + "." + language + ".tmpl"
}

// Rendered is a prompt that is ready to send.
type Rendered struct {
	System string
	User   string
}

// boundaryLetters are base 32: more than a document can guess during one request. Each costs about one token,
// and a prompt has eight boundaries.
const boundaryLetters = 10

// NewBoundary returns a random boundary that no existing text contains.
func NewBoundary() string { return "=== " + rand.Text()[:boundaryLetters] + " ===" }

// parsed returns every template by file name.
var parsed = sync.OnceValue(func() map[string]*template.Template {
	all := map[string]*template.Template{}
	for name := range inputs {
		for _, language := range Languages() {
			f := file(name, language)
			all[f] = template.Must(template.New(f).Funcs(template.FuncMap{"join": strings.Join}).ParseFS(files, f))
			template.Must(all[f].Parse(asked))
		}
	}
	return all
})

// BuiltIn returns the files of the built-in templates.
func BuiltIn() fs.FS { return files }

// template returns the template of a prompt.
func (s Set) template(name, language string) *template.Template {
	f := file(name, language)
	return cmp.Or(s.custom[f], parsed()[f])
}

func (s Set) render(name, language string, input any) Rendered {
	t := s.template(name, language)
	return Rendered{System: execute(t, "system", input), User: execute(t, "user", input)}
}

// execute panics if a template does not match its input. Built-in templates do, and [ReadSet] has tried the
// custom ones.
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
	Terms    []string // informative words of its answer
}

// PreRetrieval is the prompt that asks for search queries.
type PreRetrieval struct {
	Question string
	Earlier  []Earlier // oldest first
	In       string    // language code to write the queries in; "" means that of the question
	Boundary string    // see [NewBoundary]
	Custom   Set
}

// Language returns the name of the language that the queries are asked in, or "".
func (p PreRetrieval) Language() string {
	return map[string]string{"en": "English", "pl": "Polish (polski)", "vi": "Vietnamese (tiếng Việt)"}[p.In]
}

// Render renders the prompt in a language.
func (p PreRetrieval) Render(language string) Rendered {
	return p.Custom.render("pre_retrieval", language, p)
}

// Passage is the start of a chunk.
type Passage struct {
	N     int // from 1
	Title string
	Text  string // one line
}

// CheckAndRefine is the prompt that asks for a grade and a better query.
type CheckAndRefine struct {
	Question string
	Passages []Passage
	Boundary string
	Custom   Set
}

// Render renders the prompt in a language.
func (p CheckAndRefine) Render(language string) Rendered {
	return p.Custom.render("check_and_refine", language, p)
}

// Said is a message of the conversation.
type Said struct {
	Human bool
	Text  string
}

// SummarizeConversation is the prompt that asks to extend the running summary.
type SummarizeConversation struct {
	Summary  string // the current summary, or ""
	Messages []Said // messages to add, oldest first
	Words    int    // maximum length of the summary
	Boundary string
	Custom   Set
}

// Render renders the prompt in a language.
func (p SummarizeConversation) Render(language string) Rendered {
	return p.Custom.render("summarize_conversation", language, p)
}

// SourceText is a numbered text to answer from.
type SourceText struct {
	N        int // the N of [Source N], from 1
	Title    string
	Headings []string
	Path     string // of the file, or ""
	Text     string

	About     []string // see [About]
	Relevance string   // relevance to the question, such as 0.83, or ""
}

// Generate is the prompt that asks for the answer. Its system part is the same for every
// question in a language, so that providers can reuse what they computed for it.
type Generate struct {
	Question string
	Complete string // the question with its references resolved, or ""
	Known    string // what was found out earlier for this question, or ""
	Summary  string
	Sources  []SourceText
	Boundary string
	// CanRefuse tells the model to write Refusal if the sources do not contain the answer.
	CanRefuse bool
	Refusal   string // see [Refusal]
	Custom    Set
}

// Render renders the prompt in a language.
func (p Generate) Render(language string) Rendered {
	if p.Custom.system != "" {
		return p.Custom.renderSystem(p, language)
	}
	return p.Custom.render("generate", language, p)
}
