package main

import (
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/internal/settings"
)

// TestDoctorAnswer: hints about the last answer are made from what was measured, and from what is configured.
func TestDoctorAnswer(t *testing.T) {
	t.Parallel()
	good := ragflow.GradeReply{Score: 0.9, Attempts: 1}
	for _, tt := range []struct {
		name  string
		reply ragflow.Reply
		with  ragflow.Config
		want  []string
	}{
		{"good", ragflow.Reply{Grade: good, CostUSD: 0.04, LatencyMS: map[string]float64{"total": 499}}, ragflow.Config{}, nil},
		{"dear", ragflow.Reply{Grade: good, CostUSD: 0.08}, ragflow.Config{}, []string{"cost $0.08"}},
		{"low", ragflow.Reply{Grade: ragflow.GradeReply{Score: 0.2, Attempts: 2}}, ragflow.Config{}, []string{"graded 0.20", "LLM_TRANSFORMS"}},
		{"low with a dictionary", ragflow.Reply{Grade: ragflow.GradeReply{Score: 0.2, Attempts: 2}}, ragflow.Config{Dictionary: "words.txt"}, []string{"graded 0.20"}},
		{
			"slow",
			ragflow.Reply{Grade: good, LatencyMS: map[string]float64{"total": 900, "retrieval": 700, "generate": 200}},
			ragflow.Config{},
			[]string{"0.9 s, most of it in retrieval; RAG_ENABLE_CACHING=true", "its search took 0.7 s"},
		},
		{
			"slow by its model",
			ragflow.Reply{Grade: good, Usage: ragflow.Usage{Calls: 1}, LatencyMS: map[string]float64{"total": 2800, "retrieval": 400, "generate": 2400}},
			ragflow.Config{Cache: ragflow.Cache{On: true}},
			[]string{"2.8 s, most of it in generate: a smaller or nearer model"},
		},
		{
			"slow by its model and its search",
			ragflow.Reply{Grade: good, Usage: ragflow.Usage{Calls: 1}, LatencyMS: map[string]float64{"total": 3000, "retrieval": 400, "post_retrieval": 200, "generate": 2400}},
			ragflow.Config{Cache: ragflow.Cache{On: true}},
			[]string{"most of it in generate", "its search took 0.6 s"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := &doctor{settings: &settings.Settings{Config: tt.with}}
			d.checkAnswer(&tt.reply)
			if len(d.Hints) != len(tt.want) {
				t.Fatalf("%q, want %q", d.Hints, tt.want)
			}
			for i, want := range tt.want {
				if !strings.Contains(d.Hints[i], want) {
					t.Errorf("%q does not say %q", d.Hints[i], want)
				}
			}
		})
	}
}
