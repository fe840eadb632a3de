package prompts

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// MultiQuery is the prompt that asks for N other wordings of a question.
type MultiQuery struct {
	Question string
	N        int
	Boundary string
	Custom   Set
}

// Render renders the prompt. It is in English for every language.
func (p MultiQuery) Render() Rendered { return p.Custom.render("multi_query", "en", p) }

// Hypothetical is the prompt that asks for a passage as a document with the answer could contain it (HyDE,
// arXiv:2212.10496).
type Hypothetical struct {
	Question, Boundary string
	Custom             Set
}

// Render renders the prompt. It is in English for every language.
func (p Hypothetical) Render() Rendered { return p.Custom.render("hyde", "en", p) }

// Decompose is the prompt that asks for the parts of a question.
type Decompose struct {
	Question, Boundary string
	Custom             Set
}

// Render renders the prompt. It is in English for every language.
func (p Decompose) Render() Rendered { return p.Custom.render("decompose", "en", p) }

// Rerank is the prompt that asks for a score for each passage.
type Rerank struct {
	Question string
	Passages []Passage
	Boundary string
	Custom   Set
}

// Render renders the prompt. It is in English for every language.
func (p Rerank) Render() Rendered { return p.Custom.render("rerank", "en", p) }

// Claim is a statement of an answer and the passage that should support it.
type Claim struct {
	N, Passage int // from 1
	Text       string
}

// Verify is the prompt that asks whether passages support statements.
type Verify struct {
	Passages []Passage
	Claims   []Claim
	Boundary string
	Custom   Set
}

// Render renders the prompt. It is in English for every language.
func (p Verify) Render() Rendered { return p.Custom.render("verify", "en", p) }

// Image is the prompt that asks to describe an image in text.
type Image struct {
	Question, Boundary string
	Custom             Set
}

// Render renders the prompt. It is in English for every language.
func (p Image) Render() Rendered { return p.Custom.render("image", "en", p) }

var listItem = regexp.MustCompile(`^\W*\d+[.):]\s*(\S.*)$`)

// ParseMultiQuery returns at most n queries from a JSON array of strings or from
// numbered lines. Queries of more than 64 words are dropped.
func ParseMultiQuery(reply string, n int) ([]string, error) {
	var items, queries []string
	if decodeArray(reply, &items) != nil {
		for line := range strings.Lines(reply) {
			if m := listItem.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
				items = append(items, m[1])
			}
		}
	}
	for _, q := range items {
		q = unquote(strings.Join(strings.Fields(q), " "))
		if words := len(strings.Fields(q)); words > 0 && words <= maxWords && len(queries) < n {
			queries = append(queries, q)
		}
	}
	if len(queries) == 0 {
		return nil, &ParseError{Prompt: "multi_query", Want: "JSON array of queries"}
	}
	return queries, nil
}

// Part is a part of a question.
type Part struct {
	Question   string `json:"question"`
	Dependency *int   `json:"dependency"` // position of an earlier part whose answer it needs; nil: none
}

// MaxParts is the maximum number of parts of a question.
const MaxParts = 4

// ParseDecompose returns two to [MaxParts] parts, or none for a question that asks for
// one thing. A dependency on the part itself or on a later part is an error, so there
// are no cycles.
func ParseDecompose(reply string) ([]Part, error) {
	var parts []Part
	bad := &ParseError{Prompt: "decompose", Want: "JSON array of 2 to 4 questions, each with a dependency on an earlier one or null"}
	if decodeArray(reply, &parts) != nil || len(parts) == 1 || len(parts) > MaxParts {
		return nil, bad
	}
	for i, p := range parts {
		words := len(strings.Fields(p.Question))
		if words == 0 || words > maxWords || p.Dependency != nil && (*p.Dependency < 0 || *p.Dependency >= i) {
			return nil, bad
		}
	}
	return parts, nil
}

// ParseRerank returns n scores from 0 to 1: the model's scores divided by 10.
func ParseRerank(reply string, n int) ([]float64, error) {
	var scores []float64
	bad := &ParseError{Prompt: "rerank", Want: "JSON array with a number from 0 to 10 for each passage"}
	if decodeArray(reply, &scores) != nil || len(scores) != n {
		return nil, bad
	}
	for i := range scores {
		if scores[i] < 0 || scores[i] > 10 {
			return nil, bad
		}
		scores[i] /= 10
	}
	return scores, nil
}

// verdict matches a line such as "2: no". Small models put more between the two, or omit the number.
var verdict = regexp.MustCompile(`(?im)^\W*(?:(\d+)\b.*?)?\b(yes|no)\b`)

// ParseVerify returns n verdicts.
func ParseVerify(reply string, n int) ([]bool, error) {
	holds, known := make([]bool, n), map[int]bool{}
	for _, m := range verdict.FindAllStringSubmatch(reply, -1) {
		i, err := strconv.Atoi(m[1])
		if m[1] == "" && n == 1 {
			i, err = 1, nil
		}
		if err == nil && 1 <= i && i <= n && !known[i] {
			known[i], holds[i-1] = true, strings.EqualFold(m[2], "yes")
		}
	}
	if len(known) != n {
		return nil, &ParseError{Prompt: "verify", Want: "line with yes or no for each statement"}
	}
	return holds, nil
}

// decodeArray decodes the JSON array in a reply; text around it is ignored.
func decodeArray(reply string, to any) error {
	start, end := strings.IndexByte(reply, '['), strings.LastIndexByte(reply, ']')
	if start < 0 || end < start {
		return &ParseError{Want: "JSON array"}
	}
	return json.Unmarshal([]byte(reply[start:end+1]), to)
}
