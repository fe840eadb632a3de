// Package agui lets pages that speak the Agent User Interaction Protocol, such as those of CopilotKit, ask the
// assistant: POST /agui takes a RunAgentInput, and the response is its events.
//
// The thread of a client is ours of the same id, and what the server has of it holds: the client gets that as a
// snapshot, and of what it sends only a new question at the end counts. A question whose client left continues.
package agui

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"example.com/ragflow"
	"example.com/ragflow/graph"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server/internal/door"
	"example.com/ragflow/state"
	"example.com/ragflow/threads"
)

type object = map[string]any

// input is what is used of a RunAgentInput.
type input struct {
	Thread   string `json:"threadId"`
	Run      string `json:"runId"`
	Messages []struct {
		ID      string       `json:"id"`
		Role    string       `json:"role"`
		Content door.Content `json:"content"`
	} `json:"messages"`
}

// said returns what people and assistants said.
func (in *input) said() (said []state.Message, err error) {
	if in.Thread == "" || in.Run == "" {
		return nil, errors.New("threadId and runId must not be empty")
	}
	for _, m := range in.Messages {
		role, known := map[string]state.Role{"user": state.Human, "assistant": state.AI}[m.Role]
		if !known {
			continue
		}
		if m.Content.Other != "" {
			return nil, fmt.Errorf("only text can be read, and there is a part of the type %q", m.Content.Other)
		}
		if m.ID != "" && slices.ContainsFunc(said, func(o state.Message) bool { return o.ID == m.ID }) {
			return nil, fmt.Errorf("two messages have the id %q", m.ID)
		}
		if strings.TrimSpace(m.Content.Text) != "" {
			said = append(said, state.Message{ID: m.ID, Role: role, Content: m.Content.Text})
		}
	}
	return said, nil
}

// Routes are the routes of the protocol. public is the address of the server in links; empty: as each client has it.
func Routes(a *ragflow.Assistant, public string) []door.Route {
	do := func(w http.ResponseWriter, r *http.Request) { answer(a, public, w, r) }
	return []door.Route{{Pattern: "POST /agui", Scope: tokens.Ask, Long: true, MaxBody: 8 << 20, Do: do}}
}

func answer(a *ragflow.Assistant, public string, w http.ResponseWriter, r *http.Request) {
	var in input
	var said []state.Message
	err := door.ReadJSON(r, &in)
	if err == nil {
		if said, err = in.said(); err != nil {
			err = &door.StatusError{Status: http.StatusBadRequest, Err: err}
		}
	}
	if err != nil {
		door.Problem(w, door.Status(err), err.Error())
		return
	}
	ctx, out := door.OpenStream(w, r) // a client that leaves ends ctx, and so the run
	defer out.Close()
	t := &teller{a: a, r: r.WithContext(ctx), base: door.Base(public, r), out: out, steps: map[string]bool{}}
	t.send("RUN_STARTED", object{"threadId": in.Thread, "runId": in.Run})
	if err = t.answer(in.Thread, said); err == nil {
		t.send("RUN_FINISHED", object{"threadId": in.Thread, "runId": in.Run})
		return
	}
	message := err.Error()
	if errors.Is(err, graph.ErrNotFound) {
		message = "there is no such thread" // the same words for another's
	}
	t.send("RUN_ERROR", object{"message": message, "code": strconv.Itoa(door.Status(err))})
}

// teller sends the events of one request. A reader that has left ends the request's context: no error of a write is
// looked at.
type teller struct {
	a     *ragflow.Assistant
	r     *http.Request
	base  string // address of the server
	out   *door.Stream
	steps map[string]bool // that have begun and not ended
	said  string          // id of the message whose text is being sent
}

func (t *teller) send(kind string, event object) {
	event["type"] = kind
	_ = t.out.SendJSON("", event)
}

// answer answers the question that the messages end with, or tells what the thread has if that is not a new one.
func (t *teller) answer(id string, said []state.Message) error {
	ctx := t.r.Context()
	thread, err := t.a.Threads().Thread(ctx, id)
	if errors.Is(err, graph.ErrNotFound) { // or another's, whom the run refuses
		thread, err = &threads.Thread{}, nil
	}
	if err != nil {
		return err
	}
	has, last := thread.Messages, len(said)-1
	asks := last >= 0 && said[last].Role == state.Human && !slices.ContainsFunc(has, func(m threads.Message) bool { return m.ID == said[last].ID })
	if len(has) > 0 {
		shown := has
		if asks {
			shown = append(slices.Clip(has), threads.Message{Message: said[last]})
		}
		t.messages(shown)
	}
	switch {
	case asks:
		return t.ask(id, said, len(has) == 0)
	case len(has) > 0 && last >= 0 && has[len(has)-1].ID == said[last].ID: // it has no answer
		return t.run(ragflow.Question{Thread: id, Resume: true})
	case len(has) > 0:
		if reply, err := t.a.Reply(ctx, has[len(has)-1].Run); err == nil { // else the run was pruned
			t.sources(reply)
		}
	}
	return nil
}

// ask asks the last of some messages. The others begin a thread that is new.
func (t *teller) ask(thread string, said []state.Message, begins bool) error {
	settings, asked := t.a.Config().Settings, said[len(said)-1]
	settings.Checked = true // nothing that is said has to be taken back
	who := door.Of(t.r.Context())
	q := ragflow.Question{Text: asked.Content, ID: asked.ID, Thread: thread, Collections: who.Collections, Settings: &settings, Fresh: who.Fresh}
	if begins {
		q.History = said[:len(said)-1]
	}
	return t.run(q)
}

// run tells the events of a run, and then what its thread has.
func (t *teller) run(q ragflow.Question) error {
	for e, err := range t.a.Stream(t.r.Context(), q) {
		switch {
		case err != nil:
			return err
		case e.Kind == ragflow.StepBegan && e.Path == "" && !t.steps[e.Node]:
			t.steps[e.Node] = true
			t.send("STEP_STARTED", object{"stepName": e.Node})
		case e.Kind == ragflow.StepEnded && e.Path == "" && t.steps[e.Node]:
			delete(t.steps, e.Node)
			t.send("STEP_FINISHED", object{"stepName": e.Node})
		case e.Kind == ragflow.Text:
			if t.said == "" {
				t.said = e.Run
				t.send("TEXT_MESSAGE_START", object{"messageId": e.Run, "role": "assistant"})
			}
			t.send("TEXT_MESSAGE_CONTENT", object{"messageId": e.Run, "delta": e.Text})
		case e.Kind == ragflow.Withdrawn:
			return errors.New("what was said was taken back: load the thread again")
		case e.Kind == ragflow.Asked:
			return errors.New("the question waits for a person, whom this protocol does not reach")
		case e.Kind == ragflow.Done:
			t.close()
			thread, err := t.a.Threads().Thread(t.r.Context(), q.Thread)
			if err != nil {
				return err
			}
			t.messages(thread.Messages)
			t.sources(e.Reply)
		}
	}
	return nil
}

// close ends the text and the steps that have begun, as a run that is finished must; one that failed need not.
func (t *teller) close() {
	if t.said != "" {
		t.send("TEXT_MESSAGE_END", object{"messageId": t.said})
	}
	for _, name := range slices.Sorted(maps.Keys(t.steps)) {
		t.send("STEP_FINISHED", object{"stepName": name})
	}
}

// messages tells the messages of a thread. An answer, the last message of its run, has the id of the run, under which
// its text is sent.
func (t *teller) messages(of []threads.Message) {
	list := []object{}
	for i, m := range of {
		switch last := i == len(of)-1 || of[i+1].Run != m.Run; {
		case m.Role == state.AI && last:
			list = append(list, object{"id": cmp.Or(m.Run, m.ID), "role": "assistant", "content": m.Content})
		case m.Role == state.AI:
			list = append(list, object{"id": m.ID, "role": "assistant", "content": m.Content})
		case m.Role == state.Human:
			list = append(list, object{"id": m.ID, "role": "user", "content": m.Content})
		}
	}
	t.send("MESSAGES_SNAPSHOT", object{"messages": list})
}

// sources returns what an answer cites: n is that of [Source n] in its text.
func (t *teller) sources(reply *ragflow.Reply) {
	ctx, list := t.r.Context(), []object{}
	for _, c := range reply.Citations {
		address := c.URL
		if address == "" {
			address = door.Documents{Assistant: t.a}.Link(ctx, t.base, door.Of(ctx).Collections, c.Citation)
		}
		list = append(list, object{"n": c.N, "title": c.Title, "path": c.Source, "url": address, "quote": c.Quote})
	}
	t.send("STATE_SNAPSHOT", object{"snapshot": object{"run_id": reply.RunID, "abstained": reply.Abstained, "citations": list}})
	t.send("CUSTOM", object{"name": "sources", "value": list})
}
