package prompts

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// What a [SystemTemplate] may hold. The sources have to stand in it, once.
const (
	PlaceContext = "{context}" // the numbered sources
	PlaceSummary = "{summary}" // of the conversation so far; where it is missing, the summary stands above the question
	PlaceRefusal = "{refusal}" // the sentence for a question that the sources do not answer: see [Refusal]
)

// MaxSystemTemplate is how many bytes a [SystemTemplate] can have.
const MaxSystemTemplate = 64 << 10

// ErrSystemTemplate tells that a text cannot be a [SystemTemplate].
var ErrSystemTemplate = errors.New("not a system prompt to answer with")

// SystemTemplate is a system prompt of a person's own for [Generate]. The rules
// that citations and refusals are found by, and the one that keeps documents
// from giving orders, are put below it. The zero value is the built-in prompt.
type SystemTemplate struct{ text string }

// ParseSystemTemplate takes a text with the places that are named Place… in it.
// Its errors match [ErrSystemTemplate] and say what to change.
func ParseSystemTemplate(text string) (SystemTemplate, error) {
	switch n := strings.Count(text, PlaceContext); {
	case len(text) > MaxSystemTemplate:
		return SystemTemplate{}, fmt.Errorf("%w: %d bytes; it can have %d", ErrSystemTemplate, len(text), MaxSystemTemplate)
	case !utf8.ValidString(text):
		return SystemTemplate{}, fmt.Errorf("%w: it is not UTF-8; save it as UTF-8", ErrSystemTemplate)
	case n == 0:
		return SystemTemplate{}, fmt.Errorf("%w: write %s where the sources shall stand", ErrSystemTemplate, PlaceContext)
	case n > 1:
		return SystemTemplate{}, fmt.Errorf("%w: %s stands in it %d times; keep one", ErrSystemTemplate, PlaceContext, n)
	}
	return SystemTemplate{text: strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))}, nil
}

// render writes the prompt of p in a language, with its system prompt made of s.
func (s SystemTemplate) render(p Generate, language string) Rendered {
	t := parsed()[file("generate", language)]
	summary := execute(t, "summary", p)
	system := strings.NewReplacer(
		PlaceContext, execute(t, "sources", p), PlaceSummary, summary, PlaceRefusal, p.Refusal,
	).Replace(s.text)
	user := execute(t, "question", p)
	if summary != "" && !strings.Contains(s.text, PlaceSummary) {
		user = summary + "\n\n" + user
	}
	return Rendered{System: system + "\n\n" + execute(t, "rules", p), User: user}
}
