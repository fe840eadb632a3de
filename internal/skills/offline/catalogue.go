package offline

import (
	"context"
	"regexp"
	"strings"

	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/skills/readable"
	"example.com/ragflow/state"
)

// Listed is a document of the catalogue.
type Listed struct{ Title, Source string }

// maxListed is the number of documents that an answer names.
const maxListed = 20

// Questions for the documents themselves, in English, German, Polish and Vietnamese. The last group is the subject.
// They are strict, like talkPatterns.
var (
	asksCatalogue = regexp.MustCompile(wholeTurn(`(?:what|which) (?:documents|files)(?: (?:do you have|do you know|have you (?:got|read|indexed)|are there|do i have))?|` +
		`(?:please )?(?:list|show)(?: me)?(?: all)?(?: (?:my|your|the|of the))? (?:documents|files)|` +
		`welche (?:dokumente|dateien|unterlagen)(?: (?:hast du|haben sie|habe ich|kennst du|gibt es|sind (?:da|vorhanden)))?|` +
		`(?:zeige?|liste)(?: mir)?(?: alle)?(?: (?:meine|deine|die))? (?:dokumente|dateien|unterlagen)(?: auf)?|` +
		`jakie (?:(?:masz|mam|są) )?(?:dokumenty|pliki)(?: (?:masz|mam|są))?|(?:pokaż|wymień)(?: (?:mi|wszystkie|moje))* (?:dokumenty|pliki)|` +
		`(?:bạn )?có (?:những )?(?:tài liệu|tệp|tập tin) (?:nào|gì)|(?:liệt kê|cho xem)(?: (?:các|tất cả|mọi))* (?:tài liệu|tệp|tập tin)`))
	asksCatalogueAbout = regexp.MustCompile(wholeTurn(`(?:(?:what|which) (?:documents|files)(?: (?:are|do you have|do i have|are there))? about|do you have(?: any)? (?:documents|files) about|` +
		`(?:list|show)(?: me)?(?: all)?(?: (?:my|your|the))? (?:documents|files) about|` +
		`welche (?:dokumente|dateien|unterlagen)(?: (?:gibt es|hast du|haben sie|handeln|sind))? (?:über|zu|zum thema|von)|` +
		`(?:jakie|które) (?:(?:masz|są) )?(?:dokumenty|pliki)(?: (?:masz|są|mówią))? (?:o|na temat)|(?:jakie|które) (?:dokumenty|pliki) dotyczą|` +
		`(?:những )?(?:tài liệu|tệp|tập tin) nào (?:nói )?về|(?:bạn )?có (?:những )?(?:tài liệu|tệp|tập tin) (?:nào|gì) (?:nói )?về) ((?:\S+ ?){1,5})`))
)

// catalogueAsked reports whether a question is for the documents themselves, and on which subject; "" means all.
func catalogueAsked(line string) (subject string, ok bool) {
	if m := asksCatalogueAbout.FindStringSubmatch(line); m != nil {
		return strings.TrimSpace(m[1]), true
	}
	return "", asksCatalogue.MatchString(line)
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
	out := prompts.Say(prompts.Catalogue, t.Language)
	if subject != "" {
		out = prompts.Say(prompts.CatalogueAbout, t.Language)
	}
	for _, f := range files[:min(len(files), maxListed)] {
		out += "\n- " + readable.Line(f.Source)
		if title := readable.Line(f.Title); title != "" && !strings.Contains(f.Source, title) {
			out += ": " + title
		}
	}
	if more := len(files) - maxListed; more > 0 {
		out += "\n- " + prompts.More(more, t.Language)
	}
	return out, nil
}
