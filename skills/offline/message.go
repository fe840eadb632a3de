package offline

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow/state"
)

// Limits of a message that is looked for word for word.
const (
	messageMin    = 3   // words it has at least
	messageMax    = 6   // words that are searched for as a phrase, from the first: what follows differs from place to place
	messageRun    = 5   // words in a row that make a longer one known, if it begins with them or has half of its words in them
	messageWeight = 1.0 // of the list of passages that hold it
)

// message is the error message that a question asks about, as it was pasted: what
// stands in quotes or, where the question is a message itself, what stands before
// anything that is asked about it. It is empty where there is none; whole says that
// nothing else is asked.
func message(question string) (said string, whole bool) {
	for _, m := range quotedPart.FindAllStringSubmatch(question, -1) {
		if part := strings.Join(m[1:], ""); len(plainWords(part)) >= messageMin {
			return part, false
		}
	}
	if asks := questionWord.FindStringIndex(question); TypeOf(question) != Message &&
		(asks != nil && asks[0] == 0 || strings.Contains(question, "?") || !fault.MatchString(question) || person.MatchString(question)) {
		return "", false
	}
	said = messageLabel.ReplaceAllString(question, "")
	if lower := strings.ToLower(said); len(lower) == len(said) {
		if at := questionBegins.FindStringIndex(lower); at != nil && at[0] > 0 {
			said = said[:at[0]]
		}
	}
	if len(plainWords(said)) < messageMin {
		return "", false
	}
	return said, true
}

var quotedPart = regexp.MustCompile("\"([^\"]{8,})\"|“([^”]{8,})”|„([^”]{8,})”|«([^»]{8,})»|`([^`]{8,})`")

// A fragment that is no question is a message where it tells of a fault and nobody
// speaks in it. What stands in front of one says nothing of it.
var (
	person       = regexp.MustCompile(`(?i)\b(?:i|i'm|i'd|me|my|you|your|we|us|our|they|please|ok|okay|thanks|yes)\b`)
	fault        = regexp.MustCompile(`(?i)\b(?:not|no|cannot|can't|couldn't|failed|failure|denied|refused|invalid|unknown|missing|unable|unexpected|timed out|timeout|exceeded|already|errors?|fatal|exception)\b`)
	messageLabel = regexp.MustCompile(`(?i)^\W*(?:errors?|err|fatal|warning|exception|błąd|lỗi)\b[\s:]*`)
)

// messageQuery searches for the passages that hold the message of a question word
// for word: its words, each by itself, are the commonest of all. ok is false where
// there is no message.
func messageQuery(question string) (q state.Query, ok bool) {
	said, _ := message(question)
	words := plainWords(said)
	if len(words) == 0 {
		return state.Query{}, false
	}
	phrase := strings.Join(words[:min(len(words), messageMax)], " ")
	return state.Query{
		Text: question, Phrases: []string{phrase}, Weight: messageWeight,
		Why: "passages that hold the message word for word", Attempt: 1,
	}, true
}

// explained answers a question about a message with what stands behind it in the
// documents, up to the next heading or message. It reports whether it stands there.
func (s *selection) explained() bool {
	said, whole := message(s.question)
	words := plainWords(said)
	if len(words) == 0 || !whole && !complains(s.kind, s.question) {
		return false
	}
	longest, at := 0, place{}
	for i := range s.passages {
		p := &s.passages[i]
		if changes(p.src.Source) && !s.changed {
			continue
		}
		for j := range p.units {
			if n, from := run(words, p.glances()[j].words); n > longest && p.units[j].kind != row && tells(n, from, len(words)) {
				longest, at = n, place{i, j}
			}
		}
	}
	if longest == 0 {
		return false
	}
	p := &s.passages[at.passage]
	s.take(at, noLimit)
	end := s.remedied(p, p.units[at.unit].section)
	for j := at.unit + 1; j < end && !boldLine.MatchString(p.text(j)); j++ {
		if next := (place{at.passage, j}); !s.has(next) && !p.away(j) && (p.lines(j) > maxCode || !s.take(next, maxWords)) {
			break
		}
	}
	return true
}

// complains reports whether a question with something in quotes is about a fault. Who
// wrote a book whose title stands there is not told by what stands behind it.
func complains(kind QuestionType, question string) bool {
	switch kind {
	case Person, Time, Number, Place:
		return false
	default:
		return fault.MatchString(question) || complaint.MatchString(question)
	}
}

var complaint = regexp.MustCompile(`(?i)\b(?:messages?|warnings?|complain\w*|fix|solve|fails?|crash\w*|komunikat|błędu?|naprawić)\b|thông báo|lỗi|khắc phục`)

// remedied is where a section ends, with those behind it that tell of a cause and
// of what to do.
func (s *selection) remedied(p *passage, sec int) int {
	end, remedies := p.sections[sec].end, s.lex.set("cause", "reason", "solution", "resolution", "workaround", "fix", "przyczyna", "rozwiązanie", "nguyên nhân", "giải pháp")
	for _, next := range p.sections[sec+1:] {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(next.name)), remedies.has) {
			break
		}
		end = max(end, next.end)
	}
	return end
}

// boldLine is a line in bold type, which stands for a heading.
var boldLine = regexp.MustCompile(`^\*\*.+\*\*$|^__.+__$`)

// tells reports whether n words in a row, of a message of so many, make it the
// same message.
func tells(n, from, words int) bool {
	return n == words || n >= messageRun && (from == 0 || 2*n >= words)
}

// run is how many words of a message stand in a row in a text, and which one is
// the first of them.
func run(message, words []string) (longest, from int) {
	for i := range words {
		for j := range message[:min(len(message), mostWords)] {
			n := 0
			for i+n < len(words) && j+n < len(message) && words[i+n] == message[j+n] {
				n++
			}
			if n > longest {
				longest, from = n, j
			}
		}
	}
	return longest, from
}
