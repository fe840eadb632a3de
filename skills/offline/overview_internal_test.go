package offline

import "testing"

// TestOverviewTopic reads requests for an overview as questions for a definition.
func TestOverviewTopic(t *testing.T) {
	for _, tt := range []struct{ turn, want string }{
		{"Tell me about Docker Compose.", "What is Docker Compose?"},
		{"Could you summarize the release process?", "What is release process?"},
		{"an overview of volumes", "What is volumes?"},
		{"Tell me more about it", "Tell me more about it"},
		{"Explain how volumes work", "Explain how volumes work"},
		{"Describe me", "Describe me"},
	} {
		if got, _ := asked(tt.turn); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.turn, got, tt.want)
		}
	}
}
