package eval

import (
	"regexp"
	"slices"
	"strings"
)

// PageRank returns the rank, from 1, of the first relevant page among the distinct pages of a ranking; 0 if
// there is none. Repeated pages count once, at their first position.
func PageRank(pages, relevant []string) int {
	return 1 + slices.IndexFunc(distinct(pages), func(p string) bool { return slices.Contains(relevant, p) })
}

// distinct removes repeated values.
func distinct(values []string) []string {
	seen := make(map[string]bool, len(values))
	var out []string
	for _, v := range values {
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}

// KeywordShare returns the share of keywords in an answer, 0 to 1, regardless of case and white space. A
// short number (up to four digits, points included) must be a separate number: 10 is not in 100, nor 5 in
// 4.5. ok is false if no keywords are expected.
func KeywordShare(answer string, keywords []string) (share float64, ok bool) {
	if len(keywords) == 0 {
		return 0, false
	}
	answer = plain(answer)
	found := 0
	for _, k := range keywords {
		if holds(answer, plain(k)) {
			found++
		}
	}
	return float64(found) / float64(len(keywords)), true
}

func plain(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

var shortNumber = regexp.MustCompile(`^\d[\d.,]{0,4}$`)

func holds(answer, keyword string) bool {
	if !shortNumber.MatchString(keyword) {
		return strings.Contains(answer, keyword)
	}
	alone := regexp.MustCompile(`(^|[^\pL\d.,])` + regexp.QuoteMeta(keyword) + `([^\d.,]|[.,](\D|$)|$)`) // 4.8 is longer, "in 4." is not
	return alone.MatchString(answer)
}

// Mean returns the mean of values; 0 without values.
func Mean(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
