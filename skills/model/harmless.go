package model

import (
	"regexp"
	"strings"

	"example.com/ragflow/search/text"
)

// What a viewer of Markdown would load, run or follow.
var (
	picture    = regexp.MustCompile(`!\[([^\]\n]*)\](?:\([^)\n]*\)?|\[[^\]\n]*\])?`)
	linkInline = regexp.MustCompile(`\[([^\[\]\n]*)\]\(\s*<?([^)\s>]*)>?[^)\n]*\)?`)
	linkByName = regexp.MustCompile(`\[([^\[\]\n]+)\]\[[^\[\]\n]*\]`)
	definition = regexp.MustCompile(`(?m)^[ >\t]*\[[^\]\n]+\]:[ \t]*\S.*$\n?`)
	angled     = regexp.MustCompile(`<((?:[A-Za-z][A-Za-z0-9+.-]{1,31}):[^<>\s]*)>`)
	markup     = regexp.MustCompile(`(\\*)<([A-Za-z/!?])`)
	webAddress = regexp.MustCompile(`(?i)^(?:https?://|mailto:)`)
)

// harmless makes an answer that a model wrote fit to be shown by any viewer of
// Markdown: it shows no image, runs no HTML and hides no address behind other
// words, because a document may have talked the model into it. Pictures leave
// their text; links their text and, of web addresses, the address for reading;
// tags become the text they are. Addresses become inline code, and one that is not known
// becomes unknown: it may carry away what the model was shown. Blocks of code stay.
func harmless(answer string, known func(address string) bool, unknown string) string {
	var b strings.Builder
	at := 0
	for _, s := range text.Sentences(answer) {
		raw := answer[s.Start:s.End]
		if strings.HasPrefix(raw, "```") || strings.HasPrefix(raw, "~~~") {
			b.WriteString(disarmed(answer[at:s.Start]) + raw)
			at = s.End
		}
	}
	b.WriteString(disarmed(answer[at:]))
	return strings.TrimSpace(text.QuoteAddresses(b.String(), known, unknown))
}

// disarmed is harmless for text without blocks of code. What one rule uncovers
// the next round takes; rounds end, for each makes the text shorter or changes
// nothing.
func disarmed(s string) string {
	for range maxRounds {
		before := s
		s = definition.ReplaceAllString(s, "")
		s = picture.ReplaceAllString(s, "$1")
		s = linkInline.ReplaceAllStringFunc(s, func(m string) string {
			p := linkInline.FindStringSubmatch(m)
			if webAddress.MatchString(p[2]) && p[1] != p[2] {
				return p[1] + " " + p[2]
			}
			return p[1]
		})
		s = linkByName.ReplaceAllStringFunc(s, func(m string) string {
			if strings.HasPrefix(strings.ToLower(m), "[source") {
				return m // two marks side by side
			}
			return linkByName.FindStringSubmatch(m)[1]
		})
		s = angled.ReplaceAllString(s, "$1")
		if s == before {
			break
		}
	}
	return markup.ReplaceAllStringFunc(s, func(m string) string {
		p := markup.FindStringSubmatch(m)
		if len(p[1])%2 == 1 {
			return m // is text already
		}
		return p[1] + `\<` + p[2]
	})
}

// maxRounds bounds how deep links and images may be nested.
const maxRounds = 8
