package offline

import (
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow/state"
)

// smallTalk is what a turn that needs no search is.
type smallTalk int

const (
	noTalk smallTalk = iota
	greeting
	thanks
	farewell
	capabilities
	holdings
	earlier
	recap
)

// route says which way a turn goes.
func route(question string) string {
	switch talk(question) {
	case noTalk:
		return state.RouteSearch
	case capabilities, holdings, earlier, recap:
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
	case holdingsAsked.MatchString(line):
		return holdings
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

// holdingsAsked asks which documents there are.
var holdingsAsked = regexp.MustCompile(`^(?:(?:what|which) (?:documents?|files?|docs|pages|books|sources) (?:do you (?:have|know|see|use)|are (?:there|available|indexed|loaded)|have you (?:got|read|indexed)|can you (?:see|read|use|search))|` +
	`(?:list|show|show me|list me) (?:all )?(?:of )?(?:my|your|the|indexed|available) (?:documents|files|docs|sources)|how many (?:documents|files|docs) (?:do you have|are there|do i have|are indexed)|` +
	`jakie (?:masz|znasz|są) (?:dokumenty|pliki)|jakie (?:dokumenty|pliki) (?:masz|znasz|są)|ile masz (?:dokumentów|plików)|(?:pokaż|wymień)(?: mi)? (?:moje |wszystkie )?(?:dokumenty|pliki)|` +
	`bạn có (?:những )?(?:tài liệu|tệp) (?:nào|gì)|(?:liệt kê|cho xem) (?:các |những )?(?:tài liệu|tệp)(?: của tôi)?|có bao nhiêu (?:tài liệu|tệp))$`)

func capabilityPhrases() []string {
	return []string{
		"help", "what can you do", "what can you do for me", "who are you", "what are you", "how can you help", "how can you help me",
		"what do you do", "how do you work", "are you a bot", "are you an ai", "what can i ask", "what can i ask you",
		"pomoc", "co potrafisz", "co umiesz", "kim jesteś", "czym jesteś", "jak możesz mi pomóc", "jak działasz",
		"bạn là ai", "bạn có thể làm gì", "bạn làm được gì", "bạn giúp được gì", "trợ giúp",
	}
}
