package sanitize

import (
	"regexp"
	"strings"

	"example.com/ragflow/search/text"
)

// address is what viewers of Markdown make clickable by itself: addresses with a scheme,
// those that begin with www., and mail addresses. Some viewers take a bar or a backtick for a
// part of the name where no letter follows it.
var address = regexp.MustCompile(`(?:(?i:[a-z][a-z0-9+.-]*://|www\.|mailto:)(?:[^\s<>"'` + "`" + `()\\\]|\x00]|\([^\s<>"'` + "`" + `()\\\]|\x00]*\))+|\w(?:[\w.!#$%&'*+/=?^{}~-]*|[\w.!#$%&'*+/=?^{}~|` + "`" + `-]*[|` + "`" + `][.!#$%&'*+/=?^{}~-]*)@[\w-]+(?:\.[\w-]+)+)`)

// Addresses returns where the addresses of a text stand that viewers of Markdown make
// clickable by themselves, without the punctuation behind them.
func Addresses(s string) []text.Span {
	var out []text.Span
	for _, at := range address.FindAllStringIndex(s, -1) {
		out = append(out, text.Span{Start: at[0], End: at[0] + len(strings.TrimRight(s[at[0]:at[1]], ".,;:!?*_~"))})
	}
	return out
}
