package prompts

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// ParseError is the error of a reply in a wrong form.
type ParseError struct {
	Prompt string // name of the prompt
	Want   string // what is missing
}

// Error names the missing part. It does not quote the reply.
func (e *ParseError) Error() string {
	return "the model's reply to " + e.Prompt + " has no " + e.Want
}

// Queries is the reply to [PreRetrieval].
type Queries struct {
	Standalone string // Q1; empty after NONE
	Keywords   string // Q2; may be empty
	Aspect     string // Q3; may be empty
}

// maxWords is the maximum length of a query. Longer lines are ignored.
const maxWords = 64

var (
	queryLine = regexp.MustCompile("(?i)^(?:\\d+[.)])?\\W*q(?:uery|uestion)?\\s*([123])(?:\\s*[:.)-]+|[\"'*_`]+\\s*:)\\s*(.*)$")
	numbered  = regexp.MustCompile(`^\W*([123])[.):]\s+(\S.*)$`)
	noneLine  = regexp.MustCompile(`(?i)^\W*(?:q1\s*[:.)-]+\s*)?none\W*$`)
	scoreLine = regexp.MustCompile("(?i)\\bscore\\b[\\s*_:=\"'`]*(-?\\d*[.,]?\\d+)\\s*(%|/\\s*(\\d+))?")
	// A line with a number only. A whole number above 1 needs a % or /N, because it may
	// be a list label.
	bareScore = regexp.MustCompile("(?m)^[\\s*_\"'`>]*(?:[-•] +)?[*_\"'`]*((?:[01]?[.,]\\d+|[01]|\\d+(?:[.,]\\d+)?))(?:\\s*(%|/\\s*(\\d+)))?[\\s*_\"'`]*$")
	refined   = regexp.MustCompile(`(?i)^[\W\d]*refined(?:\s+(?:query|question))?\b[\s*_"']*[:=]?[\s*_]*(.*)$`)
)

// ParsePreRetrieval parses queries. The first line of each kind counts. Queries of more
// than 64 words are ignored. Small models often use another form, so a JSON object with
// q1 to q3 and a plain list of one to three numbered lines are accepted too.
func ParsePreRetrieval(reply string) (Queries, error) {
	var q Queries
	none := false
	reply = plainLines(reply)
	for line := range strings.Lines(reply) {
		line = strings.TrimSpace(line)
		if noneLine.MatchString(line) {
			none = true
			continue
		}
		m := queryLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		text := unquote(strings.TrimSuffix(m[2], ","))
		if text == "" || noneLine.MatchString(text) || len(strings.Fields(text)) > maxWords {
			continue
		}
		slot := map[string]*string{"1": &q.Standalone, "2": &q.Keywords, "3": &q.Aspect}[m[1]]
		if *slot == "" {
			*slot = text
		}
	}
	if q == (Queries{}) && !none {
		if q = numberedQueries(reply); q != (Queries{}) {
			return q, nil
		}
		return q, &ParseError{Prompt: "pre_retrieval", Want: "Q1: and no NONE"}
	}
	return q, nil
}

// numberedQueries parses a reply that is a numbered list of queries without labels.
func numberedQueries(reply string) (q Queries) {
	slots := []*string{&q.Standalone, &q.Keywords, &q.Aspect}
	n := 0
	for line := range strings.Lines(reply) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		m := numbered.FindStringSubmatch(line)
		if m == nil || n == len(slots) || m[1] != strconv.Itoa(n+1) || len(strings.Fields(m[2])) > maxWords {
			return Queries{}
		}
		*slots[n] = unquote(m[2])
		n++
	}
	return q
}

// plainLines converts a reply that is one JSON object into lines "name: value". Other
// replies are returned unchanged.
func plainLines(reply string) string {
	start, end := strings.IndexByte(reply, '{'), strings.LastIndexByte(reply, '}')
	if start < 0 || end < start {
		return reply
	}
	var object map[string]any
	if json.Unmarshal([]byte(reply[start:end+1]), &object) != nil {
		return reply
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(object)) {
		fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(strings.Fields(fmt.Sprint(object[name])), " "))
	}
	return b.String()
}

// Verdict is the reply to [CheckAndRefine].
type Verdict struct {
	Score   float64 // 0.00–1.00
	Refined string  // may be empty
}

// ParseCheckAndRefine parses a verdict. A score can be written as 0.8, 0,8, 80% or
// 8/10, in a JSON object, or alone on a line. A score below 0 or above 1 is an error.
func ParseCheckAndRefine(reply string) (Verdict, error) {
	var v Verdict
	reply = plainLines(reply)
	m := scoreLine.FindStringSubmatch(reply)
	if m == nil {
		m = bareScore.FindStringSubmatch(reply)
	}
	if m == nil {
		return v, &ParseError{Prompt: "check_and_refine", Want: "SCORE:"}
	}
	score, err := share(m[1], m[2], cmp.Or(m[3], "1"))
	if err != nil {
		return v, &ParseError{Prompt: "check_and_refine", Want: "SCORE: from 0.00 to 1.00"}
	}
	v.Score = math.Floor(score*100+1e-9) / 100 // rounded down: 0.496 must stay below a threshold of 0.50
	for line := range strings.Lines(reply) {
		if m := refined.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			if text := unquote(m[1]); len(strings.Fields(text)) <= maxWords {
				v.Refined = text
			}
			break
		}
	}
	return v, nil
}

// share parses a score as a part of a whole, with 80% of 100. A share that is not from 0
// to 1 is an error.
func share(number, unit, whole string) (float64, error) {
	if unit == "%" {
		whole = "100"
	}
	value, err := strconv.ParseFloat(strings.Replace(number, ",", ".", 1), 64)
	if err != nil {
		return 0, err
	}
	of, err := strconv.ParseFloat(whole, 64)
	if value /= of; err != nil || math.IsNaN(value) || value < 0 || value > 1 {
		return 0, strconv.ErrRange
	}
	return value, nil
}

// ParseSummarizeConversation returns the summary in a reply: without empty lines, and
// cut after the last whole sentence within twice the requested words.
func ParseSummarizeConversation(reply string, words int) (string, error) {
	var kept []string
	n := 0
	for line := range strings.Lines(reply) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		n += len(strings.Fields(line))
		if n > 2*words && len(kept) > 0 {
			break
		}
		kept = append(kept, line)
	}
	text := strings.Join(kept, "\n")
	if fields := strings.Fields(text); len(fields) > 2*words {
		text = strings.Join(fields[:2*words], " ")
		if i := strings.LastIndexAny(text, ".!?"); i > 0 {
			text = text[:i+1]
		}
	}
	if text == "" {
		return "", &ParseError{Prompt: "summarize_conversation", Want: "text"}
	}
	return text, nil
}

// Refused reports whether an answer consists of little more than the refusal sentence
// of [Generate], in any language.
func Refused(answer string) bool {
	plain := letters(answer)
	for _, language := range Languages() {
		refusal := letters(Say(Refusal, language))
		if strings.Contains(plain, refusal) && len(plain) <= 2*len(refusal) {
			return true
		}
	}
	return false
}

// letters keeps letters and digits in lower case, separated by single spaces.
func letters(s string) string {
	s = strings.ReplaceAll(s, "’", "'")
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && !unicode.IsMark(r)
	}), " ")
}

// unquote removes emphasis and quotes around a line.
func unquote(s string) string {
	return strings.TrimSpace(strings.Trim(strings.TrimSpace(s), "\"'`*_“”„"))
}
