package offline

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

const aYear = `(?P<y>(?:19|20)\d\d)`

var (
	// Dates in text: 2026-01-31 and 2026-01; 31.1.2026 and 31/1/2026; 31 January 2026 and January 2026; January 31, 2026;
	// ngày 31 tháng 1 năm 2026; and a year alone. The groups are named.
	datePatterns = []*regexp.Regexp{
		regexp.MustCompile(`\b` + aYear + `[-_](?P<m>\d\d)(?:[-_](?P<d>\d\d))?(?:\D|$)`),
		regexp.MustCompile(`\b(?P<d>\d{1,2})[./] ?(?P<m>\d{1,2})[./] ?` + aYear + `\b`),
		regexp.MustCompile(`(?:ngày (?P<d>\d{1,2}) )?tháng (?P<m>\d{1,2})(?: năm |/)` + aYear + `\b`),
		regexp.MustCompile(`(?:\b(?P<d>\d{1,2})(?:\.|st|nd|rd|th)? (?:of )?)?(?P<name>\p{L}{3,})\.? ` + aYear + `\b`),
		regexp.MustCompile(`(?P<name>\p{L}{3,})\.? (?P<d>\d{1,2})(?:st|nd|rd|th)?, ` + aYear + `\b`),
		regexp.MustCompile(`(?:^|\D)` + aYear + `(?:\D|$)`),
	}
	validPattern = regexp.MustCompile(`(?:valid|effective) (?:from|since|as of)|as of|gültig (?:ab|seit)|\bstand\b|obowiązuje od|ważn\p{L}+ od|stan na|có hiệu lực (?:kể )?từ`)

	// The first letters of the names of months in English, German and Polish.
	months = strings.Fields("jan|styc feb|lut mar|mär apr|kwie may|mai|maj jun|czer jul|lip aug|sier sep|wrze oct|okt|paź nov|listop dec|dez|gru")
)

// monthOf returns the number of a month; 0 if there is none of that name.
func monthOf(name string) int {
	begins := func(start string) bool { return strings.HasPrefix(name, start) }
	return 1 + slices.IndexFunc(months, func(starts string) bool { return slices.ContainsFunc(strings.Split(starts, "|"), begins) })
}

// maxDateBytes is the part of a text in which a date is looked for.
const maxDateBytes = 2000

// firstDate returns the first date of a text in lower case as in ISO 8601, such as "2026-01-31", "2026-01" or "2026";
// "" without one. A year alone counts if there is no other. Dates are in the order of their strings.
func firstDate(s string) (found string) {
	s = s[:min(len(s), maxDateBytes)]
	first := len(s)
	for i, pattern := range datePatterns {
		at := pattern.FindStringSubmatchIndex(s)
		if at == nil || at[0] >= first || found != "" && i == len(datePatterns)-1 {
			continue
		}
		group := func(name string) string { return string(pattern.ExpandString(nil, "${"+name+"}", s, at)) }
		month, _ := strconv.Atoi(group("m")) // 0 if it is not there
		day, _ := strconv.Atoi(group("d"))
		if name := group("name"); name != "" {
			month = monthOf(name)
			if month == 0 {
				continue
			}
		}
		if month > 12 || day > 31 {
			continue
		}
		first, found = at[0], group("y")
		for _, n := range []int{month, day} {
			if n == 0 {
				break
			}
			found += fmt.Sprintf("-%02d", n)
		}
	}
	return found
}

// The date of a document may stand in its first headLines lines, if they are of at most headWords words: a sentence
// mentions other times.
const (
	headLines = 5
	headWords = 8
)

// dateOf returns the date of the document of a passage, the first that there is: from when on it is valid, as the passage
// says; in the first lines of the document; in its metadata; in its path. It is "" if none is known.
func dateOf(c state.Chunk) string {
	lower := strings.ToLower(c.Text)
	valid, head := "", ""
	if at := validPattern.FindStringIndex(lower); at != nil {
		valid, _, _ = strings.Cut(lower[at[1]:], "\n")
	}
	if c.Ordinal == 0 {
		lines := strings.SplitN(lower, "\n", headLines+1)
		lines = slices.DeleteFunc(lines[:min(len(lines), headLines)], func(line string) bool { return len(strings.Fields(line)) > headWords })
		head = strings.Join(lines, "\n")
	}
	meta := c.Metadata.Strings()
	for _, s := range []string{valid[:min(len(valid), 40)], head, meta["date"], meta["Date"], strings.ToLower(text.BaseName(c.Source)), path.Dir(c.Source)} {
		if d := firstDate(s); d != "" {
			return d
		}
	}
	return ""
}
