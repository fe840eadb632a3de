package offline

import (
	"context"
	"regexp"
	"strings"

	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/skills/readable"
	"example.com/ragflow/state"
)

// talkPatterns match turns that need no search (Z12) in English, German, Polish and Vietnamese, with their
// replies. They are strict: a turn that may be about the documents must not match.
var talkPatterns = []struct {
	route string
	say   prompts.Situation
	line  *regexp.Regexp
}{
	{state.RouteChitchat, prompts.Thanks, whole(`(?:ok |okay |great |perfect )?(?:thanks|thank you|thx|cheers|many thanks|danke|vielen dank|dziękuję|dzięki|cảm ơn|cám ơn)(?: a lot| so much| very much| for (?:your|the) help| schön| sehr| bardzo| za pomoc| bạn| nhiều| rất nhiều)*(?: that (?:was|is) (?:great|perfect|all))?`)},
	{state.RouteChitchat, prompts.Farewell, whole(`(?:ok |okay )?(?:bye|goodbye|bye bye|see you(?: later)?|tschüss|auf wiedersehen|do widzenia|żegnaj|tạm biệt)(?: bạn)?`)},
	{state.RouteChitchat, prompts.Greeting, whole(`(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|greetings|hallo|guten (?:morgen|tag|abend)|cześć|hej|witaj|witam|dzień dobry|dobry wieczór|xin chào|chào(?: bạn)?)(?: there| all| everyone| again)?`)},
	{state.RouteMeta, prompts.Capabilities, whole(`(?:please )?help(?: me)?|what can (?:you do|i ask)(?: for me| you)?|who are you|what are you|how can you help(?: me)?|how do you work|hilfe|wer bist du|wer sind sie|was kannst du|was können sie|pomoc|co potrafisz|co umiesz|kim jesteś|jak możesz mi pomóc|trợ giúp|bạn là ai|bạn (?:có thể )?làm (?:được )?gì`)},
	{state.RouteMeta, prompts.EarlierQuestions, whole(`what (?:did i|have i)(?: just)? ask(?:ed)?(?: you)?(?: before)?|what (?:was|were) my (?:first |last |previous )?questions?|(?:show|list) my questions|what (?:did|have) we talk(?:ed)? about|was habe ich(?: bisher| vorher)? gefragt|o co (?:wcześniej )?pytał[ae]m|jakie było moje (?:pierwsze |ostatnie )?pytanie|o czym rozmawialiśmy|(?:trước đó )?tôi (?:đã|vừa) hỏi gì|câu hỏi trước của tôi là gì`)},
}

func whole(pattern string) *regexp.Regexp { return regexp.MustCompile(wholeTurn(pattern)) }

// wholeTurn returns a pattern that matches all of a turn.
func wholeTurn(pattern string) string { return `^(?:` + pattern + `)$` }

// talk returns the route of a turn and, for small talk, the kind of reply.
func talk(question string) (route string, say prompts.Situation) {
	line := strings.Join(plainWords(question), " ")
	for _, t := range talkPatterns {
		if t.line.MatchString(line) {
			return t.route, t.say
		}
	}
	if _, ok := catalogueAsked(line); ok {
		return state.RouteMeta, prompts.Catalogue
	}
	return state.RouteSearch, prompts.Greeting
}

// asksMore finds turns that ask for more of the last answer.
var asksMore = regexp.MustCompile(wholeTurn(`(?:please |and )?(?:(?:tell me |say |show me |show )?(?:some )?more(?: details?| info| about (?:it|that|this))?|go on|continue|carry on|what else|anything else|is there anything else|mehr|weiter|was noch|ja|ja bitte|yes|yes please|ok|okay|sure)(?: please)?|` +
	`(?:powiedz |pokaż |coś )?więcej|dalej|mów dalej|kontynuuj|co jeszcze|tak|poproszę|(?:nói |cho tôi biết |kể )?thêm(?: nữa| đi)?|tiếp(?: tục| đi)?|còn gì nữa(?: không)?|vâng|có`))

// smallTalk replies to a turn that is not searched for.
func (a *Answerer) smallTalk(ctx context.Context, t state.Task) (string, error) {
	_, situation := talk(t.Question)
	if situation == prompts.Catalogue {
		return a.catalogue(ctx, t)
	}
	if situation == prompts.EarlierQuestions && len(t.Asked) == 0 {
		situation = prompts.NothingEarlier
	}
	out := prompts.Say(situation, t.Language)
	if situation == prompts.EarlierQuestions {
		for _, q := range t.Asked {
			out += "\n- " + readable.Line(q)
		}
	}
	return out, nil
}
