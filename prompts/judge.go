package prompts

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const nameJudge = "judge"

// Judge is the prompt that asks for four scores of an answer.
type Judge struct {
	Question string
	Expected string   // expected answer, or ""
	Answer   string   // answer to grade
	Quotes   []string // cited passages
	Boundary string
}

// Render renders the prompt. The rubric is in English for every language.
func (p Judge) Render(language string) Rendered { return render(nameJudge, language, p) }

// Aspects returns the aspects that [Judge] asks scores for, in the order of the prompt.
func Aspects() []string { return []string{"correctness", "relevance", "completeness", "coherence"} }

// Scores are the scores of an answer by aspect, from 0 to 1: the model's scores divided
// by 10. An aspect that could not be parsed is missing.
type Scores map[string]float64

var (
	aspectLine = regexp.MustCompile(`(?im)^[^\pL\n]*(correctness|relevance|completeness|coherence)\b[\s*_` + "`" + `]*(?:\([^)\n]*\))?[\s*_` + "`" + `]*[:=–—-]+[ \t*_` + "`" + `]*([^\n]*)$`)
	scoreText  = regexp.MustCompile(`(?i)^(\d+(?:[.,]\d+)?|[a-z]+)[*_` + "`" + `]*(?:\s*(%)|\s*(?:/|out of|of)\s*[*_]*(\d+|ten)\b)?(.?)`)
)

// ParseJudge parses scores as models write them: 8, 8.5, 8,5, 8/10, 4/5, 80%, eight,
// with other text around. The first line of each aspect counts. Ranges, numbers above
// 10 and other words are ignored. If there is no score, it returns a [*ParseError].
func ParseJudge(reply string) (Scores, error) {
	scores := Scores{}
	seen := map[string]bool{}
	for _, m := range aspectLine.FindAllStringSubmatch(reply, -1) {
		aspect := strings.ToLower(m[1])
		if seen[aspect] {
			continue
		}
		seen[aspect] = true
		if score, ok := parseScore(m[2]); ok {
			scores[aspect] = score
		}
	}
	if len(scores) == 0 {
		return nil, &ParseError{Prompt: nameJudge, Want: "CORRECTNESS: and a number from 0 to 10"}
	}
	return scores, nil
}

func parseScore(s string) (float64, bool) {
	m := scoreText.FindStringSubmatch(s)
	if m == nil || strings.ContainsAny(m[4], "-–") { // a range such as 7-8 is no score
		return 0, false
	}
	value, ok := number(m[1])
	if !ok {
		return 0, false
	}
	of := 10.0
	if m[3] != "" {
		if of, ok = number(m[3]); !ok {
			return 0, false
		}
	}
	if m[2] == "%" {
		of = 100
	}
	value /= of
	if math.IsNaN(value) || value < 0 || value > 1 {
		return 0, false
	}
	return math.Round(value*1000) / 1000, true
}

// number parses a number in digits or as an English word up to ten.
func number(s string) (float64, bool) {
	words := []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	if i := slices.Index(words, strings.ToLower(s)); i >= 0 {
		return float64(i), true
	}
	value, err := strconv.ParseFloat(strings.Replace(s, ",", ".", 1), 64)
	return value, err == nil && !math.IsInf(value, 0) && s[0] >= '0' && s[0] <= '9'
}
