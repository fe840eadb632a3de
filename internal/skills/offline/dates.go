package offline

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// date is a day, a month or a year; month and day are 0 if they are not known. The zero date is unknown.
type date struct {
	year, month, day int
	valid            bool // from when on the document is valid, as it says; else the date of the document
}

// String formats a date as in ISO 8601: "2026-01-31", "2026-01" or "2026".
func (d date) String() string {
	out := strconv.Itoa(d.year)
	for _, n := range []int{d.month, d.day} {
		if n == 0 {
			break
		}
		out += fmt.Sprintf("-%02d", n)
	}
	return out
}

func (d date) known() bool { return d.year > 0 }

// compare orders dates from old to new, unknown ones first.
func (d date) compare(o date) int {
	return cmp.Or(cmp.Compare(d.year, o.year), cmp.Compare(d.month, o.month), cmp.Compare(d.day, o.day))
}

// number orders dates as compare does; it is below daysBound.
func (d date) number() int { return d.year*10000 + d.month*100 + d.day }

const daysBound = 1e8

// Dates in text: 2026-01-31 and 2026-01; 31.1.2026 and 31/1/2026; 31 January 2026 and January 2026; January 31, 2026;
// ngày 31 tháng 1 năm 2026. The groups are named.
const aYear = `(?P<y>(?:19|20)\d\d)`

var (
	datePatterns = []*regexp.Regexp{
		regexp.MustCompile(`\b` + aYear + `[-_](?P<m>\d\d)(?:[-_](?P<d>\d\d))?(?:\D|$)`),
		regexp.MustCompile(`\b(?P<d>\d{1,2})[./] ?(?P<m>\d{1,2})[./] ?` + aYear + `\b`),
		regexp.MustCompile(`(?:ngày (?P<d>\d{1,2}) )?tháng (?P<m>\d{1,2})(?: năm |/)` + aYear + `\b`),
		regexp.MustCompile(`(?:\b(?P<d>\d{1,2})(?:\.|st|nd|rd|th)? (?:of )?)?(?P<name>\p{L}{3,})\.? ` + aYear + `\b`),
		regexp.MustCompile(`(?P<name>\p{L}{3,})\.? (?P<d>\d{1,2})(?:st|nd|rd|th)?, ` + aYear + `\b`),
	}
	yearPattern  = regexp.MustCompile(`(?:^|\D)` + aYear + `(?:\D|$)`)
	validPattern = regexp.MustCompile(`(?:valid|effective) (?:from|since|as of)|as of|gültig (?:ab|seit)|\bstand\b|obowiązuje od|ważn\p{L}+ od|stan na|có hiệu lực (?:kể )?từ`)
)

// months are the first letters of the names of months in English, German and Polish.
var months = [][]string{
	{"jan", "styc"},
	{"feb", "lut"},
	{"mar", "mär"},
	{"apr", "kwie"},
	{"may", "mai", "maj"},
	{"jun", "czer"},
	{"jul", "lip"},
	{"aug", "sier"},
	{"sep", "wrze"},
	{"oct", "okt", "paź"},
	{"nov", "listop"},
	{"dec", "dez", "gru"},
}

func monthOf(name string) int {
	return 1 + slices.IndexFunc(months, func(starts []string) bool {
		return slices.ContainsFunc(starts, func(s string) bool { return strings.HasPrefix(name, s) })
	})
}

// maxDateBytes is the part of a text in which a date is looked for.
const maxDateBytes = 2000

// firstDate returns the first date of a text in lower case; a year alone counts if there is no other.
func firstDate(s string) date {
	s = s[:min(len(s), maxDateBytes)]
	first, found := len(s), date{}
	for _, pattern := range append(slices.Clip(datePatterns), yearPattern) {
		if found.known() && pattern == yearPattern {
			break
		}
		if m := pattern.FindStringSubmatchIndex(s); m != nil && m[0] < first {
			if d := dateIn(s, pattern, m); d.known() {
				first, found = m[0], d
			}
		}
	}
	return found
}

// dateIn returns the date of a match; zero if there is no such day or month.
func dateIn(s string, pattern *regexp.Regexp, match []int) date {
	value := func(group string) string {
		i := pattern.SubexpIndex(group)
		if i < 0 || match[2*i] < 0 {
			return ""
		}
		return s[match[2*i]:match[2*i+1]]
	}
	number := func(group string) int {
		n, _ := strconv.Atoi(value(group))
		return n
	}
	d := date{year: number("y"), month: number("m"), day: number("d")}
	if name := value("name"); name != "" {
		d.month = monthOf(name)
		if d.month == 0 {
			return date{}
		}
	}
	if d.month > 12 || d.day > 31 {
		return date{}
	}
	return d
}

// The date of a document may stand in its first headLines lines, if they are of at most headWords words: a sentence
// mentions other times.
const (
	headLines = 5
	headWords = 8
)

// dateOf returns the date of the document of a passage, the first that there is: from when on it is valid, as the passage
// says; in the first lines of the document; in its metadata; in its path.
func dateOf(c state.Chunk) date {
	lower := strings.ToLower(c.Text)
	if at := validPattern.FindStringIndex(lower); at != nil {
		line, _, _ := strings.Cut(lower[at[1]:], "\n")
		if d := firstDate(line[:min(len(line), 40)]); d.known() {
			d.valid = true
			return d
		}
	}
	head := ""
	if c.Ordinal == 0 {
		lines := strings.SplitN(lower, "\n", headLines+1)
		lines = slices.DeleteFunc(lines[:min(len(lines), headLines)], func(line string) bool { return len(strings.Fields(line)) > headWords })
		head = strings.Join(lines, "\n")
	}
	meta := c.Metadata.Strings()
	for _, s := range []string{head, meta["date"], meta["Date"], strings.ToLower(text.BaseName(c.Source)), path.Dir(c.Source)} {
		if d := firstDate(s); d.known() {
			return d
		}
	}
	return date{}
}
