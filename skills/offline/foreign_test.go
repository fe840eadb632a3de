package offline_test

import (
	"strings"
	"testing"

	"example.com/ragflow/search/text"
	"example.com/ragflow/skills/offline"
	"example.com/ragflow/state"
)

// counted is an index of fifty chunks that knows the words of a few.
type counted map[string]int

func (counted) Analyzer() text.Analyzer   { return text.For("en") }
func (counted) Docs() int                 { return 50 }
func (c counted) DocFreq(term string) int { return c[term] }

func TestAcrossLanguages(t *testing.T) {
	english := []state.Chunk{
		{ID: "a", Source: "a.md", Text: "To enable autolock on an existing swarm, set the flag to true. The swarm is then locked whenever Docker restarts."},
		{ID: "b", Source: "b.md", Text: "Docker reads the settings of the proxy from the configuration file of the client, and the containers use them."},
	}
	stats := counted{}
	for _, c := range english {
		for _, term := range stats.Analyzer().Analyze(c.Text) {
			stats[term.Term]++
		}
	}
	for _, tt := range []struct {
		name, question string
		passes         bool
		words          string // that both languages share; "" for a question in the documents' language
	}{
		{"names and loans carry", "Jak włączyć autolock w działającym klastrze swarm po restarcie Dockera?", true, "autolock, swarm, Docker"},
		{"an unknown name", "Jak monitorować kontenery Dockera za pomocą szablonu Zabbix?", false, "Docker, Zabbix"},
		{"nothing in both", "Jak usunąć wszystkie obrazy starsze niż tydzień?", false, ""},
		{"the documents' language", "How do I enable autolock on an existing swarm?", true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			grade, err := offline.NewGrader(stats).Grade(t.Context(), []state.Query{{Text: tt.question, Weight: 1}}, english)
			if err != nil {
				t.Fatal(err)
			}
			if got := grade.Score >= offline.DefaultThreshold; got != tt.passes {
				t.Errorf("grade %.2f, passes %v, want %v: %s", grade.Score, got, tt.passes, grade.Why)
			}
			if tt.words != "" && !strings.Contains(grade.Why, "("+tt.words+")") {
				t.Errorf("why %q, want the words %q", grade.Why, tt.words)
			}
			if tt.words != "" && (grade.Refined == nil || grade.Refined.Text != strings.ReplaceAll(tt.words, ",", "")) {
				t.Errorf("refined %+v, want the words of both languages alone", grade.Refined)
			}
		})
	}
}
