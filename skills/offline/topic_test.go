package offline_test

import (
	"testing"

	"example.com/ragflow/skills/offline"
)

func TestTopic(t *testing.T) {
	for question, want := range map[string]string{
		"What is Docker Compose?":   "Docker Compose",
		"what are volumes":          "volumes",
		"What's a bind mount?":      "a bind mount",
		"what’s a bind mount":       "a bind mount",
		"Who was Marie Curie?":      "",
		"Czym jest wolumen?":        "wolumen",
		"Co to jest obraz?":         "obraz",
		"Volume là gì?":             "Volume",
		"How do I make a volume?":   "",
		"What is it?":               "it",
		"What is the port of Redis": "the port of Redis",
		"":                          "",
		"?":                         "",
	} {
		if got := offline.Topic(question); got != want {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
}

func BenchmarkTopic(b *testing.B) {
	for b.Loop() {
		offline.Topic("How do I back up the volume of a running container in production?")
	}
}
