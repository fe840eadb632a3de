package text

import (
	"regexp"
	"strings"
)

// address matches inline code, which stays, and what viewers of Markdown make clickable by
// itself: addresses with a scheme, those that begin with www., and mail addresses.
var address = regexp.MustCompile("`+[^`\n]*`+" + `|(?i:\b[a-z][a-z0-9+.-]*://|\bwww\.|\bmailto:)[^\s<>"'` + "`" + `)\]|]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+`)

// QuoteAddresses puts addresses in Markdown text without blocks of code into inline code, so
// that no viewer makes them clickable. Addresses that are not known are replaced by
// unknown; a nil known knows all.
func QuoteAddresses(s string, known func(address string) bool, unknown string) string {
	return address.ReplaceAllStringFunc(s, func(found string) string {
		if found[0] == '`' {
			return found
		}
		plain := strings.TrimRight(found, ".,;:!?*_~")
		end := found[len(plain):]
		if known != nil && !known(plain) {
			return unknown + end
		}
		return "`" + plain + "`" + end
	})
}
