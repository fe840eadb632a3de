package offline

import (
	"regexp"
	"strings"
)

// topicAsked takes what shall be defined out of a question, in the languages in which
// definitions are known: in English and Polish by how it begins, in Vietnamese by how it
// ends.
var topicAsked = regexp.MustCompile(`(?i)^(?:(?:what|who)(?:['’]s| is| are| was| were)|(?:czym|kim) (?:jest|są)|co to (?:jest|są)) (.+)$`)

// Topic is what a question for a definition asks about ("What is Docker Compose?": Docker
// Compose); empty for every other question. It takes less than a microsecond where the
// first letters tell.
func Topic(question string) string {
	question = strings.TrimRight(strings.TrimSpace(question), " ?.!")
	topic, vietnamese := strings.CutSuffix(question, " là gì")
	if !vietnamese {
		if question == "" || !strings.ContainsRune("wWcCkK", rune(question[0])) {
			return ""
		}
		m := topicAsked.FindStringSubmatch(question)
		if m == nil {
			return ""
		}
		topic = m[1]
	}
	if TypeOf(question) != Definition {
		return ""
	}
	return strings.TrimSpace(topic)
}
