package prompts

import (
	"cmp"
	"math"
	"regexp"
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
	Custom   Set
}

// Render renders the prompt. The rubric is in English for every language.
func (p Judge) Render(language string) Rendered { return p.Custom.render(nameJudge, language, p) }

// Scores are the scores of an answer by aspect, from 0 to 1: the model's scores divided
// by 10. An aspect that could not be parsed is missing.
type Scores map[string]float64

var (
	aspectLine = regexp.MustCompile(`(?im)^[^\pL\n]*(correctness|relevance|completeness|coherence)\b[\s*_` + "`" + `]*(?:\([^)\n]*\))?[\s*_` + "`" + `]*[:=–—-]+[ \t*_` + "`" + `]*([^\n]*)$`)
	scoreText  = regexp.MustCompile(`(?i)^(\d+(?:[.,]\d+)?)[*_` + "`" + `]*(?:\s*(%)|\s*(?:/|out of|of)\s*[*_]*(\d+)\b)?(.?)`)
)

// ParseJudge parses scores as models write them: 8, 8.5, 8,5, 8/10, 4/5, 80%,
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
	value, err := share(m[1], m[2], cmp.Or(m[3], "10"))
	return math.Round(value*1000) / 1000, err == nil
}
