package sanitize

import (
	"regexp"
	"strings"

	"example.com/ragflow/internal/text"
)

// address matches text that viewers of Markdown make clickable: addresses with a scheme, those
// that begin with www., and mail addresses. Some viewers accept a bar or a backtick as part of
// the name if no letter follows it.
var address = regexp.MustCompile(`(?:(?i:[a-z][a-z0-9+.-]*://|www\.|mailto:)(?:[^\s<>"'` + "`" + `()\\\]|\x00]|\([^\s<>"'` + "`" + `()\\\]|\x00]*\))+|\w(?:[\w.!#$%&'*+/=?^{}~-]*|[\w.!#$%&'*+/=?^{}~|` + "`" + `-]*[|` + "`" + `][.!#$%&'*+/=?^{}~-]*)@[\w-]+(?:\.[\w-]+)+)`)

// Addresses returns the spans of the addresses in a text that viewers of Markdown make
// clickable, without trailing punctuation.
func Addresses(s string) []text.Span {
	var out []text.Span
	for _, at := range address.FindAllStringIndex(s, -1) {
		out = append(out, text.Span{Start: at[0], End: at[0] + len(strings.TrimRight(s[at[0]:at[1]], ".,;:!?*_~"))})
	}
	return out
}
