package eval

import (
	"regexp"
	"slices"
	"strings"
)

// PageRank is the rank, from 1, of the first relevant page among the distinct
// pages of a ranking; 0 where none is there. pages may repeat: each counts
// where it stands first.
func PageRank(pages, relevant []string) int {
	return 1 + slices.IndexFunc(distinct(pages), func(p string) bool { return slices.Contains(relevant, p) })
}

// distinct keeps the first of each value.
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

// KeywordShare is the share of keywords that an answer holds, 0 to 1, without
// regard to case and runs of white space. A short number (up to four digits,
// points included) counts only where it stands alone: 10 is not in 100, nor 5
// in 4.5. ok is false where no keywords are expected.
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
	alone := regexp.MustCompile(`(^|[^\pL\d.,])` + regexp.QuoteMeta(keyword) + `([^\d.,]|[.,](\D|$)|$)`) // 4.8 goes on, "in 4." ends
	return alone.MatchString(answer)
}

// Mean is the mean of values; 0 of none.
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
