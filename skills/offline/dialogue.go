package offline

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || r == '\'' || r == '’'
}

// opener reports whether a turn begins like the continuation of another.
func opener(words []string) bool {
	switch words[0] {
	case "and", "or", "but", "so", "then", "also", "else", "otherwise", "same", "yes", "yeah", "yep", "no", "nope", "ok", "okay", "more",
		"a", "i", "ale", "albo", "oraz", "więc", "tak", "nie", "jeszcze",
		"và", "còn", "thế", "vậy", "nhưng", "có", "thêm":
		return words[0] != "a" && words[0] != "i" && words[0] != "có" || polishOpener(words)
	case "what", "how":
		return len(words) > 1 && words[1] == "about" || len(words) > 1 && words[1] == "if"
	case "why", "dlaczego", "czemu":
		return len(words) <= 2
	}
	return false
}

// polishOpener tells the Polish "a" and "i" (and) from the English words.
func polishOpener(words []string) bool {
	return len(words) > 1 && slices.Contains([]string{"co", "jak", "czy", "gdzie", "kiedy", "na", "w", "z", "dla", "jeśli", "ile", "po"}, words[1])
}

// anaphor reports whether word i points back to something said before.
func anaphor(words []string, i int) bool {
	next := ""
	if i+1 < len(words) {
		next = words[i+1]
	}
	switch words[i] {
	case "it":
		// "is it possible to …" points nowhere, "is it safe?" does
		return i+2 >= len(words) || words[i+2] != "to" || !slices.Contains([]string{"possible", "necessary", "ok", "okay", "safe", "better"}, next)
	case "its", "it's", "them", "they", "their", "these", "those", "this", "he", "she", "him", "her", "itself", "themselves":
		return true
	case "that":
		// "the file that holds …" relates; "does that need …" points back
		return i == 0 || next == "" || particle(next) ||
			slices.Contains([]string{"is", "does", "do", "did", "can", "for", "with", "to", "of", "in", "on", "need", "about", "like", "than", "what", "why", "how", "if"}, words[i-1])
	case "one", "ones":
		// "which one", "the new one", "share one between"; not "one of", "one container"
		before := i > 0 && slices.Contains([]string{"that", "this", "which", "the", "other", "another", "each"}, words[i-1]) ||
			i > 1 && words[i-2] == "the"
		return before || i > 0 && (next == "" || particle(next) || next != "of" && functionWord("en", next))
	case "there":
		return next != "is" && next != "are" && next != "was" && next != "a" && next != "an" && next != "any"
	case "such", "former", "latter", "aforementioned":
		return true
	case "both", "either", "neither", "none", "all":
		return next == "" || next == "of" && i+2 < len(words) && (words[i+2] == "them" || words[i+2] == "these" || words[i+2] == "those")
	case "two", "three", "first", "second", "third", "last", "other", "others", "another":
		return next == "" || next == "of" || next == "one" || next == "ones"
	case "instead", "otherwise", "too":
		return next == ""
	case "to", "ten", "ta", "te", "tego", "tej", "tym", "tych", "go", "je", "ich", "nim", "nich", "niej", "niego", "on", "ona", "ono", "oni", "tam", "jego", "jej":
		return polish(words)
	case "nó", "chúng", "đó", "này", "kia", "họ":
		return true
	}
	return false
}

// particle reports whether a word goes with the verb before the thing it is done
// to: "switch that off", "back one up".
func particle(word string) bool {
	switch word {
	case "up", "down", "off", "out", "back", "away", "over", "again", "together", "apart", "later", "too":
		return true
	}
	return false
}

// polish reports whether words look like a Polish sentence: "to" and "on" are
// words of English too.
func polish(words []string) bool {
	for _, w := range words {
		if strings.ContainsAny(w, "ąćęłńśźż") || slices.Contains([]string{"jak", "czy", "gdzie", "ile", "kiedy", "jest", "się", "co", "jaki", "jaka", "jakie", "dlaczego"}, w) {
			return true
		}
	}
	return false
}

// asked is what a turn asks, without courtesy before it ("thanks! now something
// else: …"). switched reports whether it says that another topic begins.
func asked(turn string) (question string, switched bool) {
	rest := turn
	for {
		m := preamble.FindStringSubmatch(rest)
		if m == nil || len(strings.Fields(rest[len(m[0]):])) < 2 {
			break
		}
		switched = switched || m[1] != ""
		rest = rest[len(m[0]):]
	}
	if topic := overviewTopic(rest); topic != "" {
		rest = "What is " + topic + "?"
	}
	return rest, switched
}

// overviewTopic returns X of a request such as "Tell me about X". It is "" for every
// other turn, and where X points back to the conversation or asks something itself.
func overviewTopic(turn string) string {
	m := overviewRequest.FindStringSubmatch(strings.TrimSpace(turn))
	if m == nil {
		return ""
	}
	words := plainWords(m[1])
	for i, w := range words {
		if anaphor(words, i) || i == 0 && functionWord("en", w) {
			return ""
		}
	}
	return m[1]
}

// overviewRequest holds a topic of up to five words behind the request.
var overviewRequest = regexp.MustCompile(`(?i)^(?:please |can you |could you )*(?:tell me (?:more |something )?about|describe|explain|summari[sz]e|` +
	`(?:give me )?(?:an? |the )?(?:short |brief )?(?:summary|overview) of) (?:an? |the )?(\S+?(?: \S+?){0,4})[.?! ]*$`)

// preamble is courtesy that a mark ends, or the announcement of another topic.
var preamble = regexp.MustCompile(`(?i)^\s*(?:(?:(?:(?:ok|okay|now|and now|so|well|next|a teraz|teraz|bây giờ)[,: ]+)*` +
	`(something (?:completely |totally |entirely )?(?:else|different)|(?:a |an )?(?:another|different|new|next) (?:question|topic|one)|changing (?:the )?topic|` +
	`coś innego|inne pytanie|now[ey] pytanie|câu hỏi khác))\s*[:,.!?–—-]+\s+` +
	`|(?:many thanks|thanks a lot|thanks|thank you(?: very much| so much)?|thx|cheers|great|perfect|nice|cool|awesome|got it|i see|hi|hello|hey|` +
	`dzięki|dziękuję|super|świetnie|cześć|hej|cảm ơn(?: bạn)?|xin chào)(?: there| again)?\s*[,.!:]+\s+)`)
