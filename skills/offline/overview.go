package offline

import (
	"regexp"
	"slices"
	"strings"
)

// Requests for an overview: what stands around the topic.
var (
	englishRequest = regexp.MustCompile(`(?i)^(?:(?:please|can you|could you|would you),? )*(?:please )?(?:` +
		`(?:summari[sz]e|describe|explain|introduce)(?: me| to me| to us| for me| for us)?` +
		`|(?:(?:give|write|show|provide|get|make)(?: me| us)? )?(?:(?:a|an|the) )?(?:(?:short|brief|quick|general|high-level) )?(?:summary|overview|description|introduction|outline) (?:of|about|on|to)` +
		`|(?:(?:tell|teach) (?:me|us)|talk)(?: (?:a bit|a little|something|more|briefly))? about` +
		`|(?:what are )?the (?:main|key) (?:points|ideas|topics|takeaways) (?:of|in|from)` +
		`|tl;?dr:?(?: of| for)?) (.+)$`)
	englishQuestion = regexp.MustCompile(`(?i)^what(?: is|'s|’s| are| was| were) (.+?)(?: all)? about$`)
	englishHeading  = regexp.MustCompile(`(?i)^(.+?)(?: summary| overview|[:,] (?:a |an )?(?:short |brief )?(?:summary|overview)(?: please)?)$`)
	polishRequest   = regexp.MustCompile(`(?i)^(?:proszę )?(?:(?:podsumuj|streść|opisz|omów|przedstaw)(?: mi| nam)?|(?:opowiedz|powiedz)(?: mi| nam)?(?: coś| krótko| więcej)? o|o czym (?:jest|są|mówi|mówią|opowiada)|` +
		`(?:(?:daj|zrób|napisz)(?: mi| nam)? )?(?:krótkie )?(?:podsumowanie|streszczenie|omówienie)) (.+)$`)
	vietnameseRequest  = regexp.MustCompile(`(?i)^(?:xin |hãy |vui lòng )*(?:(?:tóm tắt|mô tả|giới thiệu|trình bày)(?: cho tôi)?(?: ngắn gọn)?(?: về)?|(?:kể|nói)(?: cho tôi)?(?: nghe)? về) (.+)$`)
	vietnameseQuestion = regexp.MustCompile(`(?i)^(.+?) (?:nói|viết|kể) về (?:cái |điều |những )?gì$`)
)

// What names the document in a request, and not what it is about.
var (
	englishPage    = regexp.MustCompile(`(?i)^(?:(?:the|this|that|my|our|your|a|an) )?(?:` + englishPages + ` (?:about|on|of|for|called|named|titled) )?(?:(?:the|a|an) )?| ` + englishPages + `$`)
	polishPage     = regexp.MustCompile(`(?i)^(?:dokumentu?|dokumentację|pliku?|stron[aęy]|artykułu?|rozdziału?|książk[aęi])(?: o| na temat)? `)
	vietnamesePage = regexp.MustCompile(`(?i)^(?:tài liệu|trang|bài viết|bài báo|bài|tệp|chương|cuốn sách|sách)(?: về| nói về)? `)
)

const englishPages = `(?:page|document|documentation|doc|file|article|paper|chapter|section|book|pdf|text|guide|website)s?`

// overview is the topic that a turn wants an overview of, as the question that asks
// what it is, in the language of the turn. ok is false for a turn that asks something
// of its own, or whose topic stands in the conversation.
func overview(turn string) (question string, ok bool) {
	if len(turn) > longestRequest {
		return "", false
	}
	line := strings.Join(strings.Fields(strings.Trim(turn, " \t\r\n.?!…")), " ")
	for _, o := range []struct {
		language      string
		request, page *regexp.Regexp
	}{
		{"en", englishRequest, englishPage},
		{"en", englishQuestion, englishPage},
		{"en", englishHeading, englishPage},
		{"pl", polishRequest, polishPage},
		{"vi", vietnameseRequest, vietnamesePage},
		{"vi", vietnameseQuestion, vietnamesePage},
	} {
		m := o.request.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		topic := strings.TrimSpace(o.page.ReplaceAllString(m[1], ""))
		words := plainWords(topic)
		if len(words) == 0 || len(words) > topicWords || functionWord(o.language, words[0]) || asksItself(words[0]) {
			return "", false
		}
		for i := range words {
			if anaphor(words, i) || slices.Contains([]string{"me", "you", "yourself", "us", "difference", "differences", "steps"}, words[i]) {
				return "", false
			}
		}
		switch o.language {
		case "pl":
			return "Czym jest " + topic + "?", true
		case "vi":
			return topic + " là gì?", true
		}
		return "What is " + topic + "?", true
	}
	return "", false
}

// What is longer asks for something about a topic, not for an overview of it.
const (
	topicWords     = 5
	longestRequest = 200 // bytes
)

// asksItself reports whether a word begins a question, or what is done.
func asksItself(word string) bool {
	switch word {
	case "how", "why", "what", "when", "where", "who", "which", "whether", "if", "jak", "dlaczego", "co", "kiedy", "gdzie", "kto", "czy", "cách", "tại", "vì", "làm":
		return true
	}
	return false
}
