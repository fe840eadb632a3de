package offline

import (
	"slices"
	"strings"
	"unicode"

	"example.com/ragflow/state"
)

// What a passage and a statement gain that hold a sign asked about, which is no word and
// so found by none: "the ? operator", "&str".
const (
	symbolInText    = 0.3
	symbolInHeading = 0.4 // beside that
	symbolStatement = 0.4
)

// symbols are the signs that a question asks about.
func symbols(question string) []string {
	fields := strings.Fields(question)
	var out []string
	for i, field := range fields {
		quoted := strings.ContainsAny(field[:1], "`'\"“")
		sign := strings.Trim(field, "`'\"“”")
		if !quoted || i == len(fields)-1 {
			if rest := strings.TrimRight(sign, ".,;:?!`'\"”"); rest != "" {
				sign = rest
			}
		}
		alone := !strings.ContainsFunc(sign, letterOrNumber)
		switch {
		case sign == "", i == 0, alone && !quoted && (i == len(fields)-1 || slices.Contains([]string{"-", "–", "—", "&", "/", "+", "…", "..."}, sign)):
		case alone, strings.ContainsAny(sign[:1], "&*@#") && letterOrNumber(rune(sign[len(sign)-1])), strings.HasSuffix(sign, "++"), strings.HasSuffix(sign, "#"):
			out = append(out, sign)
		}
	}
	return out
}

func letterOrNumber(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// holdsSymbol reports whether a sign stands by itself in a text, or as code.
func holdsSymbol(s, sign string) bool {
	for from := 0; ; {
		i := strings.Index(s[from:], sign)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(sign)
		if (i == 0 || strings.IndexByte(" \n`\"'(<", s[i-1]) >= 0) && (end == len(s) || strings.IndexByte(" \n`\"'),.;:>", s[end]) >= 0) {
			return true
		}
		from = i + 1
	}
}

// symbolGain is what a passage gains that holds the signs asked about.
func symbolGain(signs []string, c state.Chunk, p *passage) float64 {
	gain := 0.0
	for _, sign := range signs {
		if holdsSymbol(c.Text, sign) {
			gain = max(gain, symbolInText)
		}
		for _, h := range append(slices.Clone(p.headings), c.Headings...) {
			if holdsSymbol(h, sign) {
				gain = symbolInText + symbolInHeading
			}
		}
	}
	return gain
}
