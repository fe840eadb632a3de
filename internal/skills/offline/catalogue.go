package offline

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/skills/readable"
	"example.com/ragflow/state"
)

// Listed is a document of the catalogue.
type Listed struct {
	Title, Source string
	Named         bool // name or title hold the subject
}

// maxListed is the number of documents that an answer names.
const maxListed = 20

// Words of questions for the documents themselves, in English, German, Polish and Vietnamese: what may stand around the
// word for documents, and what precedes a subject. They are strict, like talkPatterns.
const (
	asking = `(?:(?:please|what|which|list|show|me|all|any|my|your|the|of|do|you|i|have|got|know|read|indexed|are|there|welche|zeige?|liste|mir|alle|meine|deine|die|hast|du|haben|sie|habe|ich|kennst|gibt|es|sind|da|` +
		`handeln|vorhanden|auf|jakie|które|masz|mam|są|mówią|mi|wszystkie|moje|pokaż|wymień|bạn|có|những|liệt kê|cho xem|các|tất cả|mọi|nào|gì)(?: |$))`
	documents = `(?:documents|files|dokumente|dateien|unterlagen|dokumenty|pliki|tài liệu|tệp|tập tin)(?: |$)`
	about     = `(?:about|über|zu|zum thema|von|o|na temat|dotyczą|nói về|về) `
)

// asksCatalogue finds questions for the documents themselves. Its group is the subject.
var asksCatalogue = regexp.MustCompile(`^(?:` + asking + `+` + documents + asking + `*|` + documents + asking + `+)(?:` + about + `((?:\S+ ?){1,5}))?$`)

// asksNamed finds questions for the documents of a kind. The first group that is not empty is the kind.
var asksNamed = regexp.MustCompile(wholeTurn(`(?:what|which) ((?:\S+ ){1,3})(?:do (?:we|i|you) have|are there)|welche ((?:\S+ ){1,3})(?:haben wir|habe ich|hast du|gibt es)|` +
	`(?:jakie|które) ((?:\S+ ){1,3})(?:mamy|mam|masz|są)|(?:chúng ta )?có (?:những )?((?:\S+ ){1,4})nào`))

// namedFiles returns the answer to a question for the documents of a kind, such as "which contracts do we have"; false
// if fewer than two are named so.
func (a *Answerer) namedFiles(ctx context.Context, t state.Task) (state.Answer, bool, error) {
	m := asksNamed.FindStringSubmatch(strings.Join(plainWords(t.Question), " "))
	if m == nil || a.Files == nil {
		return state.Answer{}, false, nil
	}
	files, err := a.Files(ctx, strings.TrimSpace(strings.Join(m[1:], "")))
	files = slices.DeleteFunc(files, func(f Listed) bool { return !f.Named })
	if err != nil || len(files) < 2 {
		return state.Answer{}, false, err
	}
	grade := state.Grade{Score: filesNamed, By: Name, Why: "several documents are named as asked for"}
	return state.Answer{Text: listing(prompts.CatalogueAbout, files, t.Language), Model: Name, Grade: &grade}, true, nil
}

// filesNamed is the grade of a list of the documents that are named as the question says.
const filesNamed = 0.9

// catalogueAsked reports whether a question is for the documents themselves, and on which subject; "" means all.
func catalogueAsked(line string) (subject string, ok bool) {
	m := asksCatalogue.FindStringSubmatch(line)
	if m == nil {
		return "", false
	}
	return strings.TrimSpace(m[1]), true
}

// catalogue lists documents: those about the subject of the question, if it names one, best first.
func (a *Answerer) catalogue(ctx context.Context, t state.Task) (string, error) {
	subject, _ := catalogueAsked(strings.Join(plainWords(t.Question), " "))
	var files []Listed
	if a.Files != nil {
		var err error
		if files, err = a.Files(ctx, subject); err != nil {
			return "", err
		}
	}
	if len(files) == 0 {
		return prompts.Say(prompts.NoDocuments, t.Language), nil
	}
	if subject != "" {
		return listing(prompts.CatalogueAbout, files, t.Language), nil
	}
	return listing(prompts.Catalogue, files, t.Language), nil
}

// listing returns the lines of an answer that name documents.
func listing(opening prompts.Situation, files []Listed, language string) string {
	out := prompts.Say(opening, language)
	for _, f := range files[:min(len(files), maxListed)] {
		out += "\n- " + readable.Line(f.Source)
		if title := readable.Line(f.Title); title != "" && !strings.Contains(f.Source, title) {
			out += ": " + title
		}
	}
	if more := len(files) - maxListed; more > 0 {
		out += "\n- " + prompts.More(more, language)
	}
	return out
}
