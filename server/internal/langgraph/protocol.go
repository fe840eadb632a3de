package langgraph

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server/internal/door"
)

func (s *service) protocolRoutes() []door.Route {
	return []door.Route{
		{Pattern: "POST /threads/{thread}/commands", Scope: tokens.Ask, Errors: problem, Do: s.command},
		long("POST /threads/{thread}/stream/events", s.streamEvents),
	}
}

// streamEvents writes the events of a thread: those after a number or, without one, those of its last
// run, and then those of later runs, until the reader leaves.
func (s *service) streamEvents(w http.ResponseWriter, r *http.Request) error {
	q, err := read[eventsRequest](w, r)
	if err == nil {
		err = q.check()
	}
	if err != nil {
		return err
	}
	name := r.PathValue("thread")
	t, err := s.find(r.Context(), name)
	if err != nil && !missing(err) {
		return err
	}
	var head graph.CommitID
	if t != nil {
		head = t.Head
	}
	known := s.runs.watch(name, head)
	defer s.runs.leaveAlone(name, known)
	ctx, out := door.OpenStream(w, r)
	defer out.Close()
	f := &feed{s: s, out: out, q: &q, tellers: map[*run]*teller{}, owner: graph.OwnerOf(ctx)}
	first, old := known.kept()
	if t != nil {
		if err := f.fromLog(ctx, t, first); err != nil {
			return nil //nolint:nilerr // the reader has left, or comes again
		}
	}
	if q.Since > 0 {
		old = nil
	}
	for at := (position{}); ctx.Err() == nil; {
		events, more, _ := known.since(at, nil)
		for i := range events {
			if at = events[i].at; !slices.Contains(old, events[i].run) {
				f.send(&events[i])
			}
		}
		if len(events) > 0 {
			continue
		}
		select {
		case <-more:
		case <-ctx.Done():
		}
	}
	return nil
}

// feed writes events of the newer protocol.
type feed struct {
	s       *service
	out     *door.Stream
	q       *eventsRequest
	owner   string
	tellers map[*run]*teller
}

func (f *feed) send(e *event) {
	if f.owner != "" && e.run.owner != f.owner { // of a thread that did not exist when the stream began
		return
	}
	t := f.tellers[e.run]
	if t == nil {
		t = &teller{run: e.run}
		f.tellers[e.run] = t
	}
	for i, p := range t.tell(e) {
		if n := number(e.at, i); n > f.q.Since && f.q.wants(&p) {
			whole := envelope(e.run, e, &p, n)
			_ = f.out.Send(door.Message{Event: p.name, ID: strconv.FormatInt(n, 10), Data: whole.encoded()}) // an error ends the stream
		}
	}
}

// fromLog sends what the log has before a position: the events after the number that the reader has or,
// without one, those of the last run if this process knows no later one.
func (f *feed) fromLog(ctx context.Context, t *found, before *position) error {
	if f.q.Since == 0 && before != nil {
		return nil
	}
	query := graph.RunQuery{Thread: t.Thread}
	if f.q.Since == 0 {
		query.Limit = 1
	}
	infos, err := t.Runs(ctx, query)
	if err != nil {
		return err
	}
	since, _ := positionOf(f.q.Since)
	for _, info := range slices.Backward(infos) {
		if int64(info.Last)*4+3 < since.seq {
			continue
		}
		x := f.s.closed(t, info, info.Run)
		x.owner = cmp.Or(t.Owner, f.owner)
		for e, err := range t.Events(ctx, t.Thread, info.Run, 0, graph.Values|graph.Updates|graph.Tasks) {
			if err != nil {
				return err
			}
			if before == nil || e.Seq < before.seq {
				f.send(&event{Event: e, at: position{seq: e.Seq}, run: x})
			}
		}
	}
	return nil
}

// commandRequest is a command of the newer protocol.
type commandRequest struct {
	ID     *int64          `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// refusal is an error with the code that the protocol has for it.
type refusal struct{ code, text string }

func (e *refusal) Error() string { return e.text }

func (s *service) command(w http.ResponseWriter, r *http.Request) {
	q, err := read[commandRequest](w, r)
	if err != nil || q.ID == nil || q.Method == "" {
		door.WriteJSON(w, http.StatusBadRequest, rejection(nil, "invalid_argument", "a command has an integer id and a method"))
		return
	}
	result, err := s.perform(r.Context(), r.PathValue("thread"), &q)
	if err != nil {
		code := "unknown_error"
		if e, ok := errors.AsType[*refusal](err); ok {
			code = e.code
		} else if f, ok := errors.AsType[*failure](err); ok && f.status < 500 {
			code = "invalid_argument"
		}
		door.WriteJSON(w, http.StatusOK, rejection(q.ID, code, err.Error()))
		return
	}
	meta := map[string]any{"applied_through_seq": s.runs.last(r.PathValue("thread"))}
	door.WriteJSON(w, http.StatusOK, map[string]any{"type": "success", "id": q.ID, "result": result, "meta": meta})
}

// rejection is the reply to a command that failed.
func rejection(id *int64, code, text string) any {
	return map[string]any{"type": "error", "id": id, "error": code, "message": text}
}

// commandParams are the parameters of all commands but run.start.
type commandParams struct {
	Namespace  []string        `json:"namespace"`
	Interrupt  string          `json:"interrupt_id"`
	Response   json.RawMessage `json:"response"`
	Responses  []commandParams `json:"responses"`
	Update     json.RawMessage `json:"update"`
	Goto       refused         `json:"goto"`
	Config     config          `json:"config"`
	Metadata   map[string]any  `json:"metadata"`
	Keys       []string        `json:"keys"`
	Limit      int             `json:"limit"`
	Before     *place          `json:"before"`
	Checkpoint string          `json:"checkpoint_id"`
	Input      json.RawMessage `json:"input"`
	Run        string          `json:"run_id"`
}

func (s *service) perform(ctx context.Context, thread string, q *commandRequest) (any, error) {
	if q.Method == "run.start" {
		var start runRequest
		if err := strictly(q.Params, &start); err != nil {
			return nil, err
		}
		start.IfNotExists = "create"
		x, err := s.begin(ctx, thread, &start)
		if err != nil {
			return nil, err
		}
		return map[string]string{"run_id": x.id}, nil
	}
	do := map[string]func(context.Context, *found, *commandParams) (any, error){
		"input.respond": s.respond, "agent.getTree": s.tree, "state.get": stateGet, "state.listCheckpoints": listCheckpoints, "state.fork": s.stateFork,
	}[q.Method]
	if do == nil {
		return nil, &refusal{"unknown_command", "there is no command " + strconv.Quote(q.Method)}
	}
	var p commandParams
	if err := strictly(q.Params, &p); err != nil {
		return nil, err
	}
	t, err := s.find(ctx, thread)
	if missing(err) {
		return nil, &refusal{"no_such_run", err.Error()}
	}
	if err != nil {
		return nil, err
	}
	return do(ctx, t, &p)
}

func (s *service) respond(ctx context.Context, t *found, p *commandParams) (any, error) {
	list := p.Responses
	if len(list) == 0 {
		list = []commandParams{*p}
	}
	last, err := t.History(ctx, t.Thread, 0, 1)
	if err != nil {
		return nil, err
	}
	var open []graph.Question
	for _, m := range last {
		open = questions(m.Commit)
	}
	answers := map[string]json.RawMessage{}
	for _, a := range list {
		if !slices.ContainsFunc(open, func(q graph.Question) bool { return q.ID() == a.Interrupt }) {
			return nil, &refusal{"no_such_interrupt", "no question " + strconv.Quote(a.Interrupt) + " is open"}
		}
		answers[a.Interrupt] = a.Response
	}
	resume, err := json.Marshal(answers)
	if err != nil {
		return nil, err
	}
	q := &runRequest{
		Assistant: cmp.Or(t.name, s.names[0]), Command: &command{Resume: resume, Update: p.Update, Goto: p.Goto}, Config: p.Config, Metadata: p.Metadata,
	}
	_, err = s.begin(ctx, t.Thread, q)
	return struct{}{}, err
}

func (s *service) tree(_ context.Context, t *found, _ *commandParams) (any, error) {
	status := map[string]string{"busy": "running", "idle": "completed", "error": "failed", "interrupted": "interrupted"}[s.status(t)]
	return map[string]any{"tree": map[string]any{"namespace": []string{}, "status": status, "graph_name": t.name}}, nil
}

func stateGet(ctx context.Context, t *found, p *commandParams) (any, error) {
	if len(p.Namespace) > 0 {
		return nil, &refusal{"no_such_namespace", "the states of subgraphs are not told"}
	}
	state, head, err := t.State(ctx, t.Thread)
	return map[string]any{"values": selected(valuesOf(state), p.Keys), "checkpoint": map[string]string{"id": commitText(head.ID)}}, err
}

func listCheckpoints(ctx context.Context, t *found, p *commandParams) (any, error) {
	before, err := p.Before.commit()
	if err != nil {
		return nil, err
	}
	page, err := moments(ctx, t, t.Thread, before, min(cmp.Or(max(p.Limit, 0), 10), graph.MaxPage))
	list := []any{}
	for _, m := range page {
		list = append(list, map[string]any{"id": commitText(m.Commit.ID), "timestamp": stamp(m.Commit.Time), "step": m.Commit.Step})
	}
	return map[string]any{"checkpoints": list}, err
}

func (s *service) stateFork(ctx context.Context, t *found, p *commandParams) (any, error) {
	q := &runRequest{Assistant: cmp.Or(t.name, s.names[0]), CheckpointID: p.Checkpoint, Input: p.Input, Config: p.Config}
	x, err := s.begin(ctx, t.Thread, q)
	if err != nil {
		return nil, err
	}
	return map[string]string{"run_id": x.id, "thread_id": t.Thread}, nil
}
