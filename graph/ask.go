package graph

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"example.com/ragflow/graph/schema"
)

// Question is a question of a node to a person.
type Question struct {
	At      string          `json:"at"`                // address of the task: its node, in a subgraph after its path
	Key     string          `json:"key"`               // names the question within the task
	Ask     json.RawMessage `json:"ask"`               // the question itself
	Schema  json.RawMessage `json:"schema"`            // the JSON schema of an answer
	Turn    int             `json:"turn,omitempty"`    // number of earlier answers to this key
	Problem string          `json:"problem,omitempty"` // why the last answer was rejected
}

// ID names the question within the run. [Request].Answers take it, or the Key
// alone if only one open question has it.
func (q Question) ID() string { return q.At + "/" + q.Key }

func (q Question) place() place { return place{q.At, answerNode + q.Key, q.Turn} }

// Answer is the answer of a person, as stored in the task's [Notes].
type Answer struct {
	At    string          `json:"at"`
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
}

// Ask asks a person from within a node. If there is an answer, Ask returns it. Otherwise
// it returns an error that the node must return, alone or joined with others: a node may
// ask several questions before it returns. The other tasks of the step finish, then the
// run ends as Interrupted with an [*InterruptError]. A [Request] with Resume and Answers
// continues it, in this process or another. When all its questions are answered, the node
// runs again from its start; a part of a [FanOut] when those of the part are, while other parts still
// wait. Use [Once] for everything that the node must not repeat. A
// node that returns no error withdraws its questions.
//
// The key identifies the question within the task, or within one part of a [FanOut]. A node
// that asks again with the same key, as in a loop, asks a new question.
// question can be any value with a JSON encoding. The answer must match the JSON schema
// of T, which is stored with the question; package graph/schema says which types have one. The tag
// `enum:"yes,no"` and a method Validate() error restrict T further. If Validate rejects an answer, the question is
// open again, with its Problem. The [Notes] of the task keep the accepted answer.
func Ask[T any](ctx context.Context, key string, question any) (T, error) {
	var zero T
	b := taskContextOf(ctx)
	if b == nil {
		return zero, fmt.Errorf("ask %q: not in a run", key)
	}
	q := Question{At: b.address(), Key: key}
	var err error
	if q.Schema, err = schema.Of(reflect.TypeFor[T]()); err != nil {
		return zero, fmt.Errorf("ask %q: %w", key, err)
	}
	if q.Ask, err = encode(question); err != nil {
		return zero, fmt.Errorf("ask %q: encode question: %w", key, err)
	}
	if key == "" {
		return zero, errors.New("ask: a question needs a key")
	}
	if err := CheckName("key", key); err != nil {
		return zero, fmt.Errorf("ask: %w", err)
	}
	if err := b.awaitReached(ctx); err != nil {
		return zero, err
	}
	for used := b.answers(key); ; q.Turn++ {
		d, ok := b.of.get(q.place())
		if !ok {
			break
		}
		answer, err := decodeAnswer[T](q.Schema, d.Body)
		switch {
		case err != nil:
			q.Problem = err.Error()
		case used > 0: // by an earlier call
			used, q.Problem = used-1, ""
		default:
			b.use(q, d.Body)
			return answer, nil
		}
	}
	if b.of.frozen {
		return zero, ErrSuperseded
	}
	b.asks(q)
	return zero, &InterruptError{Questions: []Question{q}}
}

func decodeAnswer[T any](form, body json.RawMessage) (v T, err error) {
	defer caught(&err)
	if err := schema.Check(form, body); err != nil {
		return v, err
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return v, err
	}
	for _, x := range []any{v, &v} {
		if c, ok := x.(interface{ Validate() error }); ok {
			return v, c.Validate()
		}
	}
	return v, nil
}

// answers returns how many answers with a key the current attempt has used.
func (b *taskContext) answers(key string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used[key]
}

// use counts an answer and adds it to the notes. An earlier attempt may have added it already.
func (b *taskContext) use(q Question, body []byte) {
	b.mu.Lock()
	if b.used == nil {
		b.used = map[string]int{}
	}
	b.used[q.Key]++
	n := b.used[q.Key]
	b.mu.Unlock()
	b.write(func(notes *Notes) {
		for _, a := range notes.Answers {
			if a.At == q.At && a.Key == q.Key {
				n--
			}
		}
		if n > 0 {
			notes.Answers = append(notes.Answers, Answer{q.At, q.Key, body})
		}
	})
}

// asks adds open questions to the task of b.
func (b *taskContext) asks(qs ...Question) {
	for b.up != nil {
		b = b.up
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, q := range qs {
		if !slices.ContainsFunc(b.questions, func(o Question) bool { return o.ID() == q.ID() }) {
			b.questions = append(b.questions, q)
		}
	}
	slices.SortStableFunc(b.questions, func(a, c Question) int { // concurrent workers add them in random order
		return cmp.Or(cmp.Compare(len(a.At), len(c.At)), cmp.Compare(a.At, c.At))
	})
}

// InterruptError is the error of a run that waits for answers or stopped at a breakpoint.
// Everything is saved; [Request].Resume continues the run.
type InterruptError struct {
	Questions []Question `json:"questions,omitempty"` // questions without an answer, by the rank of their tasks
	Before    []string   `json:"before,omitempty"`    // nodes of BreakBefore that run next
	After     []string   `json:"after,omitempty"`     // nodes of BreakAfter that ran
}

func (e *InterruptError) Error() string {
	var ids, parts []string
	for _, q := range e.Questions {
		id := fmt.Sprintf("%q", q.ID())
		if q.Problem != "" {
			id += " (the last answer was rejected: " + q.Problem + ")"
		}
		ids = append(ids, id)
	}
	if len(ids) > 0 {
		parts = append(parts, "waits for answers to "+strings.Join(ids, ", "))
	}
	if len(e.Before) > 0 {
		parts = append(parts, fmt.Sprintf(stoppedBefore+"%q", e.Before))
	}
	if len(e.After) > 0 {
		parts = append(parts, fmt.Sprintf(stoppedAfter+"%q", e.After))
	}
	return strings.Join(parts, "; ")
}

const (
	stoppedBefore = "stopped before "
	stoppedAfter  = "stopped after "
)

// AnswerError is the error of a rejected answer; nothing was saved.
type AnswerError struct {
	Key     string
	Problem string
}

func (e *AnswerError) Error() string { return fmt.Sprintf("answer %q: %s", e.Key, e.Problem) }

// matched assigns answers to the open questions and checks them against their schemas,
// before any of them is saved.
func (s *session) matched(answers map[string]any) (map[place]Delta, error) {
	out := map[place]Delta{}
	var open []Question
	var ids []string
	for _, q := range s.open {
		if _, answered := s.get(q.place()); !answered {
			open, ids = append(open, q), append(ids, q.ID())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		found := slices.DeleteFunc(slices.Clone(open), func(q Question) bool { return q.ID() != name && q.Key != name })
		refuse := func(format string, args ...any) (map[place]Delta, error) {
			return nil, &AnswerError{name, fmt.Sprintf(format, args...)}
		}
		body, err := encode(answers[name])
		switch known, same := s.answered(name, body); {
		case len(found) > 1:
			return refuse("several open questions have this key; use one of %q", ids)
		case len(found) == 1:
		case same:
			continue // it was sent twice
		case known:
			return refuse("the question has another answer already")
		default:
			return refuse("no open question has this key; the open questions are %q", ids)
		}
		q := found[0]
		if _, ok := out[q.place()]; ok {
			return refuse("the question is answered twice")
		}
		if err == nil {
			err = schema.Check(q.Schema, body)
		}
		if err != nil {
			return refuse("%v", err)
		}
		out[q.place()] = Delta{Path: q.At, Node: answerNode + q.Key, Body: body}
	}
	return out, nil
}

// answered reports whether the ledger has an answer to the question of a name, and whether it is body.
func (s *session) answered(name string, body []byte) (known, same bool) {
	for _, r := range s.entries() {
		if key, ok := strings.CutPrefix(r.Delta.Node, answerNode); ok && (key == name || r.Delta.Path+"/"+key == name) {
			known, same = true, same || bytes.Equal(r.Delta.Body, body)
		}
	}
	return known, same
}

// answer saves answers of matched.
func (s *session) answer(ctx context.Context, entries map[place]Delta) error {
	places := slices.SortedFunc(maps.Keys(entries), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.node, b.node))
	})
	for _, p := range places {
		if err := s.put(ctx, p, entries[p]); err != nil {
			return fmt.Errorf("save answer: %w", err)
		}
	}
	return nil
}
