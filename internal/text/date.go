package text

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const aYear = `(?P<y>(?:19|20)\d\d)`

// Dates in text: 2026-01-31 and 2026-01; 31.1.2026 and 31/1/2026; 31 January 2026 and January 2026; January 31, 2026;
// ngày 31 tháng 1 năm 2026; and a year alone. The groups are named.
var datePatterns = []*regexp.Regexp{
	regexp.MustCompile(`\b` + aYear + `[-_](?P<m>\d\d)(?:[-_](?P<d>\d\d))?(?:\D|$)`),
	regexp.MustCompile(`\b(?P<d>\d{1,2})[./] ?(?P<m>\d{1,2})[./] ?` + aYear + `\b`),
	regexp.MustCompile(`(?:ngày (?P<d>\d{1,2}) )?tháng (?P<m>\d{1,2})(?: năm |/)` + aYear + `\b`),
	regexp.MustCompile(`(?:\b(?P<d>\d{1,2})(?:\.|st|nd|rd|th)? (?:of )?)?(?P<name>\p{L}{3,})\.? ` + aYear + `\b`),
	regexp.MustCompile(`(?P<name>\p{L}{3,})\.? (?P<d>\d{1,2})(?:st|nd|rd|th)?, ` + aYear + `\b`),
	regexp.MustCompile(`(?:^|\D)` + aYear + `(?:\D|$)`),
}

// months are the first letters of the names of months in English, German and Polish.
const months = "jan|styc feb|lut mar|mär apr|kwie may|mai|maj jun|czer jul|lip aug|sier sep|wrze oct|okt|paź nov|listop dec|dez|gru"

// monthOf returns the number of a month; 0 if there is none of that name.
func monthOf(name string) int {
	begins := func(start string) bool { return strings.HasPrefix(name, start) }
	return 1 + slices.IndexFunc(strings.Fields(months), func(starts string) bool { return slices.ContainsFunc(strings.Split(starts, "|"), begins) })
}

// maxDateBytes is the part of a text in which a date is looked for.
const maxDateBytes = 2000

// FirstDate returns the first date of a text in lower case as in ISO 8601, such as "2026-01-31", "2026-01" or "2026";
// "" without one. A year alone counts if there is no other. Dates are in the order of their strings.
func FirstDate(s string) (found string) {
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
