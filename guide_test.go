package ragflow_test

import (
	"testing"

	"example.com/ragflow"
)

// TestGuideAnswers asks the guide what its readers ask: the README's first
// command must not embarrass us.
func TestGuideAnswers(t *testing.T) {
	a := open(t, ragflow.Config{Docs: []string{"docs"}})
	for _, tt := range []struct{ question, want string }{
		{"How do I continue a conversation?", "conversations.md"},
		{"How do I back up my threads?", "storage.md"},
		{"Which exit code means there is no answer?", "troubleshooting.md"},
		{"Can I read my history with SQL?", "storage.md"},
		{"Which file types are indexed?", "indexing.md"},
		{"How do I write a trace?", "traces.md"},
		{"Where do I set the relevance threshold?", "configuration.md"},
		{"What does check_and_refine do?", "how-it-works.md"},
		{"How do I get started?", "getting-started.md"},
		{"How do I use a local model?", "models.md"},
		{"How do I watch a folder?", "indexing.md"},
		{"How do I delete a thread?", "conversations.md"},
	} {
		t.Run(tt.question, func(t *testing.T) {
			r := ask(t, a, "", tt.question)
			checkQuotes(t, r)
			if r.Abstained || len(r.Citations) == 0 || r.Citations[0].Source != tt.want {
				t.Errorf("cites %v, want %s; answer:\n%s", sourcesOf(r), tt.want, r.Answer)
			}
		})
	}
	r := ask(t, a, "", "How much does the enterprise plan cost?")
	if !r.Abstained {
		t.Errorf("a question the guide does not answer got:\n%s", r.Answer)
	}
}

func sourcesOf(r *ragflow.Reply) []string {
	var out []string
	for _, c := range r.Citations {
		out = append(out, c.Source)
	}
	return out
}
