package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
	"example.com/ragflow/state"
)

// TestTwoUsers asks as both users. Each is answered by their model from their documents; a
// stream that was left is joined again; the run of another user is not there.
func TestTwoUsers(t *testing.T) {
	server := httptest.NewServer(handler(assistant(t)))
	defer server.Close()
	anna := begin(t, server.URL, "anna", "How long do I keep receipts?")
	first := events(t, server.URL, "anna", anna, "", 3)
	rest := events(t, server.URL, "anna", anna, first[2].Position, -1)
	all := events(t, server.URL, "anna", anna, "", -1)
	last := rest[len(rest)-1]
	if len(rest) == 0 || last.Kind != ragflow.Done || last.Reply.Model != "large" || last.Reply.Citations[0].Source != "receipts.md" {
		t.Fatalf("anna got %+v", last)
	}
	if said := text(first) + text(rest); said != last.Reply.Answer || said != text(all) {
		t.Errorf("anna saw %q, the answer is %q", said, last.Reply.Answer)
	}
	bert := begin(t, server.URL, "bert", "How many days of leave do I have?")
	seen := events(t, server.URL, "bert", bert, "", -1)
	last = seen[len(seen)-1]
	if last.Kind != ragflow.Done || last.Reply.Model != "small" || last.Reply.Citations[0].Source != "leave.md" {
		t.Errorf("bert got %+v", last)
	}
	for _, h := range last.Reply.Retrieved {
		if h.Source != "leave.md" {
			t.Errorf("bert found %s, which the filter leaves out", h.Source)
		}
	}
	resp, err := http.Get(server.URL + "/events?user=bert&run=" + anna) //nolint:noctx // the test is short
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	line, _ := bufio.NewReader(resp.Body).ReadString('\n')
	if !strings.Contains(line, "not found") {
		t.Errorf("bert reads the run of anna: %s", line)
	}
}

// assistant has two models and two collections.
func assistant(t *testing.T) *ragflow.Assistant {
	t.Helper()
	models := map[string]llm.Chat{}
	for name, answer := range map[string]string{
		"large": "Keep receipts for ten years. [Source 1]", "small": "You have 28 days of leave a year. [Source 1]",
	} {
		s := llmtest.NewServer(llmtest.Script(
			llmtest.Entry{When: "You grade search results", Do: llmtest.Say("SCORE: 0.9")}, llmtest.Entry{Do: llmtest.Say(answer)},
		))
		t.Cleanup(s.Close)
		client, err := openai.New(openai.Config{BaseURL: s.URL()})
		if err != nil {
			t.Fatal(err)
		}
		models[name] = client.Chat(name)
	}
	a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: t.TempDir(), Models: ragflow.Models{Named: models}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	put(t, a, "finance", "receipts.md", "Keep receipts for ten years.", "finance")
	put(t, a, "handbook", "leave.md", "Everyone has 28 days of leave a year.", "everybody")
	put(t, a, "handbook", "secret.md", "The board has 60 days of leave a year.", "board")
	return a
}

func put(t *testing.T, a *ragflow.Assistant, collection, name, text, audience string) {
	t.Helper()
	library, err := a.Collections().Open(t.Context(), collection)
	if err != nil {
		library, err = a.Collections().Make(t.Context(), collection)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := library.PutText(t.Context(), name, strings.TrimSuffix(name, ".md"), text, state.Metadata{"audience": audience}); err != nil {
		t.Fatal(err)
	}
}

func begin(t *testing.T, address, user, question string) (run string) {
	t.Helper()
	resp, err := http.Post(address+"/ask?user="+user, "text/plain", strings.NewReader(question)) //nolint:noctx // the test is short
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var info ragflow.RunInfo
	if err := json.NewDecoder(resp.Body).Decode(&info); err != nil || info.Run == "" {
		t.Fatalf("%s: %+v, %v", resp.Status, info, err)
	}
	return info.Run
}

// events reads n events of a run after a position, or all.
func events(t *testing.T, address, user, run string, after ragflow.Position, n int) (out []ragflow.Event) {
	t.Helper()
	query := url.Values{"user": {user}, "run": {run}, "after": {string(after)}}
	resp, err := http.Get(address + "/events?" + query.Encode()) //nolint:noctx // the test is short
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() // leaves the stream
	for d := json.NewDecoder(resp.Body); n != 0 && d.More(); n-- {
		var e ragflow.Event
		if err := d.Decode(&e); err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

func text(events []ragflow.Event) (out string) {
	for _, e := range events {
		out += e.Text
		if e.Kind == ragflow.Withdrawn {
			out = ""
		}
	}
	return out
}
