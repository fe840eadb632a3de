package nodes

import (
	"regexp"
	"slices"
	"strconv"

	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/state"
)

// AgentID is the node before generate in which a model reads the sources and searches for
// more as often as it likes.
const AgentID = "agent"

// Research is the result of the node agent.
type Research struct {
	Answer  string // with marks of Sources
	Model   string // that wrote the answer
	Sources []state.Source
	Queries []string // of its searches
}

// Update returns how a result changes the turn of s. Of the sources, the turn keeps
// those that the answer cites, and others up to [MaxSources].
func (r Research) Update(s state.State) state.Update {
	queries := slices.Clone(s.Turn.Queries)
	for _, q := range r.Queries {
		queries = append(queries, state.Query{Text: q, Weight: 1, Why: AgentID, Attempt: max(1, s.Turn.Attempts)})
	}
	text, sources := keepCited(r.Answer, r.Sources)
	return state.Update{Answer: &text, Sources: &sources, Queries: &queries, Model: &r.Model}
}

var sourceMark = regexp.MustCompile(`\[Source (\d+)\]`)

// keepCited drops sources that a text does not cite, above [MaxSources], and renumbers the
// text's marks.
func keepCited(text string, sources []state.Source) (string, []state.Source) {
	checked := cite.Validate(text, len(sources))
	order := slices.Clone(checked.Cited)
	for n := 1; n <= len(sources) && len(order) < MaxSources; n++ {
		if !slices.Contains(order, n) {
			order = append(order, n)
		}
	}
	kept := []state.Source{}
	for _, n := range order {
		kept = append(kept, sources[n-1])
	}
	return sourceMark.ReplaceAllStringFunc(checked.Text, func(mark string) string {
		n, _ := strconv.Atoi(sourceMark.FindStringSubmatch(mark)[1])
		if i := slices.Index(order, n); i >= 0 {
			return cite.Marker(i + 1)
		}
		return mark
	}), kept
}
