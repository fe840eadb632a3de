package langgraph

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server/internal/door"
)

func (s *service) protocolRoutes() []door.Route {
	return []door.Route{
		{Pattern: "POST /threads/{thread}/commands", Scope: tokens.Ask, Errors: problem, Do: s.command},
		long("POST /threads/{thread}/stream/events", s.streamEvents), long("GET /threads/{thread}/stream", s.streamThread),
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
	return s.feed(w, r, t, head, &q)
}

// streamThread writes the runs of a thread as the older protocol has them, from now on or after the last event
// that the reader has.
func (s *service) streamThread(w http.ResponseWriter, r *http.Request) error {
	if m := strings.Join(r.URL.Query()["stream_mode"], ","); m != "" && m != "run_modes" {
		return unsupported("stream_mode " + strconv.Quote(m))
	}
	since, err := lastEvent(r)
	if err != nil {
		return err
	}
	t, err := s.find(r.Context(), r.PathValue("thread"))
	if err != nil {
		return err
	}
	return s.feed(w, r, t, t.Head, &eventsRequest{Since: since})
}

// feed writes the events of a thread, which may not exist yet, until the reader leaves.
func (s *service) feed(w http.ResponseWriter, r *http.Request, t *found, head graph.CommitID, q *eventsRequest) error {
	name := r.PathValue("thread")
	known := s.runs.watch(name, head)
	defer s.runs.leaveAlone(name, known)
	ctx, out := door.OpenStream(w, r)
	defer out.Close()
	f := &feed{s: s, out: out, q: q, printers: map[*run]func(*event) []part{}, owner: graph.OwnerOf(ctx)}
	first, old := known.kept()
	if t != nil {
		if err := f.fromLog(ctx, t, first); err != nil {
			return nil // the reader has left, or comes again
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

// feed writes the events of a thread: those of the newer protocol, or of the older one if there are no channels.
type feed struct {
	s        *service
	out      *door.Stream
	q        *eventsRequest
	owner    string
	printers map[*run]func(*event) []part
}

func (f *feed) send(e *event) {
	if f.owner != "" && e.run.owner != f.owner { // of a thread that did not exist when the stream began
		return
	}
	printed := f.printers[e.run]
	if printed == nil {
		printed = (&teller{run: e.run}).tell
		if len(f.q.Channels) == 0 {
			printed = newPrinter(e.run, e.run.modes, e.run.subgraphs).print
		}
		f.printers[e.run] = printed
	}
	for i, p := range printed(e) {
		n := number(e.at, i)
		if n <= f.q.Since {
			continue
		}
		if len(f.q.Channels) > 0 {
			if !f.q.wants(&p) {
				continue
			}
			p = envelope(e.run, e, &p, n)
		}
		_ = f.out.Send(door.Message{Event: p.name, ID: strconv.FormatInt(n, 10), Data: p.encoded()}) // an error ends the stream
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
		x := f.s.closed(ctx, t, info, info.Run)
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
	if q.Method != "input.respond" && q.Method != "agent.getTree" {
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
	if q.Method == "agent.getTree" {
		status := map[string]string{"busy": "running", "idle": "completed", "error": "failed", "interrupted": "interrupted"}[s.status(t)]
		return map[string]any{"tree": map[string]any{"namespace": []string{}, "status": status, "graph_name": t.name}}, nil
	}
	return s.respond(ctx, t, &p)
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
