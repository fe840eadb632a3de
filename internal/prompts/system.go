package prompts

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Placeholders of a custom system prompt. PlaceContext is required, exactly once.
const (
	PlaceContext = "{context}" // the numbered sources
	PlaceSummary = "{summary}" // the summary of the conversation; without this placeholder it is put above the question
	PlaceRefusal = "{refusal}" // the sentence for questions that the sources do not answer: see [Refusal]
)

// ErrSystem is the error of a text that cannot be a system prompt.
var ErrSystem = errors.New("invalid system prompt")

// WithSystem returns the set with a custom system prompt for [Generate] with the Place… placeholders. The
// rules for citations and refusals and against prompt injection are added below it. Errors match [ErrSystem]
// and say what to change.
func (s Set) WithSystem(text string) (Set, error) {
	switch n := strings.Count(text, PlaceContext); {
	case len(text) > MaxFile:
		return s, fmt.Errorf("%w: it has %d bytes; the maximum is %d", ErrSystem, len(text), MaxFile)
	case !utf8.ValidString(text):
		return s, fmt.Errorf("%w: it is not UTF-8; save it as UTF-8", ErrSystem)
	case n == 0:
		return s, fmt.Errorf("%w: write %s at the place for the sources", ErrSystem, PlaceContext)
	case n > 1:
		return s, fmt.Errorf("%w: it contains %s %d times; keep one", ErrSystem, PlaceContext, n)
	}
	s.system = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	return s, nil
}

// renderSystem renders p in a language with the system prompt of the set.
func (s Set) renderSystem(p Generate, language string) Rendered {
	t := s.template("generate", language)
	summary := execute(t, "summary", p)
	system := strings.NewReplacer(
		PlaceContext, execute(t, "sources", p), PlaceSummary, summary, PlaceRefusal, p.Refusal,
	).Replace(s.system)
	user := execute(t, "question", p)
	if summary != "" && !strings.Contains(s.system, PlaceSummary) {
		user = summary + "\n\n" + user
	}
	return Rendered{System: system + "\n\n" + execute(t, "rules", p), User: user}
}
