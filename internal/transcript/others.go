package transcript

import (
	"fmt"
	"strings"

	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// Other is a source that was found and is not cited. The citation is that of the whole passage.
type Other struct {
	state.Citation

	Telling string // its sentence or line with the most words of the question
}

// Others returns the sources of a turn that its answer does not cite, best first.
func Others(t state.Turn) []Other {
	cited := map[string]bool{}
	for _, c := range t.Citations {
		cited[c.Chunk] = true
	}
	var out []Other
	asked := contentWords(t.Query, t.Language)
	for i, s := range t.Sources {
		if cited[s.ID] {
			continue
		}
		whole, err := cite.Build(t.Sources, cite.Pick{N: i + 1})
		if err != nil {
			continue // a passage without text
		}
		out = append(out, Other{whole[0], telling(s.Text, asked)})
	}
	return out
}

// contentWords returns the stems of the words of s that are no stop words of its language.
func contentWords(s, language string) map[string]bool {
	out := map[string]bool{}
	for _, token := range text.For(language).Analyze(s) {
		if !text.StopWord(language, strings.ToLower(s[token.Start:token.End])) {
			out[token.Term] = true
		}
	}
	return out
}

// telling returns the sentence of a passage with the most of the words asked for; the earlier one wins a tie.
// A line is a sentence at most.
func telling(passage string, asked map[string]bool) string {
	best, most := "", -1
	analyzer := text.For(text.Language(passage))
	for line := range strings.Lines(passage) {
		for _, span := range text.Sentences(line) {
			said := strings.Trim(line[span.Start:span.End], " \t\r\n#>|*-")
			held := map[string]bool{}
			for _, token := range analyzer.Analyze(said) {
				if asked[token.Term] {
					held[token.Term] = true
				}
			}
			if said != "" && len(held) > most {
				best, most = said, len(held)
			}
		}
	}
	return oneLine(best)
}

// maxTelling is the maximum length of the telling words in a list, in runes.
const maxTelling = 160

// alsoFound lists the sources that an answer does not cite, one a line.
func alsoFound(b *strings.Builder, t state.Turn, o Options) {
	others := Others(t)
	if len(others) == 0 || t.Route != state.RouteSearch {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", inline(prompts.Say(prompts.AlsoFound, t.Language)))
	for _, s := range others {
		title := ""
		if s.Title != "" {
			title = "**" + inline(s.Title) + "** — "
		}
		fmt.Fprintf(b, "- %s[%s](%s): %s\n", title, inline(Place(s.Citation, t.Language)), link(s.Citation, o), inline(cut(s.Telling, maxTelling)))
	}
}
