package offline

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow/prompts"
	"example.com/ragflow/skills/cite"
	"example.com/ragflow/state"
)

// Answerer answers with quotes: one to three sentences, list items or table
// rows, for how-to questions with the block of code that belongs to them, each
// with its [Source N]. What is quoted is tidied for reading; the citation
// holds the bytes of the document.
//
// A grade below the threshold makes it abstain: it says that the answer is not
// there and quotes the closest passage.
type Answerer struct {
	maker
	lex       lexicon
	threshold float64
}

// NewAnswerer returns an answerer for the index that stats describes. Grades
// below threshold abstain; 0 means [DefaultThreshold].
func NewAnswerer(stats Stats, threshold float64) *Answerer {
	if threshold == 0 {
		threshold = DefaultThreshold
	}
	return &Answerer{lex: newLexicon(stats), threshold: threshold}
}

// Answer answers a task. It fails only where a source is no valid text, or where the
// documents cannot be listed.
func (a *Answerer) Answer(ctx context.Context, t state.Task) (state.Answer, error) {
	if t.Route == state.RouteChitchat || t.Route == state.RouteMeta {
		said, err := a.converse(ctx, t)
		return state.Answer{Text: said, Model: Name}, err
	}
	abstain := t.Grade.Score < a.threshold
	s := newSelection(a.lex, t)
	abstain = abstain || s.stranger() || s.strays()
	near := true // something is worth showing
	if abstain {
		near = s.closest()
	} else {
		s.choose()
	}
	body, picks := s.render()
	if near && body == "" {
		return state.Answer{Text: prompts.Say(prompts.NoDocuments, t.Language), Abstained: true, Model: Name}, nil
	}
	citations, err := cite.Build(t.Sources, picks...)
	if err != nil {
		return state.Answer{}, fmt.Errorf("offline answer: %w", err)
	}
	lines := a.framing(t, abstain, near)
	if body != "" {
		lines = append(lines, body)
	}
	return state.Answer{
		Text:      strings.Join(lines, "\n\n"),
		Citations: citations,
		Abstained: abstain,
		Terms:     a.lex.telling(citations),
		Model:     Name,
	}, nil
}

// framing is what stands before the quotes; without any, where nothing is
// close, it is all there is.
func (a *Answerer) framing(t state.Task, abstain, near bool) []string {
	say := func(s prompts.Situation) string { return prompts.Say(s, t.Language) }
	var out []string
	if abstain {
		out = append(out, say(prompts.NotFound))
	}
	own := func(s state.Source) bool { return a.lex.language(s.Text) == t.Language }
	if len(t.Sources) > 0 && t.Language != "" && !slices.ContainsFunc(t.Sources, own) && !a.spoken(t.Language) {
		out = append(out, say(prompts.OtherLanguage))
	}
	switch {
	case !abstain:
		return append(out, say(prompts.FromDocuments))
	case near:
		return append(out, say(prompts.Closest))
	default:
		return append(out, say(prompts.NothingClose))
	}
}

// spoken reports whether the index knows of documents in a language, of those that a
// source was not found among.
func (a *Answerer) spoken(language string) bool {
	documents, ok := a.lex.stats.(interface{ Speaks(language string) bool })
	return ok && language != "en" && language != "vi" && documents.Speaks(language)
}

// converse answers what needs no documents.
func (a *Answerer) converse(ctx context.Context, t state.Task) (string, error) {
	switch talk(t.Question) {
	case thanks:
		return prompts.Say(prompts.Thanks, t.Language), nil
	case farewell:
		return prompts.Say(prompts.Farewell, t.Language), nil
	case capabilities:
		return prompts.Say(prompts.Capabilities, t.Language), nil
	case holdings:
		return a.holdings(ctx, t.Language)
	case earlier:
		return earlierQuestions(t), nil
	case recap:
		return a.recapitulate(t), nil
	default:
		return prompts.Say(prompts.Greeting, t.Language), nil
	}
}

// listedDocuments is how many documents are named to who asks for them.
const listedDocuments = 12

// holdings names the documents there are.
func (a *Answerer) holdings(ctx context.Context, language string) (string, error) {
	shelf, ok := a.lex.stats.(Shelf)
	if !ok {
		return prompts.Say(prompts.Capabilities, language), nil
	}
	first, all, err := shelf.Documents(ctx, listedDocuments)
	if err != nil {
		return "", fmt.Errorf("list the documents: %w", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d\n", prompts.Say(prompts.Holdings, language), all)
	for _, d := range first {
		fmt.Fprintf(&b, "\n- %s (%s)", tidy(d.Title), tidy(d.Source))
	}
	if all > len(first) {
		b.WriteString("\n- …")
	}
	return b.String(), nil
}

// Which one of the earlier questions is asked for.
var (
	wantsFirst = regexp.MustCompile(`(?i)\b(?:first|pierwsze)\b|đầu tiên`)
	wantsLast  = regexp.MustCompile(`(?i)\b(?:last|previous|just|ostatnie)\b|câu hỏi trước`)
)

// earlierQuestions lists what was asked, small talk aside: the summary, where there is one, and
// the questions that are still live. A summary that a model wrote tells of
// questions in its own words, so those that are known stand beside it.
func earlierQuestions(t state.Task) string {
	var live, asked []string
	for _, m := range t.Messages[:max(0, len(t.Messages)-1)] {
		if m.Role == state.Human && talk(m.Content) == noTalk {
			live = append(live, tidy(m.Content))
		}
	}
	for _, q := range t.Asked {
		words := strings.Fields(tidy(q))
		begins := strings.Join(words[:min(len(words), lineWords/2)], " ") // as much as a line of ours keeps at least
		if q = tidy(q); !slices.Contains(live, q) && !slices.Contains(asked, q) && !strings.Contains(t.Summary, begins) {
			asked = append(asked, q)
		}
	}
	all, summary := append(asked, live...), summarizedQuestions(t.Summary)
	switch {
	case len(all) == 0:
	case wantsLast.MatchString(t.Question):
		all, summary = all[len(all)-1:], ""
	case summary == "" && wantsFirst.MatchString(t.Question):
		all = all[:1]
	}
	var b strings.Builder
	for _, q := range all {
		b.WriteString("\n- " + cite.Escape(q))
	}
	questions := b.String()
	if summary != "" {
		questions = "\n" + summary + questions
	}
	if questions == "" {
		return prompts.Say(prompts.NothingEarlier, t.Language)
	}
	return prompts.Say(prompts.EarlierQuestions, t.Language) + "\n" + questions
}

// recapitulate tells each turn in a line: the question and the gist of its
// answer.
func (a *Answerer) recapitulate(t state.Task) string {
	z := Summarizer{lex: a.lex, cues: newCues()}
	facts, turns := z.extended(t.Summary, t.Messages[:max(0, len(t.Messages)-1)])
	if len(facts)+len(turns) == 0 {
		return prompts.Say(prompts.NothingEarlier, t.Language)
	}
	var b strings.Builder
	b.WriteString(prompts.Say(prompts.Conversation, t.Language) + "\n")
	for _, line := range append(facts, turns...) {
		b.WriteString("\n" + turnMark + cite.Escape(strings.TrimPrefix(strings.TrimPrefix(line, turnMark), factMark)))
	}
	return b.String()
}
