package main

import (
	"strings"
	"testing"
	"testing/fstest"

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

// TestDoctorMemory: the memory that a search takes is compared with what is free, or what a container may have.
func TestDoctorMemory(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ free, limit, want string }{
		{"5000000", "", ""}, // kB
		{"5000000", "max", ""},
		{"4000000", "max", "takes some 4.6 GB of memory, and 4.1 GB are free"},
		{"5000000", "2000000000", "and 2.0 GB are free"},
		{"5000000", "9000000000", ""},
		{"", "", ""},
	} {
		system := fstest.MapFS{"sys/fs/cgroup/memory.max": {Data: []byte(tt.limit + "\n")}}
		if tt.free != "" {
			system["proc/meminfo"] = &fstest.MapFile{Data: []byte("MemTotal: 8000000 kB\nMemAvailable:   " + tt.free + " kB\n")}
		}
		d := &doctor{}
		d.checkMemory(1_000_000, 1_000_000, system)
		if got := strings.Join(d.Hints, ""); (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
			t.Errorf("free %s kB, limit %s: %q, want %q", tt.free, tt.limit, got, tt.want)
		}
	}
}
