package langgraph

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/untyped"
)

// names are one name, or a list of them.
type names []string

func (l *names) UnmarshalJSON(body []byte) error {
	*l = names{""}
	if json.Unmarshal(body, &(*l)[0]) == nil {
		return nil
	}
	return json.Unmarshal(body, (*[]string)(l))
}

// have reports whether a node is in the list, which may be "*" for all.
func (l names) have(node string) bool {
	return node != "" && (slices.Contains(l, node) || slices.Contains(l, graph.Every))
}

// runRequest is the body of a run. Fields of type refused must be empty.
type runRequest struct {
	Assistant    string                     `json:"assistant_id"`
	Batched      string                     `json:"assistantId"` // the JavaScript SDK adds it in a batch
	Input        json.RawMessage            `json:"input"`
	Command      *command                   `json:"command"`
	Checkpoint   place                      `json:"checkpoint"`
	CheckpointID place                      `json:"checkpoint_id"`
	Metadata     map[string]any             `json:"metadata"`
	Config       config                     `json:"config"`
	Context      map[string]json.RawMessage `json:"context"`
	Modes        names                      `json:"stream_mode"`
	Subgraphs    bool                       `json:"stream_subgraphs"`
	Resumable    bool                       `json:"stream_resumable"`
	Before       names                      `json:"interrupt_before"`
	After        names                      `json:"interrupt_after"`
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

// check fills in what is left out, and refuses what this server does not do.
func (q *runRequest) check() error {
	if q.Assistant == "" {
		return invalid("assistant_id is missing")
	}
	if q.Command == nil {
		q.Command = &command{}
	} else if !isNull(q.Input) {
		return invalid("input and command: only one of them")
	}
	for field, is := range map[string]refused{
		"webhook": q.Webhook, "after_seconds": q.AfterSeconds, "feedback_keys": q.FeedbackKeys, "strict_resume": q.StrictResume,
		"langsmith_tracer": q.Tracer, "config.callbacks": q.Config.Callbacks, "config.max_concurrency": q.Config.MaxConcurrency,
		"command.goto": q.Command.Goto,
	} {
		if is {
			return unsupported(field)
		}
	}
	for _, f := range []struct {
		field   string
		value   *string
		allowed []string // the first is the default
	}{
		{"multitask_strategy", &q.Strategy, []string{"enqueue", "reject", "interrupt", "rollback"}},
		{"on_disconnect", &q.OnDisconnect, []string{"continue", "cancel"}},
		{"if_not_exists", &q.IfNotExists, []string{"reject", "create"}},
		{"on_completion", &q.OnCompletion, []string{"delete", "keep"}},
		{"durability", &q.Durability, []string{"sync", "async", "exit"}},
	} {
		if *f.value = cmp.Or(*f.value, f.allowed[0]); !slices.Contains(f.allowed, *f.value) {
			return unsupported(f.field + " " + strconv.Quote(*f.value))
		}
	}
	if len(q.Modes) == 0 {
		q.Modes = names{"values"}
	}
	return checkModes(q.Modes)
}

// checkModes refuses kinds of events that the older streams do not have.
func checkModes(modes names) error {
	for _, mode := range modes {
		if !slices.Contains([]string{"values", "updates", "messages", "messages-tuple", "custom", "tasks", "checkpoints", "debug"}, mode) {
			return unsupported("stream_mode " + strconv.Quote(mode))
		}
	}
	return nil
}

// options are what a client may set for the runs of one graph, and the checkpoint that a run continues from; 0 is the head.
func (q *runRequest) options(thread string) (set map[string]json.RawMessage, from place, err error) {
	set, from = map[string]json.RawMessage{}, cmp.Or(q.CheckpointID, q.Checkpoint)
	for k, v := range q.Config.Configurable {
		var text string
		_ = json.Unmarshal(v, &text) // else it is no text
		switch k {
		case "thread_id":
			if text != "" && text != thread {
				return nil, 0, invalid("config.configurable.thread_id: it is not that of the path")
			}
		case "checkpoint_ns":
			if text != "" {
				return nil, 0, unsupported("config.configurable.checkpoint_ns")
			}
		case "checkpoint_id":
			if from == 0 {
				from, err = placeOf(text)
			}
		case "checkpoint_map", "assistant_id", "graph_id", "run_id", "user_id":
		default:
			set[k] = v
		}
	}
	maps.Copy(set, q.Context)
	return set, from, err
}

// configured returns the context of a run of a graph with options, which only an assistant has.
func configured(ctx context.Context, g untyped.Runner, options map[string]json.RawMessage) (context.Context, error) {
	if f, ok := g.(*flow); ok {
		return f.configure(ctx, options)
	}
	for k := range options {
		return ctx, unsupported("config.configurable." + k)
	}
	return ctx, nil
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
	case len(open) == 0 || len(resume) == 0:
		return nil, nil // a breakpoint
	case len(open) > 1:
		return nil, invalid("command.resume: %d questions are open, so answers are given by the ids of the interrupts", len(open))
	}
	return map[string]any{open[0].ID(): resume}, nil
}
