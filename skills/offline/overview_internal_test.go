package offline

import (
	"strings"
	"testing"
)

func TestOverview(t *testing.T) {
	for _, tt := range []struct{ turn, want string }{
		{"Summarize the duck page", "What is duck?"},
		{"Please summarise the page about ducks.", "What is ducks?"},
		{"Tell me about ducks", "What is ducks?"},
		{"tell me more about bind mounts", "What is bind mounts?"},
		{"Give me a short overview of the AutoGen paper", "What is AutoGen?"},
		{"What is the AutoGen paper about?", "What is AutoGen?"},
		{"Docker Swarm overview", "What is Docker Swarm?"},
		{"Explain volumes", "What is volumes?"},
		{"what are the main points of the handbook?", "What is handbook?"},
		{"Podsumuj dokument o wolumenach", "Czym jest wolumenach?"},
		{"O czym jest AutoGen?", "Czym jest AutoGen?"},
		{"Tóm tắt tài liệu về mạng", "mạng là gì?"},
		{"Docker nói về gì?", "Docker là gì?"},
		{"Summarize our conversation", "What is conversation?"},
	} {
		if got, ok := overview(tt.turn); got != tt.want || !ok {
			t.Errorf("%q: %q, %v, want %q", tt.turn, got, ok, tt.want)
		}
	}
}

// TestNoOverview: what asks something of its own, or of what the conversation is about.
func TestNoOverview(t *testing.T) {
	for _, turn := range []string{
		"Tell me about it",
		"Tell me more",
		"tell me about yourself",
		"Summarize this",
		"Explain how volumes work",
		"Explain the difference between volumes and mounts",
		"Describe the steps to back up a volume",
		"What is it about?",
		"What is a volume?",
		"Tell me about the way that containers share a network",
		"",
		strings.Repeat("tell me about ", 1000),
	} {
		if got, ok := overview(turn); ok {
			t.Errorf("%.60q: %q", turn, got)
		}
	}
}
