package openai

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"

	"example.com/ragflow"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/llm"
	"example.com/ragflow/nodes"
	"example.com/ragflow/server/internal/door"
)

type chatRequest struct {
	common

	Messages       []message `json:"messages"`
	N              int       `json:"n"`
	ResponseFormat format    `json:"response_format"`
	StreamOptions  struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

func (s *service) chat(w http.ResponseWriter, r *http.Request) (any, error) {
	var in chatRequest
	t, err := &turn{}, door.ReadJSON(r, &in)
	if err == nil {
		t.text, t.before, err = question("messages", in.Messages)
	}
	if err == nil && chore.MatchString(t.text) {
		return s.do(w, r, &in, t.text)
	}
	if err == nil && in.N > 1 {
		err = refuse("n", "there is one answer")
	}
	if err == nil {
		err = in.check("response_format", in.ResponseFormat)
	}
	if err == nil {
		t.place, err = s.locate(r, in.Metadata, t.before)
	}
	if err != nil {
		return nil, err
	}
	t.model, t.whole = in.Model, completion
	if in.Stream {
		t.stream = func(out *door.Stream, a *answer) teller {
			c := newChunks(out, a, &in)
			c.webUI = r.Header.Get("X-Ragflow-Events") == "open-webui" || r.Header.Get("X-Openwebui-Chat-Id") != ""
			return c
		}
	}
	return s.answer(w, r, t)
}

// completion is an answer as a whole.
func completion(a *answer) object {
	message := object{"role": "assistant", "content": a.text, "refusal": nil, "annotations": a.annotations(true)}
	out := a.frame("chat.completion", object{"index": 0, "message": message, "logprobs": nil, "finish_reason": "stop"})
	out["usage"] = a.usage()
	return out
}

// frame is a completion or a chunk of one.
func (a *answer) frame(kind string, choices ...object) object {
	return object{
		"id": "chatcmpl-" + a.run, "object": kind, "created": a.time.Unix(), "model": a.turn.model, "choices": append([]object{}, choices...),
	}
}

// usage counts the tokens of all models that took part.
func (a *answer) usage() object {
	u := a.reply.Usage
	return object{"prompt_tokens": u.InputTokens, "completion_tokens": u.OutputTokens, "total_tokens": u.InputTokens + u.OutputTokens}
}

// chunks tells an answer as chunks of a completion.
type chunks struct {
	*answer

	out   *door.Stream
	usage bool // asked for
	webUI bool // Open WebUI gets the steps, and the sources with their passages
}

// newChunks begins the message.
func newChunks(out *door.Stream, a *answer, in *chatRequest) *chunks {
	c := &chunks{answer: a, out: out, usage: in.StreamOptions.IncludeUsage}
	c.send(object{"role": "assistant", "content": ""}, nil, nil)
	return c
}

// send sends a chunk. Each has choices, since a client fails without.
func (c *chunks) send(delta object, finish any, more object) {
	chunk := c.frame("chat.completion.chunk", object{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": finish})
	if c.usage {
		chunk["usage"] = nil
	}
	maps.Copy(chunk, more)
	_ = c.out.SendJSON("", chunk) // see teller
}

func (c *chunks) step(node string) {
	what := map[string]string{
		nodes.RetrievalID: "Searching the documents", nodes.CheckAndRefineID: "Checking what was found",
		nodes.PostRetrievalID: "Reading the passages", nodes.GenerateID: "Writing the answer",
	}[node]
	if what != "" {
		c.event("status", object{"description": what, "done": false})
	}
}

// event tells Open WebUI something.
func (c *chunks) event(kind string, data object) {
	if c.webUI {
		c.send(object{}, nil, object{"event": object{"type": kind, "data": data}})
	}
}

func (c *chunks) say(text string) { c.send(object{"content": text}, nil, nil) }

func (c *chunks) end() {
	read := "Read one passage"
	if n := c.reply.Chunks.Context; n != 1 {
		read = fmt.Sprintf("Read %d passages", n)
	}
	c.event("status", object{"description": read, "done": true})
	for _, s := range c.sources {
		c.event("source", object{
			"source": object{"name": s.title, "url": s.url}, "document": []string{strings.Join(s.quotes, "\n\n")},
			"metadata": []object{{"source": s.url, "name": s.title}},
		})
	}
	if len(c.writer.marks) > 0 && !c.webUI { // it would show each source twice
		c.send(object{"annotations": c.annotations(true)}, nil, nil)
	}
	c.send(object{}, "stop", nil)
	if c.usage {
		last := c.frame("chat.completion.chunk")
		last["usage"] = c.answer.usage()
		_ = c.out.SendJSON("", last) // as above
	}
	_ = c.out.Send(door.Message{Data: []byte("[DONE]")}) // see teller
}

func (c *chunks) fail(err error) {
	_ = c.out.SendJSON("", refused(err).problem()) // see teller
}

// chore matches what programs ask the model of a chat by themselves: Open WebUI for titles, tags,
// further questions and queries as JSON, LibreChat for titles.
var chore = regexp.MustCompile(`(?is)^\s*(?:### Task:.*\bJSON\b|(?:please )?(?:provide|generate) a concise\b.{0,40}\btitle\b.{0,20}\bconversation\b|analyze this conversation and provide:.*\btitle\b)`)

// spoken is a line of the conversation that the prompt of a chore quotes.
var spoken = regexp.MustCompile(`(?im)^\s*(?:\*\*)?user(?:\*\*)?: *(\S.*)$`)

// maxTitle is the most runes of a title.
const maxTitle = 50

// do answers a chore: no documents are searched, and no thread is begun.
func (s *service) do(w http.ResponseWriter, r *http.Request, in *chatRequest, prompt string) (any, error) {
	a := &answer{turn: &turn{model: in.Model}, run: s.config.NewID(), time: s.config.Clock(), reply: &ragflow.Reply{}}
	if chat := s.config.Models.Chat; chat != nil {
		out, err := chat.Complete(r.Context(), llm.Request{Messages: []llm.Message{{Role: llm.User, Content: prompt}}}, nil)
		if err == nil {
			a.text, a.reply.Usage.InputTokens, a.reply.Usage.OutputTokens = out.Text, out.Usage.Input, out.Usage.Output
		}
	}
	if a.text == "" {
		a.text = withoutModel(prompt)
	}
	if !in.Stream {
		return completion(a), nil
	}
	_, out := door.OpenStream(w, r)
	defer out.Close()
	c := newChunks(out, a, in)
	c.say(a.text)
	c.end()
	return door.Sent{}, nil
}

// withoutModel returns the first question that a prompt quotes as a title, and nothing for other chores.
func withoutModel(prompt string) string {
	if !strings.Contains(strings.ToLower(prompt), "title") {
		return "{}"
	}
	title := "Conversation"
	if m := spoken.FindStringSubmatch(prompt); m != nil {
		title = text.Clean(m[1])
		if short := text.First(title, maxTitle-1); short != title {
			title = strings.TrimSpace(short) + "…"
		}
	}
	if strings.Contains(prompt, "JSON") {
		body, _ := json.Marshal(map[string]string{"title": title}) // never fails
		return string(body)
	}
	return title
}
