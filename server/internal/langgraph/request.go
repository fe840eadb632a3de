package langgraph

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/untyped"
)

// modes are the kinds of events that a client wants: one name, or a list.
type modes []string

// allModes are the kinds of events of the older streams.
var allModes = []string{"values", "updates", "messages", "messages-tuple", "custom", "tasks", "checkpoints", "debug"}

func (m *modes) UnmarshalJSON(body []byte) error {
	var one string
	if json.Unmarshal(body, &one) == nil {
		*m = modes{one}
		return nil
	}
	return json.Unmarshal(body, (*[]string)(m))
}

func (m modes) check() error {
	for _, mode := range m {
		if !slices.Contains(allModes, mode) {
			return unsupported("stream_mode " + strconv.Quote(mode))
		}
	}
	return nil
}

// nodeList are names of nodes: a list, or "*" for all.
type nodeList []string

func (l *nodeList) UnmarshalJSON(body []byte) error { return (*modes)(l).UnmarshalJSON(body) }

// any reports whether one of the nodes is in the list.
func (l nodeList) any(nodes []string) bool {
	return slices.ContainsFunc(nodes, func(n string) bool { return n != "" && (slices.Contains(l, n) || slices.Contains(l, graph.Every)) })
}

// runRequest is the body of a run. Fields of type refused must be empty.
type runRequest struct {
	Assistant    string                     `json:"assistant_id"`
	Batched      string                     `json:"assistantId"` // the JavaScript SDK adds it in a batch
	Input        json.RawMessage            `json:"input"`
	Command      *command                   `json:"command"`
	Checkpoint   *place                     `json:"checkpoint"`
	CheckpointID string                     `json:"checkpoint_id"`
	Metadata     map[string]any             `json:"metadata"`
	Config       config                     `json:"config"`
	Context      map[string]json.RawMessage `json:"context"`
	Modes        modes                      `json:"stream_mode"`
	Subgraphs    bool                       `json:"stream_subgraphs"`
	Resumable    bool                       `json:"stream_resumable"`
	Before       nodeList                   `json:"interrupt_before"`
	After        nodeList                   `json:"interrupt_after"`
	OnDisconnect string                     `json:"on_disconnect"`
	Strategy     string                     `json:"multitask_strategy"`
	IfNotExists  string                     `json:"if_not_exists"`
	OnCompletion string                     `json:"on_completion"`

	// All supersteps are saved before they are told, whatever these say.
	Durability       string `json:"durability"`
	CheckpointDuring *bool  `json:"checkpoint_during"`

	Webhook      refused `json:"webhook"`
	AfterSeconds refused `json:"after_seconds"`
	FeedbackKeys refused `json:"feedback_keys"`
	StrictResume refused `json:"strict_resume"`
	Tracer       refused `json:"langsmith_tracer"`
}

// refused is a field that this server does not act on.
type refused bool

func (r *refused) UnmarshalJSON(body []byte) error {
	*r = refused(!slices.Contains([]string{"null", "false", "0", "[]", "{}", `""`}, string(body)))
	return nil
}

type command struct {
	Resume json.RawMessage `json:"resume"`
	Update json.RawMessage `json:"update"`
	Goto   refused         `json:"goto"`
}

type config struct {
	Configurable   map[string]json.RawMessage `json:"configurable"`
	Metadata       map[string]any             `json:"metadata"`
	Tags           []string                   `json:"tags"`
	RunName        string                     `json:"run_name"`
	RecursionLimit int                        `json:"recursion_limit"`
	Callbacks      refused                    `json:"callbacks"`
	MaxConcurrency refused                    `json:"max_concurrency"`
}

// check refuses what this server does not do.
func (q *runRequest) check() error {
	for field, is := range map[string]refused{
		"webhook": q.Webhook, "after_seconds": q.AfterSeconds, "feedback_keys": q.FeedbackKeys, "strict_resume": q.StrictResume,
		"langsmith_tracer": q.Tracer, "config.callbacks": q.Config.Callbacks, "config.max_concurrency": q.Config.MaxConcurrency,
	} {
		if is {
			return unsupported(field)
		}
	}
	for _, f := range []struct {
		field, value string
		allowed      []string
	}{
		{"multitask_strategy", q.Strategy, []string{"", "reject", "enqueue", "interrupt", "rollback"}},
		{"on_disconnect", q.OnDisconnect, []string{"", "cancel", "continue"}},
		{"if_not_exists", q.IfNotExists, []string{"", "create", "reject"}},
		{"on_completion", q.OnCompletion, []string{"", "delete", "keep"}},
		{"durability", q.Durability, []string{"", "sync", "async", "exit"}},
	} {
		if !slices.Contains(f.allowed, f.value) {
			return unsupported(f.field + " " + strconv.Quote(f.value))
		}
	}
	if q.Assistant == "" {
		return failed(http.StatusUnprocessableEntity, "assistant_id is missing")
	}
	if q.Command != nil && bool(q.Command.Goto) {
		return unsupported("command.goto")
	}
	if len(q.Modes) == 0 {
		q.Modes = modes{"values"}
	}
	return q.Modes.check()
}

// configurable is implemented by graphs whose runs take options besides their input.
type configurable interface {
	// Configure returns the context of a run with options. An error names one that does not exist.
	Configure(ctx context.Context, options map[string]json.RawMessage) (context.Context, error)
}

// configured returns the context of a run, and the commit that it continues from; 0 is the head.
func (q *runRequest) configured(ctx context.Context, g untyped.Runner, thread string) (context.Context, graph.CommitID, error) {
	at := q.Checkpoint
	if q.CheckpointID != "" {
		at = &place{ID: q.CheckpointID}
	}
	options := map[string]json.RawMessage{}
	for k, v := range q.Config.Configurable {
		var text string
		isText := json.Unmarshal(v, &text) == nil
		switch {
		case k == "thread_id" && isText && text != thread && text != "":
			return ctx, 0, failed(http.StatusUnprocessableEntity, "config.configurable.thread_id: it is not that of the path")
		case k == "checkpoint_id" && isText && text != "":
			at = cmp.Or(at, &place{ID: text})
		case k == "checkpoint_ns" && isText && text != "":
			return ctx, 0, unsupported("config.configurable.checkpoint_ns")
		case slices.Contains([]string{"thread_id", "checkpoint_id", "checkpoint_ns", "checkpoint_map", "assistant_id", "graph_id", "run_id", "user_id"}, k):
		default:
			options[k] = v
		}
	}
	maps.Copy(options, q.Context)
	from, err := at.commit()
	if err != nil || len(options) == 0 {
		return ctx, from, err
	}
	c, ok := g.(configurable)
	if !ok {
		for k := range options {
			return ctx, 0, unsupported("config.configurable." + k)
		}
	}
	ctx, err = c.Configure(ctx, options)
	return ctx, from, err
}

// request is the request to the engine, for a thread with open questions if there are any.
func (q *runRequest) request(t *found, open []graph.Question, from graph.CommitID) (req untyped.Request, err error) {
	req = untyped.Request{Thread: t.Thread, From: from, Modes: graph.Values | graph.Updates | graph.Tasks | graph.Tokens | graph.Customs}
	none := len(q.Input) == 0 || string(q.Input) == "null"
	if !none && q.Command == nil {
		req.Input, req.Metadata = inputOf(q.Input), packed(merged(q.Config.Metadata, q.Metadata, map[string]any{"graph_id": t.name}))
		return req, nil
	}
	req.Resume = true
	if q.Command == nil {
		return req, nil
	}
	if !none {
		return req, failed(http.StatusUnprocessableEntity, "input and command: only one of them")
	}
	if len(q.Command.Update) > 0 && string(q.Command.Update) != "null" {
		if req.Updates, err = updates(q.Command.Update); err != nil {
			return req, err
		}
	}
	if len(q.Command.Resume) > 0 {
		req.Answers, err = answers(q.Command.Resume, open)
	}
	return req, err
}

// answers are the answers to open questions: an object by their ids, or one for the only question.
func answers(resume json.RawMessage, open []graph.Question) (map[string]any, error) {
	var byID map[string]json.RawMessage
	if json.Unmarshal(resume, &byID) == nil && len(byID) > 0 {
		out := map[string]any{}
		for id, v := range byID {
			if slices.ContainsFunc(open, func(q graph.Question) bool { return q.ID() == id }) {
				out[id] = v
			}
		}
		if len(out) == len(byID) {
			return out, nil
		}
	}
	switch {
	case len(open) == 0:
		return nil, nil // a breakpoint
	case len(open) > 1:
		return nil, failed(http.StatusUnprocessableEntity, "command.resume: %d questions are open, so answers are given by the ids of the interrupts", len(open))
	}
	return map[string]any{open[0].ID(): resume}, nil
}

// callID is the id of a call that continues a run of the engine after its event with the number seq.
func callID(engine string, seq int64) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(engine+" "+strconv.FormatInt(seq, 10))).String()
}

// lastSeq returns the number of the last event of a run in the log.
func lastSeq(ctx context.Context, g untyped.Runner, thread, engine string) (last int64, err error) {
	for e, err := range g.Events(ctx, thread, engine, 0, graph.Tasks) {
		if err != nil {
			return 0, err
		}
		last = e.Seq
	}
	return last, nil
}

// moved returns a thread that no graph has used in the store of a graph.
func (s *service) moved(ctx context.Context, t *found, name string) (*found, error) {
	if !t.blank() {
		return nil, failed(http.StatusConflict, "the thread is one of the graph %q", cmp.Or(t.name, s.names[0]))
	}
	if err := s.remove(ctx, t.Thread); err != nil {
		return nil, err
	}
	return s.create(ctx, t.Thread, merged(unpacked(t.Metadata), map[string]any{"graph_id": name}))
}

// begin starts a run of a thread.
func (s *service) begin(ctx context.Context, thread string, q *runRequest) (*run, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	name, g, err := s.graphOf(q.Assistant)
	if err != nil {
		return nil, failed(http.StatusUnprocessableEntity, "%v", err)
	}
	t, err := s.find(ctx, thread)
	if err == nil && t.Store() != g.Store() {
		t, err = s.moved(ctx, t, name)
	}
	switch {
	case err != nil && (!missing(err) || q.IfNotExists != "create"):
		return nil, err
	case err != nil:
		if t, err = s.create(ctx, thread, map[string]any{"graph_id": name}); err != nil {
			return nil, err
		}
	}
	t.Runner, t.name = g, name
	ctx, from, err := q.configured(ctx, g, thread)
	if err != nil {
		return nil, err
	}
	var head graph.Commit
	var open []graph.Question
	for c, err := range g.Store().Walk(ctx, thread, 0) {
		if err != nil && !errors.Is(err, graph.ErrNotFound) {
			return nil, err
		}
		head, open = c, questions(c)
		break
	}
	req, err := q.request(t, open, from)
	if err != nil {
		return nil, err
	}
	r := &run{
		id: newID(), thread: thread, graph: name, owner: cmp.Or(t.Owner, graph.OwnerOf(ctx)), strategy: cmp.Or(q.Strategy, "enqueue"),
		modes: q.Modes, subgraphs: q.Subgraphs, resumable: q.Resumable, metadata: merged(q.Config.Metadata, q.Metadata),
	}
	if req.Resume {
		seq, err := lastSeq(ctx, g, thread, head.Run)
		if err != nil {
			return nil, err
		}
		r.id = callID(head.Run, seq)
	}
	req.Run = r.id
	req.OnBusy = map[string]graph.OnBusy{"interrupt": graph.Interrupt, "rollback": graph.Rollback, "enqueue": graph.Enqueue}[r.strategy]
	b := &brakes{before: q.Before, after: q.After, limit: q.Config.RecursionLimit, resumed: req.Resume, pause: make(chan struct{})}
	return r, s.runs.start(ctx, r, head.ID, g, req, b)
}
