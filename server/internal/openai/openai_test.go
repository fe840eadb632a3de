package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/llm"
	"example.com/ragflow/server/internal/door"
)

// TestChat: the answer is text with numbered marks and a list of links, and annotations say where the marks are.
func TestChat(t *testing.T) {
	t.Parallel()
	f := serve(t, door.Rules{}, nil)
	whole := f.json("POST", "/v1/chat/completions", chat(say("system", "Be brief."), say("user", leave)))
	said := text(whole, "choices", 0, "message", "content")
	if !strings.Contains(said, "28 days") || !strings.Contains(said, "[1]") || !strings.Contains(said, "\n\n- [1] [") {
		t.Fatalf("%q", said)
	}
	a := at(whole, "choices", 0, "message", "annotations", 0, "url_citation")
	start, end := int(at(a, "start_index").(float64)), int(at(a, "end_index").(float64)) //nolint:forcetypeassert // the test fails
	if got := string([]rune(said)[start:end]); got != "[1]" {
		t.Errorf("annotation at %q", got)
	}
	if url := text(a, "url"); !regexp.MustCompile(`^` + f.url + `/d/-/[0-9a-f]{8}/leave\.md#L\d+-L\d+$`).MatchString(url) {
		t.Errorf("the link is %s", url)
	}
	status, _, passage := f.do("GET", "/v1/passages/"+strings.TrimPrefix(text(whole, "id"), "chatcmpl-")+"/1", nil)
	if status != http.StatusOK || !strings.Contains(passage, "Everyone has 28 days of leave a year.") {
		t.Errorf("the passage is %d %s", status, passage)
	}
	events, done := f.stream("/v1/chat/completions", object{"model": "ragflow", "messages": []object{say("user", leave)}, "stream_options": object{"include_usage": true}})
	streamed := ""
	for i, e := range events {
		choices := at(e.data, "choices").([]any) //nolint:forcetypeassert // the test fails
		if last := i == len(events)-1; len(choices) != 1 && !last || last != (at(e.data, "usage") != nil) {
			t.Errorf("chunk %d of %d: %v", i, len(events), e.data)
		}
		if len(choices) > 0 {
			streamed += text(choices, 0, "delta", "content")
		}
	}
	n := len(events)
	if !done || text(events[0].data, "choices", 0, "delta", "role") != "assistant" || text(events[n-2].data, "choices", 0, "finish_reason") != "stop" ||
		at(events[n-3].data, "choices", 0, "delta", "annotations") == nil {
		t.Errorf("%v", events)
	}
	if cut := strings.Index(said, "\n\n**"); streamed[:cut] != said[:cut] {
		t.Errorf("streamed %q, whole %q", streamed, said)
	}
}

// TestRefused: what cannot be met is an error that says why, in the form of the protocol.
func TestRefused(t *testing.T) {
	t.Parallel()
	f := serve(t, door.Rules{}, nil)
	picture := []object{{"type": "image_url", "image_url": object{"url": "data:"}}}
	with := func(key string, value any) object {
		body := chat(say("user", leave))
		body[key] = value
		return body
	}
	for name, c := range map[string]struct {
		path   string
		body   object
		status int
		param  string
	}{
		"model":        {"chat/completions", with("model", "gpt-5"), 404, "model"},
		"picture":      {"chat/completions", with("messages", []object{{"role": "user", "content": picture}}), 400, "messages"},
		"no message":   {"chat/completions", with("messages", []object{}), 400, "messages"},
		"prefill":      {"chat/completions", with("messages", []object{say("user", "x"), say("assistant", "y")}), 400, "messages"},
		"schema":       {"chat/completions", with("response_format", object{"type": "json_schema"}), 400, "response_format"},
		"tool":         {"chat/completions", with("tool_choice", "required"), 400, "tool_choice"},
		"form":         {"chat/completions", with("messages", 3), 400, ""},
		"background":   {"responses", object{"model": "ragflow", "input": "x", "background": true}, 400, "background"},
		"response":     {"responses", object{"model": "ragflow", "input": "x", "previous_response_id": "resp_x"}, 404, ""},
		"conversation": {"responses", object{"model": "ragflow", "input": "x", "conversation": "conv_x"}, 404, ""},
		"tokens":       {"embeddings", object{"model": "ragflow", "input": []int{1, 2}}, 400, "input"},
		"vectors of":   {"embeddings", object{"model": "text-embedding-3-small", "input": "x"}, 404, "model"},
	} {
		status, _, said := f.do("POST", "/v1/"+c.path, c.body)
		var out object
		if err := json.Unmarshal([]byte(said), &out); err != nil || status != c.status || text(out, "error", "param") != c.param || text(out, "error", "message") == "" {
			t.Errorf("%s: %d %s", name, status, said)
		}
	}
	if n := len(f.threads()); n != 0 {
		t.Errorf("%d threads", n)
	}
	body := chat(say("user", leave))
	body["tools"], body["temperature"], body["max_tokens"], body["user"] = []object{{"type": "function"}}, 1.5, 10, "x"
	f.json("POST", "/v1/chat/completions", body) // ignored
	parts := object{"role": "user", "content": []object{{"type": "text", "text": "How many days "}, {"type": "text", "text": "of leave do I have?"}}}
	if said := text(f.json("POST", "/v1/chat/completions", chat(parts)), "choices", 0, "message", "content"); !strings.Contains(said, "28 days") {
		t.Errorf("parts: %q", said)
	}
}

// TestChores: prompts of programs search nothing and open no thread.
func TestChores(t *testing.T) {
	t.Parallel()
	webUI := "### Task:\nGenerate a concise, 3-5 word title.\n### Output:\nJSON format: { \"title\": \"…\" }\n### Chat History:\n<chat_history>\nUSER: How long is my leave?\nASSISTANT: 28 days.\n</chat_history>"
	tags := strings.ReplaceAll(webUI, "title", "tags")
	libreChat := "Provide a concise, 5-word-or-less title for the conversation, using title case conventions. Only return the title itself.\n\nConversation:\nUser: How long is my leave?\nAI: 28 days."
	answers, played := model(t, llmtest.Say("never"))
	for _, chatModel := range []llm.Chat{nil, answers} {
		f := serve(t, door.Rules{}, chatModel)
		for prompt, want := range map[string]string{webUI: `{"title":"How long is my leave?"}`, tags: "{}", libreChat: "How long is my leave?"} {
			if chatModel != nil {
				want = "Leave"
			}
			whole := f.json("POST", "/v1/chat/completions", chat(say("user", prompt)))
			if got := text(whole, "choices", 0, "message", "content"); got != want {
				t.Errorf("%.40q: %q, want %q", prompt, got, want)
			}
		}
		if events, done := f.stream("/v1/chat/completions", chat(say("user", webUI))); !done || len(events) != 3 {
			t.Errorf("%v", events)
		}
		if n := len(f.threads()); n != 0 {
			t.Errorf("%d threads", n)
		}
	}
	if calls := played.Calls(); len(calls) != 4 || calls[0].System != "" {
		t.Errorf("%+v", calls)
	}
}

// TestOpenWebUI: steps and sources with their passages, in chunks that all have choices.
func TestOpenWebUI(t *testing.T) {
	t.Parallel()
	f := serve(t, door.Rules{}, nil)
	f.header.Set("X-Ragflow-Events", "open-webui")
	events, _ := f.stream("/v1/chat/completions", chat(say("user", leave)))
	seen := map[string]int{}
	for _, e := range events {
		if len(at(e.data, "choices").([]any)) != 1 { //nolint:forcetypeassert // the test fails
			t.Errorf("%v", e.data)
		}
		if special := at(e.data, "event"); special != nil {
			seen[text(special, "type")]++
			if text(special, "type") == "source" && !strings.Contains(text(special, "data", "document", 0), "28 days") {
				t.Errorf("%v", special)
			}
		}
	}
	if seen["status"] < 4 || seen["source"] != 1 {
		t.Errorf("%v", seen)
	}
}

// TestRights: a token sees its collections and the threads of its owner.
func TestRights(t *testing.T) {
	t.Parallel()
	f := serve(t, door.Rules{Token: true}, nil)
	status, _, said := f.do("GET", "/v1/models", nil)
	if status != http.StatusUnauthorized || !strings.Contains(said, `"code":"invalid_api_key"`) {
		t.Errorf("%d %s", status, said)
	}
	ask := []tokens.Scope{tokens.Ask}
	f.use(tokens.Token{Name: "anna", Owner: "anna", Scopes: ask})
	if n := len(at(f.json("GET", "/v1/models", nil), "data").([]any)); n != 2 { //nolint:forcetypeassert // the test fails
		t.Errorf("%d models", n)
	}
	f.json("GET", "/v1/models/ragflow%2Ffinance", nil)
	response := f.json("POST", "/v1/responses", object{"model": "ragflow", "input": leave})
	conversation := text(f.json("POST", "/v1/conversations", object{}), "id")
	f.json("POST", "/v1/responses", object{"model": "ragflow", "input": leave, "conversation": conversation})
	passage := "/v1/passages/" + strings.TrimPrefix(text(response, "id"), "resp_") + "/1"
	if status, _, said := f.do("GET", passage, nil); status != http.StatusOK {
		t.Errorf("%d %s", status, said)
	}
	f.use(tokens.Token{Name: "bert", Owner: "bert", Scopes: ask, Collections: []string{"sales"}})
	if n := len(at(f.json("GET", "/v1/models", nil), "data").([]any)); n != 1 { //nolint:forcetypeassert // the test fails
		t.Errorf("%d models", n)
	}
	for name, r := range map[string]struct {
		method, foreign, unknown string
		body                     object
	}{
		"model":    {"GET", "/v1/models/ragflow%2Ffinance", "/v1/models/ragflow%2Fnothing", nil},
		"response": {"GET", "/v1/responses/" + text(response, "id"), "/v1/responses/resp_x", nil},
		"passage":  {"GET", passage, "/v1/passages/x/1", nil},
	} {
		a, _, foreign := f.do(r.method, r.foreign, r.body)
		b, _, unknown := f.do(r.method, r.unknown, r.body)
		if a != http.StatusNotFound || a != b || foreign != unknown {
			t.Errorf("%s: %d %s, unknown %d %s", name, a, foreign, b, unknown)
		}
	}
	if list := f.json("GET", "/v1/conversations/"+conversation+"/items", nil); len(at(list, "data").([]any)) != 0 { //nolint:forcetypeassert // the test fails
		t.Errorf("a foreign conversation: %v", list)
	}
}

// TestEmbeddings are vectors as lists or in base64.
func TestEmbeddings(t *testing.T) {
	t.Parallel()
	f := serve(t, door.Rules{}, nil)
	out := f.json("POST", "/v1/embeddings", object{"model": "ragflow", "input": []string{"leave", "parking"}})
	if n := len(at(out, "data", 1, "embedding").([]any)); n != 384 || text(out, "model") == "" { //nolint:forcetypeassert // the test fails
		t.Errorf("%d numbers", n)
	}
	out = f.json("POST", "/v1/embeddings", object{"model": text(out, "model"), "input": "leave", "encoding_format": "base64", "dimensions": 384})
	if n := len(text(out, "data", 0, "embedding")); n != 2048 {
		t.Errorf("%d characters", n)
	}
}

// TestLeft: the model of a client that leaves is cancelled at once, as a stream and as a whole.
func TestLeft(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/v1/chat/completions", "/v1/responses"} {
		for _, streamed := range []bool{true, false} {
			left, asked := make(chan time.Time, 1), make(chan struct{})
			answers, _ := model(t, func(w http.ResponseWriter, r *http.Request) {
				close(asked)
				llmtest.SayThen("There are ", nil, "")(w, r)
				left <- time.Now()
			})
			f := serve(t, door.Rules{}, answers)
			body := chat(say("user", leave))
			body["input"], body["stream"] = leave, streamed
			data, _ := json.Marshal(body)
			ctx, leaves := context.WithCancel(t.Context())
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url+path, bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				if resp, err := http.DefaultClient.Do(r); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
			}()
			<-asked
			gone := time.Now()
			leaves()
			select {
			case at := <-left:
				t.Logf("%s, stream %v: cancelled after %s", path, streamed, at.Sub(gone))
			case <-time.After(10 * time.Second): // 5 ms on an idle machine
				t.Errorf("%s, stream %v: the model goes on", path, streamed)
			}
		}
	}
}

// TestSentences: a sentence is sent when it is checked, while the model still writes the next one.
func TestSentences(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/v1/chat/completions", "/v1/responses"} {
		release := make(chan struct{})
		answers, _ := model(t, llmtest.SayThen("Everyone has 28 days of leave a year. [Source 1] Parking costs ", release, "20 euros a month. [Source 1]"))
		f := serve(t, door.Rules{}, answers)
		body := chat(say("user", leave))
		body["input"], body["stream"] = leave, true
		data, _ := json.Marshal(body)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.url+path, bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		seen := ""
		for buffer := make([]byte, 4096); !strings.Contains(seen, "28 days"); {
			n, err := resp.Body.Read(buffer)
			if seen += string(buffer[:n]); err != nil {
				t.Fatalf("%s: nothing comes before the model ends: %q", path, seen)
			}
		}
		close(release)
		rest, err := io.ReadAll(resp.Body)
		if seen += string(rest); err != nil || strings.Contains(seen, "[Source") || !strings.Contains(seen, "20 euros a month.") {
			t.Errorf("%s: %s, %v", path, seen, err)
		}
		_ = resp.Body.Close()
	}
}
