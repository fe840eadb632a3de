package langgraph

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"example.com/ragflow/graph"
	"example.com/ragflow/server/internal/door"
)

// commandRequest is a command of the newer protocol.
type commandRequest struct {
	ID     *int64          `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// refusal is an error with the code that the protocol has for it.
type refusal struct{ code, text string }

func (e *refusal) Error() string { return e.text }

func (s *service) command(w http.ResponseWriter, r *http.Request) (any, error) {
	var q commandRequest
	if door.ReadStrict(r, &q) != nil || q.ID == nil || q.Method == "" {
		door.WriteJSON(w, http.StatusBadRequest, rejection(nil, "invalid_argument", "a command has an integer id and a method"))
		return door.Sent{}, nil //nolint:nilerr // the response has it
	}
	result, begun, err := s.perform(r.Context(), r.PathValue("thread"), &q)
	if err != nil {
		code := "unknown_error"
		if e, ok := errors.AsType[*refusal](err); ok {
			code = e.code
		} else if door.Status(err) < http.StatusInternalServerError {
			code = "invalid_argument"
		}
		return rejection(q.ID, code, err.Error()), nil // the status of every command is 200
	}
	out := map[string]any{"type": "success", "id": q.ID, "result": result}
	if begun != nil { // what asks behind this number is new to the client
		out["meta"] = map[string]any{"applied_through_seq": number(begun.after, maxPart)}
	}
	return out, nil
}

// rejection is the reply to a command that failed.
func rejection(id *int64, code, text string) any {
	return map[string]any{"type": "error", "id": id, "error": code, "message": text}
}

// perform returns the result of a command, and the run that it began, if it did.
func (s *service) perform(ctx context.Context, thread string, q *commandRequest) (result any, begun *run, err error) {
	switch q.Method {
	case "run.start":
		start, err := params[runRequest](q)
		if err != nil {
			return nil, nil, err
		}
		start.IfNotExists = "create"
		if begun, err = s.begin(ctx, thread, start); err != nil {
			return nil, nil, err
		}
		return map[string]string{"run_id": begun.id}, begun, nil
	case "input.respond", "agent.getTree":
	default:
		return nil, nil, &refusal{"unknown_command", "there is no command " + strconv.Quote(q.Method)}
	}
	p, err := params[commandParams](q)
	if err != nil {
		return nil, nil, err
	}
	t, err := s.find(ctx, thread)
	if errors.Is(err, graph.ErrNotFound) {
		err = &refusal{"no_such_run", err.Error()}
	}
	if err != nil {
		return nil, nil, err
	}
	if q.Method == "agent.getTree" {
		status := map[string]string{"busy": "running", "idle": "completed", "error": "failed", "interrupted": "interrupted"}[s.status(t)]
		return map[string]any{"tree": map[string]any{"namespace": []string{}, "status": status, "graph_name": t.graph}}, nil, nil
	}
	begun, err = s.respond(ctx, t, p)
	return struct{}{}, begun, err
}

// params reads the parameters of a command, refusing fields that Q lacks.
func params[Q any](q *commandRequest) (*Q, error) {
	p := new(Q)
	return p, door.DecodeStrict(q.Params, p)
}

// commandParams are the parameters of all commands but run.start.
type commandParams struct {
	Namespace []string        `json:"namespace"`
	Interrupt string          `json:"interrupt_id"`
	Response  json.RawMessage `json:"response"`
	Responses []commandParams `json:"responses"`
	Update    json.RawMessage `json:"update"`
	Goto      refused         `json:"goto"`
	Config    config          `json:"config"`
	Metadata  map[string]any  `json:"metadata"`
	Run       string          `json:"run_id"`
}

// respond answers open questions: one, or several at once.
func (s *service) respond(ctx context.Context, t *found, p *commandParams) (*run, error) {
	list := p.Responses
	if len(list) == 0 {
		list = []commandParams{*p}
	}
	head, err := commitAt(ctx, t, t.Thread, 0)
	if err != nil {
		return nil, err
	}
	answers := map[string]json.RawMessage{}
	for _, a := range list {
		if !slices.ContainsFunc(questions(head), func(q graph.Question) bool { return q.ID() == a.Interrupt }) {
			return nil, &refusal{"no_such_interrupt", "no question " + strconv.Quote(a.Interrupt) + " is open"}
		}
		answers[a.Interrupt] = a.Response
	}
	resume, err := json.Marshal(answers)
	if err != nil {
		return nil, err
	}
	q := &runRequest{
		Assistant: t.graph, Command: &command{Resume: resume, Update: p.Update, Goto: p.Goto}, Config: p.Config, Metadata: p.Metadata,
	}
	return s.begin(ctx, t.Thread, q)
}
