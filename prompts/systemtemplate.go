package prompts

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Placeholders of a [SystemTemplate]. PlaceContext is required, exactly once.
const (
	PlaceContext = "{context}" // the numbered sources
	PlaceSummary = "{summary}" // the summary of the conversation; without this placeholder it goes above the question
	PlaceRefusal = "{refusal}" // the sentence for questions that the sources do not answer: see [Refusal]
)

// MaxSystemTemplate is the maximum size of a [SystemTemplate] in bytes.
const MaxSystemTemplate = 64 << 10

// ErrSystemTemplate is the error of a text that cannot be a [SystemTemplate].
var ErrSystemTemplate = errors.New("invalid system prompt")

// SystemTemplate is a custom system prompt for [Generate]. The rules for citations and
// refusals and against prompt injection are added below it. The zero value is the
// built-in prompt.
type SystemTemplate struct{ text string }

// ParseSystemTemplate parses a text with the Place… placeholders. Its errors match
// [ErrSystemTemplate] and say what to change.
func ParseSystemTemplate(text string) (SystemTemplate, error) {
	switch n := strings.Count(text, PlaceContext); {
	case len(text) > MaxSystemTemplate:
		return SystemTemplate{}, fmt.Errorf("%w: it has %d bytes; the maximum is %d", ErrSystemTemplate, len(text), MaxSystemTemplate)
	case !utf8.ValidString(text):
		return SystemTemplate{}, fmt.Errorf("%w: it is not UTF-8; save it as UTF-8", ErrSystemTemplate)
	case n == 0:
		return SystemTemplate{}, fmt.Errorf("%w: write %s at the place for the sources", ErrSystemTemplate, PlaceContext)
	case n > 1:
		return SystemTemplate{}, fmt.Errorf("%w: it contains %s %d times; keep one", ErrSystemTemplate, PlaceContext, n)
	}
	return SystemTemplate{text: strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))}, nil
}

// render renders p in a language, with s as the system prompt.
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
