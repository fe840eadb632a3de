package offline

import (
	"regexp"
	"strings"
)

// QuestionType is what kind of answer a question wants.
type QuestionType string

// The types of question.
const (
	HowTo      QuestionType = "how-to"     // steps, a command
	Definition QuestionType = "definition" // what something is
	Number     QuestionType = "number"     // how many, how large, how long
	Place      QuestionType = "place"      // where: a path, an address
	Time       QuestionType = "time"
	Reason     QuestionType = "reason"
	YesNo      QuestionType = "yes/no"
	Fact       QuestionType = "fact" // anything else
)

var (
	howToPattern   = regexp.MustCompile(`\bhow (?:do|can|to|could|should|would|must|may) |\bhow (?:i|we|you) |\b(?:which|what) (?:command|setting|option|flag)s?\b|\bwhat (?:do|should|can|must) (?:i|we) (?:\w+ )?(?:run|write|put|type|edit|set|do|change|use)|\bhow .* set it|\bsteps\b|^jak |\bjak (?:to |go |je |ją )?\p{L}+ć\b|\bktórym? poleceni|\bco (?:zrobić|trzeba|uruchomić|wpisać)|làm thế nào|làm sao|bằng cách nào`)
	numberPattern  = regexp.MustCompile(`\bhow (?:many|much|big|large|long|often|old|far|high|fast)\b|\b(?:size|limit|maximum|minimum|number|version|port|ports|order|default value)\b|\bile\b|\bilu\b|bao nhiêu`)
	placePattern   = regexp.MustCompile(`\bwhere\b|\b(?:which|what|under which) (?:path|file|folder|directory|address|url)\b|\bgdzie\b|\bktóry plik\b|\bktóry folder\b|ở đâu`)
	timePattern    = regexp.MustCompile(`\bwhen\b|\bkiedy\b|khi nào|bao giờ`)
	reasonPattern  = regexp.MustCompile(`\bwhy\b|\breason\b|\bwhat is wrong\b|\bcause[sd]?\b|\bdlaczego\b|\bczemu\b|tại sao|vì sao`)
	definePattern  = regexp.MustCompile(`^(?:what|who) (?:is|are|was|were|does) (?:an? |the )?[\p{L}\p{N} '-]+\??$|\bstand for\b|\bmeaning of\b|^(?:co to|czym) jest|là gì`)
	yesNoPattern   = regexp.MustCompile(`^(?:is|are|was|were|do|does|did|can|could|will|would|should|must|has|have|had|may|might|am|czy|có phải)\b`)
	codePattern    = regexp.MustCompile("`[^`]+`|(?:^|\\s)--?[a-z][\\w-]+")
	pathPattern    = regexp.MustCompile(`(?:^|[\s` + "`" + `"'(])(?:~|\.{0,2}|[A-Z]:)?(?:[/\\][\w.~%$-]+){2,}|\w+\.(?:json|ya?ml|conf|toml|md|txt|raw|env|ini|cfg)\b`)
	becausePattern = regexp.MustCompile(`(?i)\b(?:because|since|due to|as a result|so that|otherwise|prevents?|cause[sd]?|reason|therefore|leads? to|by default|not supported|doesn't|can't|cannot|isn't|only)\b`)
	timeWords      = regexp.MustCompile(`(?i)\b(?:when|after|before|until|once|seconds?|minutes?|hours?|days?|\d{4})\b`)
	definesPattern = regexp.MustCompile(`(?i)^\W*(?:an? |the )?[\w` + "`" + `*' ()/.-]{2,60}? (?:is|are|stands for|refers? to|means|lets|allows|provides|was|enables|protects) `)
	imperative     = regexp.MustCompile(`(?i)^\W*(?:to |use |run |set |add |create |specify |select |open |go to |enter |edit |make |start |stop |install |pass |configure |enable |change |choose |put |if you|you can |in order to |then |first)`)
	navigation     = regexp.MustCompile(`(?i)^\W*(?:for (?:more|further|additional|details|a full|a list|an? overview)|see |refer to|read |learn (?:more|how)|to learn|visit |check out|more information|related)|(?i)\bfor (?:more )?(?:information|details)\b`)
	digit          = regexp.MustCompile(`\d`)
)

// TypeOf says what kind of answer a question wants. The more specific signs
// win: "how many" asks for a number, although it begins with "how".
func TypeOf(question string) QuestionType {
	q := strings.ToLower(strings.TrimSpace(question))
	switch {
	case howToPattern.MatchString(q):
		return HowTo
	case reasonPattern.MatchString(q):
		return Reason
	case definePattern.MatchString(q):
		return Definition
	case numberPattern.MatchString(q):
		return Number
	case placePattern.MatchString(q):
		return Place
	case timePattern.MatchString(q):
		return Time
	case yesNoPattern.MatchString(q):
		return YesNo
	}
	return Fact
}

// prior is how much a unit looks like an answer to a question of type t, from
// 0 to 1.
func prior(t QuestionType, k kind, s string) float64 {
	has := func(p *regexp.Regexp) float64 {
		if p.MatchString(s) {
			return 1
		}
		return 0
	}
	switch t {
	case HowTo:
		if k == code {
			return 1
		}
		return max(has(imperative), 0.7*has(codePattern))
	case Definition:
		return has(definesPattern)
	case Number:
		return has(digit)
	case Place:
		return max(has(pathPattern), 0.3*has(codePattern))
	case Time:
		return has(timeWords)
	case Reason:
		return has(becausePattern)
	default:
		return 0
	}
}
