package text

import (
	"strings"
	"unicode"
)

// maxReference bounds a reference in bytes, its brackets included.
const maxReference = 60

// reference returns the length of the reference in brackets that s begins with,
// such as (Section 2.2), [3], (see Fig. 4) or (Hill, 2020); 0 without one. It says
// where what stands before it comes from, and nothing by itself.
func reference(s string) int {
	closing := map[byte]byte{'(': ')', '[': ']'}
	if s == "" || closing[s[0]] == 0 {
		return 0
	}
	n := strings.IndexByte(s[:min(len(s), maxReference)], closing[s[0]])
	if n < 0 {
		return 0
	}
	inner := strings.TrimSpace(s[1:n])
	if strings.HasPrefix(s[n+1:], "(") || inner == "" || strings.ContainsAny(inner[len(inner)-1:], ".?!") { // a link; a sentence
		return 0
	}
	if refers(inner) {
		return n + 1
	}
	return 0
}

// refers reports whether the text between brackets names a place or a work.
func refers(inner string) bool {
	if strings.Trim(inner, "0123456789.,;–- ") == "" {
		return strings.ContainsAny(inner, "0123456789")
	}
	if strings.IndexFunc(inner, unicode.IsDigit) < 0 {
		return false
	}
	first, _, _ := strings.Cut(inner, " ")
	switch strings.TrimRight(strings.ToLower(first), ".,") {
	case "section", "sections", "sec", "sect", "see", "cf", "fig", "figs", "figure", "figures", "table", "tables", "tab", "eq", "equation",
		"chapter", "ch", "appendix", "app", "p", "pp", "page", "pages", "§", "§§", "art", "article", "step", "note", "ref", "refs", "rfc",
		"zob", "rozdz", "rozdział", "rys", "tabela", "str", "pkt", "por",
		"siehe", "vgl", "abb", "abschnitt", "kap", "kapitel", "s",
		"voir", "chap", "chapitre", "tableau", "véase", "ver", "sección", "pág", "cap", "tabla", "figura",
		"xem", "mục", "điều", "khoản", "chương", "bảng", "hình", "tr":
		return true
	}
	year := strings.TrimRight(inner, "abc") // (Hill and Roy, 2020a)
	return unicode.IsUpper([]rune(inner)[0]) && len(year) > 5 && digits(year[len(year)-4:]) && strings.HasPrefix(year[len(year)-6:], ", ")
}
