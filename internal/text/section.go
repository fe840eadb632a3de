package text

import (
	"regexp"
	"strings"
)

// sectionWords are the words before the number of a section, in English, German, Polish and Vietnamese.
const sectionWords = `(?:§+|(?:clause|section|article|paragraph|chapter|artikel|abschnitt|paragraf\p{L}*|ziffer|kapitel|klauzul\p{L}+|artyku\p{L}+|punk\p{L}+|rozdzia\p{L}+|ustęp\p{L}*|` +
	`(?:sec|art|pkt|ust|rozdz|abs)\.|điều|khoản|mục|chương)[\s\x{a0}])[\s\x{a0}]*`

var (
	sectionAsked  = regexp.MustCompile(`(?i)(?:^|[\s(])` + sectionWords + `(\d+(?:\.\d+)*\p{Ll}?)(?:[^\p{L}\d]|$)`)
	numberedLine  = regexp.MustCompile(`(?im)^[ \t#>*]*(?:` + sectionWords + `)?(\d+(?:\.\d+)*\p{Ll}?)(?:[.):*]*[\s\x{a0}]|[.):*]*$)`)
	sectionPrefix = regexp.MustCompile(`(?i)` + sectionWords)
)

// SectionAsked returns the number of the section that a question asks for, "3.2" for "clause 3.2" or "§ 3.2", and the
// question without it; "" if it asks for none.
func SectionAsked(question string) (number, rest string) {
	m := sectionAsked.FindStringSubmatchIndex(question)
	if m == nil {
		return "", question
	}
	return strings.ToLower(question[m[2]:m[3]]), question[:m[0]] + " " + question[m[3]:]
}

// Section is a section that begins with a line with its number.
type Section struct {
	Start, End int    // in bytes of the text; it ends where one begins that is no part of it
	Number     string // such as "3.2"
	Named      bool   // by a word or sign, such as "Article" or "§"
}

// Sections returns the sections of a text that begin with a number. A number alone needs a dot, a bracket or
// the mark of a heading: "5 euros" is no section.
func Sections(s string) []Section {
	var out []Section
	for _, m := range numberedLine.FindAllStringSubmatchIndex(s, -1) {
		before, number, after := s[m[0]:m[2]], s[m[2]:m[3]], s[m[3]:m[1]]
		named := sectionPrefix.MatchString(before)
		if named || strings.Contains(before, "#") || strings.Contains(number, ".") || strings.ContainsAny(after, ".):") {
			out = append(out, Section{m[0], len(s), strings.ToLower(number), named})
		}
	}
	for i := range out {
		for _, next := range out[i+1:] {
			if !out[i].Holds(next.Number) {
				out[i].End = next.Start
				break
			}
		}
	}
	return out
}

// Holds reports whether a section is another one or a part of it, as 3.2 holds 3.2.1.
func (s Section) Holds(number string) bool {
	return number == s.Number || strings.HasPrefix(number, s.Number+".")
}
