//go:build !windows

package main

import (
	"strings"
	"testing"

	"example.com/ragflow/llm/llmtest"
)

// An answer stands on the screen while the model still writes it, and once when
// it is done. Where it may be withdrawn, it stands there from its first supported sentence on.
func TestAskStreamsToTheTerminal(t *testing.T) {
	for name, tt := range map[string]struct{ refusals, first, rest, end, once string }{
		"as it is": {
			"model", "A volume keeps the data of a container", " after the container is removed. [Source 1]",
			`is\s+removed\. \[1\]`, "after the container",
		},
		"corrected": {
			"check", "A volume keeps the data of a container after the container is removed. ", "[Source 1] Elephants wash themselves in the river every single morning. [Source 1]",
			`Elephants\s+wash\s.*\(unsupported\)`, "every single morning",
		},
	} {
		t.Run(name, func(t *testing.T) { streams(t, tt.refusals, tt.first, tt.rest, tt.end, tt.once) })
	}
}

func streams(t *testing.T, refusals, first, rest, end, once string) {
	t.Helper()
	shown := make(chan struct{})
	s := llmtest.NewServer(llmtest.Script(
		llmtest.Entry{When: "SCORE:", Do: llmtest.Say("SCORE: 0.9")},
		llmtest.Entry{When: "search queries", Do: llmtest.Say("NONE")},
		llmtest.Entry{When: "", Do: llmtest.SayThen(first, shown, rest)},
	))
	defer s.Close()
	dir := chatFolder(t)
	tt := startIn(t, dir, 400, 40, []string{"NO_COLOR=1", "OPENAI_BASE_URL=" + s.URL(), "OPENAI_API_KEY=none", "LLM_REFUSALS=" + refusals},
		"ask", "--docs", "docs", "--data-dir", "data", "--model", "small", "How do I back up a volume?")
	tt.expect(strings.TrimSpace(first) + `\s+writing.*`) // and nothing after it yet
	close(shown)
	tt.expect(end + `.*continue with: ragflow ask .*--thread .*"…"`)
	tt.exit(0)
	if text := tt.screen.Text(); strings.Count(text, once) != 1 {
		t.Errorf("%q does not stand there once:\n%s", once, text)
	}
}
