package openai

import (
	"maps"
	"net/http"
	"strings"

	"example.com/ragflow/server/internal/door"
)

type responseRequest struct {
	common

	Input        input   `json:"input"`
	Previous     *string `json:"previous_response_id"`
	Conversation any     `json:"conversation"`
	Store        *bool   `json:"store"`
	Background   bool    `json:"background"`
	Text         struct {
		Format format `json:"format"`
	} `json:"text"`
}

func (s *service) respond(w http.ResponseWriter, r *http.Request) (any, error) {
	var in responseRequest
	t, err := &turn{}, door.ReadJSON(r, &in)
	if err == nil {
		t.text, t.before, err = question("input", in.Input)
	}
	if err == nil {
		err = in.check("text.format", in.Text.Format)
	}
	if err == nil && in.Background {
		err = refuse("background", "a response is given at once")
	}
	t.model, t.forget = in.Model, in.Store != nil && !*in.Store
	if err == nil {
		t.place, err = s.placeOf(r, &in, t)
	}
	if err != nil {
		return nil, err
	}
	echo := object{"previous_response_id": in.Previous, "store": !t.forget}
	if in.Metadata != nil {
		echo["metadata"] = in.Metadata
	}
	if id := in.conversation(); id != "" {
		echo["conversation"] = object{"id": id}
	}
	t.whole = func(a *answer) object { return a.response("completed", echo, a.message("completed")) }
	if in.Stream {
		t.stream = func(out *door.Stream, a *answer) teller {
			e := &events{answer: a, out: out, echo: echo}
			e.begin()
			return e
		}
	}
	return s.answer(w, r, t)
}

// conversation is the id of the conversation that the request names, by itself or in an object.
func (in *responseRequest) conversation() string {
	if whole, ok := in.Conversation.(object); ok {
		in.Conversation = whole["id"]
	}
	id, _ := in.Conversation.(string)
	return id
}

// placeOf finds where a response belongs. One that is not kept has a thread of its own.
func (s *service) placeOf(r *http.Request, in *responseRequest, t *turn) (p place, err error) {
	ctx, conversation := r.Context(), in.conversation()
	switch {
	case in.Previous != nil && conversation != "":
		return p, refuse("previous_response_id", "name a conversation or a response, not both")
	case in.Previous != nil:
		p, err = s.after(ctx, strings.TrimPrefix(*in.Previous, "resp_"))
	case conversation != "":
		if _, err = describe(conversation); err == nil {
			p, err = s.named(ctx, conversation, t.before)
		}
	default:
		p, err = s.locate(r, in.Metadata, t.before)
	}
	if err != nil || p.thread == "" || !t.forget {
		return p, err
	}
	whole, err := s.a.Threads().Thread(ctx, p.thread)
	if err != nil {
		return p, err
	}
	return place{history: history(whole.Messages)}, nil
}

// message is the item of the output.
func (a *answer) message(status string) object {
	return object{"id": "msg_" + a.run, "type": "message", "status": status, "role": "assistant", "content": []object{a.part()}}
}

func (a *answer) part() object {
	return object{"type": "output_text", "text": a.text, "annotations": a.annotations(false), "logprobs": []object{}}
}

// response is the response with its output.
func (a *answer) response(status string, echo object, output ...object) object {
	out := object{
		"id": "resp_" + a.run, "object": "response", "created_at": a.time.Unix(), "status": status, "model": a.turn.model,
		"output": append([]object{}, output...), "error": nil, "incomplete_details": nil, "instructions": nil, "usage": nil,
		"previous_response_id": nil, "conversation": nil, "store": true, "background": false, "truncation": "disabled",
		"tools": []object{}, "tool_choice": "auto", "parallel_tool_calls": false, "temperature": nil, "top_p": nil, "max_output_tokens": nil,
		"text": object{"format": object{"type": "text"}}, "metadata": object{},
	}
	maps.Copy(out, echo)
	if a.reply != nil {
		u := a.reply.Usage
		out["usage"] = object{
			"input_tokens": u.InputTokens, "input_tokens_details": object{"cached_tokens": 0},
			"output_tokens": u.OutputTokens, "output_tokens_details": object{"reasoning_tokens": 0},
			"total_tokens": u.InputTokens + u.OutputTokens,
		}
	}
	return out
}

// events tells an answer as the events of a response. Clients need all of them in this order.
type events struct {
	*answer

	out  *door.Stream
	echo object
	n    int // events so far
}

func (e *events) send(event string, more object) {
	more["type"], more["sequence_number"] = event, e.n
	e.n++
	_ = e.out.SendJSON(event, more) // see teller
}

// at sends an event of the text.
func (e *events) at(event string, more object) {
	more["item_id"], more["output_index"], more["content_index"] = "msg_"+e.run, 0, 0
	e.send(event, more)
}

func (e *events) begin() {
	e.send("response.created", object{"response": e.response("in_progress", e.echo)})
	e.send("response.in_progress", object{"response": e.response("in_progress", e.echo)})
	item := e.message("in_progress")
	item["content"] = []object{}
	e.send("response.output_item.added", object{"output_index": 0, "item": item})
	e.at("response.content_part.added", object{"part": e.part()})
}

func (*events) step(string) {}

func (e *events) say(text string) {
	e.at("response.output_text.delta", object{"delta": text, "logprobs": []object{}})
}

func (e *events) end() {
	for i, a := range e.annotations(false) {
		e.at("response.output_text.annotation.added", object{"annotation_index": i, "annotation": a})
	}
	e.at("response.output_text.done", object{"text": e.text, "logprobs": []object{}})
	e.at("response.content_part.done", object{"part": e.part()})
	item := e.message("completed")
	e.send("response.output_item.done", object{"output_index": 0, "item": item})
	e.send("response.completed", object{"response": e.response("completed", e.echo, item)})
}

// fail says that there is no answer. The output has what of it was sent.
func (e *events) fail(err error) {
	e.writer.marks = nil // they have no sources yet
	out := e.response("failed", e.echo, e.message("incomplete"))
	out["error"] = object{"code": "server_error", "message": refused(err).message}
	e.send("response.failed", object{"response": out})
}

// response shows an earlier response.
func (s *service) response(_ http.ResponseWriter, r *http.Request) (any, error) {
	ctx, run := r.Context(), strings.TrimPrefix(r.PathValue("id"), "resp_")
	t, _, err := s.said(ctx, run)
	if err != nil {
		return nil, err
	}
	reply, err := s.a.Reply(ctx, run)
	if err != nil {
		return nil, err
	}
	asked := &turn{model: defaultModel}
	if c := t.Scope.Collection; c != s.config.Collection {
		asked.model, asked.collections = defaultModel+"/"+c, append([]string{c}, t.Scope.More...)
	}
	a := &answer{turn: asked, run: run, time: reply.Begun}
	a.text = a.writer.write(reply.Answer) + a.writer.close()
	s.finish(r, a, reply)
	return a.response("completed", object{}, a.message("completed")), nil
}
