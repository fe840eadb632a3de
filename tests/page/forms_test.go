package page_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"example.com/ragflow"
	"example.com/ragflow/agent"
	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm/openai"
	"example.com/ragflow/tests/browser"
)

// TestIntegrationRefused answers a question of a run with what is no JSON: it stays in its field, also when the stream
// sends the turn again, with what is wrong, until a right answer goes through.
func TestIntegrationRefused(t *testing.T) {
	tab := open(t)
	s := llmtest.NewServer(llmtest.CallTool("order", `{"boxes": 12}`), llmtest.Say("13 boxes are ordered. [Source 1]"))
	defer s.Close()
	client, err := openai.New(openai.Config{Provider: "played", BaseURL: s.URL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdle)
	ordered := make(chan string, 1)
	_, url := serveModels(t, leave, ragflow.Models{Chat: client.Chat("m"), Tools: []agent.Tool{{
		Name: "order", Description: "orders boxes", Approve: agent.Always, Schema: json.RawMessage(`{"type": "object"}`),
		Run: func(_ context.Context, arguments json.RawMessage) (agent.Result, error) {
			ordered <- string(arguments)
			return agent.Result{Text: "Done."}, nil
		},
	}}})
	browser.Do(tab, t, chromedp.Navigate(url), chromedp.Click("[name=agent]"))
	ask(tab, t, "Order boxes.")
	until(tab, t, `document.querySelector(".asks")`)
	const arguments = `document.querySelector(".asks textarea")`
	eval[any](tab, t, arguments+`.value = '{"boxes": 13'; document.querySelector(".asks select").value = "edit"; document.querySelector(".asks").requestSubmit()`)
	until(tab, t, `document.body.innerText.includes("This is not JSON.")`)
	time.Sleep(500 * time.Millisecond) // the stream sends the turn again
	if got := eval[string](tab, t, arguments+`.value + document.querySelector(".asks select").value + document.activeElement.tagName`); got != `{"boxes": 13editTEXTAREA` {
		t.Errorf("after the answer was refused the form has %q", got)
	}
	eval[any](tab, t, arguments+`.value += "}"; document.querySelector(".asks").requestSubmit()`)
	until(tab, t, over+" == 1")
	if got := <-ordered; got != `{"boxes":13}` {
		t.Errorf("ordered %s", got)
	}
}

// TestIntegrationStop stops an answer with the keyboard: the focus is in the next question then, not lost with the button.
func TestIntegrationStop(t *testing.T) {
	tab := open(t)
	_, url := serve(t, leave, scribe{words: 3000, pause: 20 * time.Millisecond})
	browser.Do(tab, t, chromedp.Navigate(url))
	ask(tab, t, "How many days of leave?")
	const stop = `document.querySelector(".turn[data-state=running] .tools button")`
	until(tab, t, stop)
	eval[any](tab, t, stop+`.focus()`)
	browser.Do(tab, t, chromedp.KeyEvent("\r"))
	until(tab, t, `document.querySelector(".turn[data-state=cancelled]")`)
	if got := eval[string](tab, t, "document.activeElement.id"); got != "question" {
		t.Errorf("after the answer was stopped the person is at %q", got)
	}
}
