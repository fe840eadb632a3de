package server_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/agent"
	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
	"example.com/ragflow/server"
)

// shows returns the page of a conversation once it has a text.
func (v visitor) shows(path, text string) string {
	v.t.Helper()
	for end := time.Now().Add(20 * time.Second); ; {
		_, page := v.get(200, path)
		if strings.Contains(page, text) {
			return page
		}
		if time.Now().After(end) {
			v.t.Fatalf("%s does not show %q: %s", path, text, page)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestPageStop stops an answer that is written, and continues it.
func TestPageStop(t *testing.T) {
	t.Parallel()
	m := llmtest.Hold(leaveAnswer)
	v := visit(t, open(t, server.Options{}, func(c *ragflow.Config) { c.Models = ragflow.Models{Chat: m} }))
	thread, _ := v.send(200, "/ask", "question", "How many days of leave?")
	happens(t, m.Asked, "the question")
	_, page := v.get(200, thread)
	v.holds(page, `data-state="running"`, "Stop")
	v.send(200, v.link(page, "/cancel/"))
	page = v.shows(thread, "This was stopped")
	close(m.Release)
	v.send(200, v.link(page, "/resume"))
	v.holds(v.settled(thread), "26 days")
}

// TestPageApproval shows what a tool would do before a person allows it. An answer that is refused says why, and what
// was typed stays.
func TestPageApproval(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(llmtest.CallTool("order", `{"boxes": 12}`), llmtest.Say("12 boxes are ordered. [Source 1]"))
	defer s.Close()
	client, err := openai.New(openai.Config{Provider: "played", BaseURL: s.URL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdle)
	ordered := make(chan string, 1)
	v := visit(t, open(t, server.Options{}, func(c *ragflow.Config) {
		c.Models = ragflow.Models{Chat: client.Chat("m"), Tools: []agent.Tool{{
			Name: "order", Description: "orders boxes", Approve: agent.Always, Schema: json.RawMessage(`{"type": "object"}`),
			Run: func(_ context.Context, arguments json.RawMessage) (agent.Result, error) {
				ordered <- string(arguments)
				return agent.Result{Text: "12 boxes are ordered."}, nil
			},
		}}}
	}))
	thread, _ := v.send(200, "/ask", "question", "Order boxes.", "agent", "yes")
	page := v.shows(thread, `data-state="asked"`)
	v.holds(page, "order", "boxes", "12", "<select")
	name := fieldName.FindStringSubmatch(page)
	if name == nil {
		t.Fatalf("no field for the verdict: %s", page)
	}
	verdict, resume := name[1], v.link(page, "/resume")
	arguments, reason := strings.Replace(verdict, ".verdict", ".arguments", 1), strings.Replace(verdict, ".verdict", ".reason", 1)
	_, page = v.send(422, resume, verdict, "edit", arguments, "{no", reason, "too <many>")
	v.holds(page, "This is not JSON.", `aria-invalid="true"`, ">{no</textarea>", "<option selected>edit</option>", `value="too &lt;many&gt;"`)
	_, page = v.send(422, resume, verdict, "maybe", reason, "too many")
	v.holds(page, "This answer was not accepted:", "maybe", `value="too many"`)
	v.send(200, resume, verdict, "edit", reason, "far too many")
	page = v.shows(thread, "arguments belong to the verdict edit")
	v.holds(page, "This answer was not accepted:", "<option selected>edit</option>", `value="far too many"`)
	v.send(200, resume, verdict, "approve")
	page = v.settled(thread)
	v.holds(page, "12 boxes are ordered", `<h2 class="question">Order boxes.</h2>`)
	if n := strings.Count(page, "<article"); n != 1 {
		t.Errorf("one question has %d turns: %s", n, page)
	}
	if got := <-ordered; !strings.Contains(got, "12") {
		t.Errorf("ordered %s", got)
	}
}

// away is a model that cannot be reached.
type away struct{}

func (away) Model() string { return "away" }

func (away) Complete(context.Context, llm.Request, func(string)) (llm.Response, error) {
	return llm.Response{}, &llm.Error{Provider: "ollama", Model: "away", Kind: llm.ErrUnavailable}
}

// TestPageFault says in the language of the page that a model cannot be reached, and has the error itself as a detail.
func TestPageFault(t *testing.T) {
	t.Parallel()
	v := visit(t, open(t, server.Options{}, func(c *ragflow.Config) { c.Models = ragflow.Models{Chat: away{}} }))
	v.send(200, "/preferences", "language", "de", "here", "/")
	_, page := v.send(200, "/models", "model", "away")
	v.holds(page, "Das Modell ist nicht erreichbar", "<p>Provider ollama is not available</p></details>")
	thread, _ := v.send(200, "/ask", "question", "How many days of leave?")
	v.holds(v.settled(thread), "26 days", "Ein Modell ist ausgefallen", "Provider ollama is not available")
}
