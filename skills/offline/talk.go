package offline

import (
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow/prompts"
	"example.com/ragflow/skills/cite"
	"example.com/ragflow/state"
)

// smallTalk is what a turn is that needs no search (Z12).
type smallTalk int

const (
	noTalk smallTalk = iota
	greeting
	thanks
	farewell
	capabilities
	earlier
)

// talkPatterns recognise whole turns, in English, Polish and Vietnamese. They are
// strict: what may be about the documents is no small talk.
var talkPatterns = []struct {
	kind smallTalk
	line *regexp.Regexp
}{
	{thanks, whole(`(?:ok |okay |great |perfect )?(?:thanks|thank you|thx|cheers|many thanks|dziękuję|dzięki|cảm ơn|cám ơn)(?: a lot| so much| very much| for (?:your|the) help| bardzo| za pomoc| bạn| nhiều| rất nhiều)*(?: that (?:was|is) (?:great|perfect|all))?`)},
	{farewell, whole(`(?:ok |okay )?(?:bye|goodbye|bye bye|see you(?: later)?|do widzenia|żegnaj|tạm biệt)(?: bạn)?`)},
	{greeting, whole(`(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|greetings|cześć|hej|witaj|witam|dzień dobry|dobry wieczór|xin chào|chào(?: bạn)?)(?: there| all| everyone| again)?`)},
	{capabilities, whole(`(?:please )?help(?: me)?|what can (?:you do|i ask)(?: for me| you)?|who are you|what are you|how can you help(?: me)?|how do you work|pomoc|co potrafisz|co umiesz|kim jesteś|jak możesz mi pomóc|trợ giúp|bạn là ai|bạn (?:có thể )?làm (?:được )?gì`)},
	{earlier, whole(`what (?:did i|have i)(?: just)? ask(?:ed)?(?: you)?(?: before)?|what (?:was|were) my (?:first |last |previous )?questions?|(?:show|list) my questions|what (?:did|have) we talk(?:ed)? about|o co (?:wcześniej )?pytał[ae]m|jakie było moje (?:pierwsze |ostatnie )?pytanie|o czym rozmawialiśmy|(?:trước đó )?tôi (?:đã|vừa) hỏi gì|câu hỏi trước của tôi là gì`)},
}

func whole(pattern string) *regexp.Regexp { return regexp.MustCompile(`^(?:` + pattern + `)$`) }

func talk(question string) smallTalk {
	line := strings.Join(plainWords(question), " ")
	for _, t := range talkPatterns {
		if t.line.MatchString(line) {
			return t.kind
		}
	}
	return noTalk
}

// goesOn finds turns that want more of what the last answer showed.
//
//nolint:gochecknoglobals // a pattern
var goesOn = whole(`(?:please |and )?(?:(?:tell me |say |show me |show )?(?:some )?more(?: details?| info| about (?:it|that|this))?|go on|continue|carry on|what else|anything else|is there anything else|yes|yes please|ok|okay|sure)(?: please)?|` +
	`(?:powiedz |pokaż |coś )?więcej|dalej|mów dalej|kontynuuj|co jeszcze|tak|poproszę|(?:nói |cho tôi biết |kể )?thêm(?: nữa| đi)?|tiếp(?: tục| đi)?|còn gì nữa(?: không)?|vâng|có`)

// route says which way a turn goes.
func route(question string) string {
	switch talk(question) {
	case noTalk:
		return state.RouteSearch
	case capabilities, earlier:
		return state.RouteMeta
	case greeting, thanks, farewell:
	}
	return state.RouteChitchat
}

// converse answers what needs no documents.
func converse(t state.Task) string {
	say := func(s prompts.Situation) string { return prompts.Say(s, t.Language) }
	switch talk(t.Question) {
	case thanks:
		return say(prompts.Thanks)
	case farewell:
		return say(prompts.Farewell)
	case capabilities:
		return say(prompts.Capabilities)
	case earlier:
		return listed(say(prompts.EarlierQuestions), earlierQuestions(t), t.Language)
	case noTalk, greeting:
	}
	return say(prompts.Greeting)
}

func listed(head string, lines []string, language string) string {
	if len(lines) == 0 {
		return prompts.Say(prompts.NothingEarlier, language)
	}
	for _, line := range lines {
		head += "\n- " + cite.Escape(strings.TrimPrefix(line, turnMark))
	}
	return head
}

// Which one of the earlier questions is asked for.
var (
	wantsFirst = regexp.MustCompile(`(?i)\bfirst\b|pierwsze|đầu tiên`)
	wantsLast  = regexp.MustCompile(`(?i)\b(?:last|previous|just)\b|ostatnie|câu hỏi trước`)
)

// earlierQuestions are what was asked, small talk aside: the questions of the
// summary, then those that are still known.
func earlierQuestions(t state.Task) []string {
	var out []string
	for _, line := range readSummary(t.Summary) {
		if ours, ok := strings.CutPrefix(line, turnMark); ok { // a model writes of questions in its own words
			question, _, _ := strings.Cut(ours, answered)
			out = append(out, question)
		}
	}
	add := func(q string) {
		q = tidy(q)
		known := func(o string) bool { return strings.HasPrefix(q, strings.TrimSuffix(o, "…")) }
		if talk(q) == noTalk && !slices.ContainsFunc(out, known) {
			out = append(out, q)
		}
	}
	for _, q := range t.Asked {
		add(q)
	}
	for _, m := range t.Messages[:max(0, len(t.Messages)-1)] {
		if m.Role == state.Human {
			add(m.Content)
		}
	}
	switch {
	case len(out) == 0:
	case wantsLast.MatchString(t.Question):
		return out[len(out)-1:]
	case wantsFirst.MatchString(t.Question):
		return out[:1]
	}
	return out
}
