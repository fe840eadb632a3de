package offline

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"example.com/ragflow/state"
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
		return i == 0 || next == "" || slices.Contains([]string{"is", "does", "do", "did", "can", "for", "with", "to", "of", "in", "on", "need", "about", "like", "than", "what", "why", "how", "if"}, words[i-1])
	case "one", "ones":
		// "which one", "the new one", "share one between"; not "one of", "one container"
		before := i > 0 && slices.Contains([]string{"that", "this", "which", "the", "other", "another", "each"}, words[i-1]) ||
			i > 1 && words[i-2] == "the"
		return before || i > 0 && (next == "" || next != "of" && functionWord("en", next))
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

// smallTalk is what a turn that needs no search is.
type smallTalk int

const (
	noTalk smallTalk = iota
	greeting
	thanks
	farewell
	capabilities
	earlier
	recap
)

// route says which way a turn goes.
func route(question string) string {
	switch talk(question) {
	case noTalk:
		return state.RouteSearch
	case capabilities, earlier, recap:
		return state.RouteMeta
	default:
		return state.RouteChitchat
	}
}

// talk recognises small talk and questions about the conversation or the
// program. It is strict: whatever may be about the documents is none.
func talk(question string) smallTalk {
	words := plainWords(question)
	if len(words) == 0 || len(words) > 12 {
		return noTalk
	}
	line := strings.Join(words, " ")
	switch {
	case oneOf(line, earlierPhrases()):
		return earlier
	case oneOf(line, recapPhrases()):
		return recap
	case oneOf(line, capabilityPhrases()):
		return capabilities
	}
	for _, t := range []struct {
		kind  smallTalk
		words []string
	}{
		{thanks, []string{"thanks", "thank", "thx", "cheers", "dziękuję", "dziękuje", "dzięki", "cảm", "cám"}},
		{farewell, []string{"bye", "goodbye", "żegnaj", "widzenia", "biệt"}},
		{greeting, []string{"hi", "hello", "hey", "morning", "afternoon", "evening", "greetings", "cześć", "czesc", "hej", "witaj", "dobry", "chào"}},
	} {
		if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(t.words, w) }) && onlyCourtesy(words) {
			return t.kind
		}
	}
	return noTalk
}

// onlyCourtesy reports whether no word asks for anything.
func onlyCourtesy(words []string) bool {
	for _, w := range words {
		if !slices.Contains(strings.Fields(courtesy), w) {
			return false
		}
	}
	return true
}

const courtesy = "hi hello hey good morning afternoon evening day greetings there all everyone thanks thank thx you very much so a lot cheers " +
	"many for your the help that this is was it's great nice perfect ok okay bye goodbye see later have please again and " +
	"cześć czesc hej witaj witam dzień dobry wieczór dziękuję dziękuje dzięki bardzo za pomoc do widzenia żegnaj super " +
	"xin chào bạn cảm cám ơn nhiều rất tạm biệt các anh chị em buổi sáng chiều tối"

func oneOf(line string, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool {
		return line == p || strings.HasPrefix(line, p+" ") && strings.HasSuffix(p, "ask") || strings.HasPrefix(line, p+" before")
	})
}

func earlierPhrases() []string {
	return []string{
		"what did i ask", "what did i just ask", "what have i asked", "what was my last question", "what was my first question",
		"what was my previous question", "what were my questions", "what did we talk about", "what have we talked about",
		"show my questions", "list my questions", "what did i ask you", "what questions did i ask",
		"o co pytałem", "o co pytałam", "o co wcześniej pytałem", "o co wcześniej pytałam", "jakie było moje ostatnie pytanie",
		"jakie było moje pierwsze pytanie", "jakie były moje pytania", "o czym rozmawialiśmy",
		"tôi đã hỏi gì", "tôi vừa hỏi gì", "trước đó tôi đã hỏi gì", "câu hỏi trước của tôi là gì",
	}
}

func recapPhrases() []string {
	return []string{
		"summarize our conversation", "summarise our conversation", "summarize this conversation", "summarise this conversation",
		"summarize the conversation", "summarise the conversation", "summarize what we talked about", "summarise what we talked about",
		"give me a summary of our conversation", "recap our conversation", "please summarize our conversation", "can you summarize our conversation",
		"podsumuj naszą rozmowę", "podsumuj rozmowę", "podsumuj tę rozmowę", "streść naszą rozmowę",
		"tóm tắt cuộc trò chuyện", "hãy tóm tắt cuộc trò chuyện", "tóm tắt cuộc trò chuyện này",
	}
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
	return rest, switched
}

// preamble is courtesy that a mark ends, or the announcement of another topic.
var preamble = regexp.MustCompile(`(?i)^\s*(?:(?:(?:(?:ok|okay|now|and now|so|well|next|a teraz|teraz|bây giờ)[,: ]+)*` +
	`(something (?:completely |totally |entirely )?(?:else|different)|(?:a |an )?(?:another|different|new|next) (?:question|topic|one)|changing (?:the )?topic|` +
	`coś innego|inne pytanie|now[ey] pytanie|câu hỏi khác))\s*[:,.!?–—-]+\s+` +
	`|(?:many thanks|thanks a lot|thanks|thank you(?: very much| so much)?|thx|cheers|great|perfect|nice|cool|awesome|got it|i see|hi|hello|hey|` +
	`dzięki|dziękuję|super|świetnie|cześć|hej|cảm ơn(?: bạn)?|xin chào)(?: there| again)?\s*[,.!:]+\s+)`)

func capabilityPhrases() []string {
	return []string{
		"help", "what can you do", "what can you do for me", "who are you", "what are you", "how can you help", "how can you help me",
		"what do you do", "how do you work", "are you a bot", "are you an ai", "what can i ask", "what can i ask you",
		"pomoc", "co potrafisz", "co umiesz", "kim jesteś", "czym jesteś", "jak możesz mi pomóc", "jak działasz",
		"bạn là ai", "bạn có thể làm gì", "bạn làm được gì", "bạn giúp được gì", "trợ giúp",
	}
}
