package transcript

import (
	"fmt"
	"slices"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/state"
)

// Limits of the summary.
const (
	maxQuery      = 160 // runes of a query
	namedPassages = 3   // passages that are named
)

// summary returns five sentences about a run, escaped for Markdown: the question,
// the queries, the quality of the search result, the chosen passages, and the
// answer. A part that the run did not reach is reported as such.
func summary(r Run, commits []graph.Commit, vs []visit) []string {
	return []string{
		"The question was: " + heading(oneLine(r.question())),
		searchedFor(r.State.Turn, vs),
		searchQuality(r.State.Turn, vs),
		chosen(r.State.Turn, vs),
		answered(r.State.Turn, commits, vs),
	}
}

// finished reports whether a node finished in the run. If it did not, its part of
// the state belongs to an earlier turn.
func finished(vs []visit, node string) bool {
	return slices.ContainsFunc(vs, func(v visit) bool { return v.Node == node && v.Path == "" && v.Error == "" })
}

func searchedFor(t state.Turn, vs []visit) string {
	switch {
	case !finished(vs, "pre_retrieval"):
		return "Nothing was searched for."
	case t.Route != state.RouteSearch:
		return fmt.Sprintf("Nothing was searched for, because the route of the message is %s.", inline(t.Route))
	}
	var texts []string
	boosted := ""
	for _, q := range t.Queries {
		if text := "“" + inline(cut(oneLine(q.Text), maxQuery)) + "”"; !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
		if len(q.Boosts) > 0 {
			boosted = " Some queries also contain words from the conversation or the documents."
		}
	}
	if len(texts) == 0 {
		texts = []string{"the question itself"}
	}
	return "The search looked for " + strings.Join(texts, " and ") + "." + boosted
}

func searchQuality(t state.Turn, vs []visit) string {
	if !finished(vs, "check_and_refine") {
		return "No search result was graded."
	}
	var scores []string
	for _, v := range vs {
		for _, d := range v.Notes.Details {
			if v.Node == "check_and_refine" && v.Error == "" && d.Key == "SCORE" {
				scores = append(scores, inline(d.Value))
			}
		}
	}
	switch {
	case len(scores) == 0 && len(t.Hits) == 0:
		return "The search found nothing."
	case len(scores) == 0:
		return "The search result was not graded."
	}
	line := fmt.Sprintf("The best passages got the relevance score %s of 1.00.", scores[0])
	if t.Attempts < 2 {
		return line + " There was no second search."
	}
	return line + " That was too low, so there was a second search."
}

func chosen(t state.Turn, vs []visit) string {
	if len(t.Sources) == 0 || !finished(vs, "post_retrieval") {
		return "No passage was chosen for the answer."
	}
	var named []string
	for _, s := range bestFirst(t.Sources)[:min(len(t.Sources), namedPassages)] {
		named = append(named, fmt.Sprintf("%s (score %.2f)", inline(passage(s.Chunk)), s.Score))
	}
	list := strings.Join(named, ", ")
	if n := len(t.Sources) - namedPassages; n > 0 {
		list += fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("Passages found: %d. These were chosen for the answer, best first: %s.", max(len(t.Hits), len(t.Sources)), list)
}

func answered(t state.Turn, commits []graph.Commit, vs []visit) string {
	if !finished(vs, "generate") {
		return inline(unanswered(status(commits)))
	}
	quoted := t.Model == offline || t.Model == ""
	line := fmt.Sprintf("The model %s wrote the answer.", inline(t.Model))
	switch {
	case quoted && t.Route != state.RouteSearch:
		line = "The answer was made without a model."
	case quoted:
		line = "The answer was made without a model: it quotes the documents."
	case t.Quality.Claims > 0:
		line += fmt.Sprintf(" Its sources support %.0f %% of its statements.", 100*t.Quality.Faithfulness)
	}
	if t.Route == state.RouteSearch {
		line += " Certainty: " + certainty(t) + "."
	}
	for _, v := range vs {
		if slices.ContainsFunc(v.Notes.Details, func(d graph.Detail) bool { return d.Key == fallbackKey }) {
			line += fmt.Sprintf(" The model failed in %s, which was done without it.", inline(v.Node))
		}
	}
	return line
}

// fallbackKey is the detail that says that a node's model failed, and what replaced it.
const fallbackKey = "fallback"
