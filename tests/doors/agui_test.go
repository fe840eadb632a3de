package doors_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/server"
)

// shown is what a page has after a run by AG-UI.
type shown struct {
	Events        []string
	Deltas, Error string
	Messages      []struct {
		ID, Role string
		Content  any
	}
	State struct {
		Citations []struct{ URL, Quote string }
	}
	Custom []struct {
		Name  string
		Value []struct{ URL string }
	}
}

// roles are those of the messages, in order.
func (p shown) roles() (roles []string) {
	for _, m := range p.Messages {
		roles = append(roles, m.Role)
	}
	return roles
}

// answered checks a page whose last message answers.
func (p shown) answered(t *testing.T, roles ...string) {
	t.Helper()
	if p.Error != "" || !slices.Equal(p.roles(), roles) {
		t.Fatalf("%+v", p)
	}
	answer, _ := p.Messages[len(p.Messages)-1].Content.(string)
	if !strings.Contains(answer, "26 days") || p.Deltas != "" && p.Deltas != answer {
		t.Errorf("%q, streamed as %q", answer, p.Deltas)
	}
	if len(p.State.Citations) == 0 || !strings.Contains(p.State.Citations[0].Quote, "26 days") || !strings.Contains(p.State.Citations[0].URL, "/leave.md#L") {
		t.Errorf("%+v", p.State)
	}
	if len(p.Custom) != 1 || p.Custom[0].Name != "sources" || p.Custom[0].Value[0].URL != p.State.Citations[0].URL {
		t.Errorf("%+v", p.Custom)
	}
}

// aguiHouse serves an assistant over the documents of a house.
func aguiHouse(t *testing.T, models ragflow.Models) (*ragflow.Assistant, string) {
	t.Helper()
	clients(t, "agui") // or skip
	h := newHouse(t)
	a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: h.data, Docs: []string{h.docs}, Models: models})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a, serveHere(t, a, server.Options{})
}

// TestIntegrationAGUIClient: the official client takes answers, the thread when it is loaded again, and errors.
func TestIntegrationAGUIClient(t *testing.T) {
	_, url := aguiHouse(t, ragflow.Models{})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := script(ctx, t, "agui", "client.mjs", url).Output()
	seen := map[string]shown{}
	if err != nil || json.Unmarshal(out, &seen) != nil {
		t.Fatalf("%v: %s", err, out)
	}
	seen["first"].answered(t, "assistant", "user", "assistant")
	seen["second"].answered(t, "assistant", "user", "assistant", "user", "assistant")
	seen["again"].answered(t, "assistant", "user", "assistant", "user", "assistant")
	if x, y := seen["second"], seen["again"]; x.Deltas == "" || y.Deltas != "" || fmt.Sprint(x.Messages) != fmt.Sprint(y.Messages) {
		t.Errorf("%+v\n%+v", x.Messages, y.Messages)
	}
	for _, kind := range []string{"RUN_STARTED", "STEP_STARTED", "STEP_FINISHED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "MESSAGES_SNAPSHOT", "STATE_SNAPSHOT", "CUSTOM", "RUN_FINISHED"} {
		if !slices.Contains(seen["first"].Events, kind) {
			t.Errorf("no %s in %v", kind, seen["first"].Events)
		}
	}
	if x := seen["unknown"]; x.Error != "" || !slices.Equal(x.Events, []string{"RUN_STARTED", "RUN_FINISHED"}) {
		t.Errorf("%+v", x)
	}
	if x := seen["name"]; !strings.Contains(x.Error, ragflow.ErrThreadName.Error()) || len(x.Messages) != 1 {
		t.Errorf("%+v", x)
	}
	if x := seen["picture"]; !strings.Contains(x.Error, "HTTP 400") || !strings.Contains(x.Error, "only text can be read") {
		t.Errorf("%+v", x)
	}
}

// TestIntegrationAGUILeaves: a client that leaves cancels the run, and the question continues when it comes back.
func TestIntegrationAGUILeaves(t *testing.T) {
	m := newHeld()
	a, url := aguiHouse(t, ragflow.Models{Chat: m})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	in, lines := talk(t, script(ctx, t, "agui", "client.mjs", url, "leave"))
	if !lines.Scan() || lines.Text() != "left" {
		t.Fatalf("%q, %v", lines.Text(), lines.Err())
	}
	for end := time.Now().Add(10 * time.Second); len(a.Runs().List(t.Context())) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the run continues without its reader")
		}
	}
	close(m.Release)
	fmt.Fprintln(in, "come back")
	var seen map[string]shown
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &seen) != nil {
		t.Fatalf("%q, %v", lines.Text(), lines.Err())
	}
	if slices.Contains(seen["left"].Events, "RUN_FINISHED") {
		t.Errorf("%+v", seen["left"])
	}
	seen["back"].answered(t, "user", "assistant")
}
