package offline

import "testing"

func TestTopicOf(t *testing.T) {
	for question, want := range map[string]string{
		"What is a bare repository?": "bare repository", "What is the rowid?": "rowid", "How do I quit?": "",
		"What is the name of the person who wrote it?": "", "Co to jest wolumin?": "wolumin",
	} {
		if got := topicOf(question); got != want {
			t.Errorf("topicOf(%q) = %q", question, got)
		}
	}
}

func TestCutTopic(t *testing.T) {
	for _, tt := range []struct {
		said, topic, rest string
		want              bool
	}{
		{"a bare repository is a folder", "bare repository", " is a folder", true},
		{"“wal mode” is kept", "wal mode", " is kept", true},
		{"tablespaces allow", "tablespace", " allow", true},
		{"a volume is kept", "volumes", " is kept", true},
		{"portability is", "port", "", false},
		{"another is head", "head", "", false},
		{"", "head", "", false},
	} {
		if rest, ok := cutTopic(tt.said, tt.topic); ok != tt.want || rest != tt.rest {
			t.Errorf("cutTopic(%q, %q) = %q, %v", tt.said, tt.topic, rest, ok)
		}
	}
}
