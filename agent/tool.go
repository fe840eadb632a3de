package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"example.com/ragflow/llm"
	"example.com/ragflow/state"
)

// Tool is a function that a model may call. It must be safe for concurrent use. A tool that
// changes something in the world uses [IdempotencyKey], because a call whose result was not
// saved yet runs again after a crash.
type Tool struct {
	Name        string          // letters, digits, _ and -, at most 64
	Description string          // when to use the tool, for the model
	Schema      json.RawMessage // JSON schema of the arguments: of an object
	// Run gets arguments that match Schema. It must return when its context ends. It may ask
	// a person with graph.Ask, and then returns the error of that.
	Run func(ctx context.Context, arguments json.RawMessage) (Result, error)
	// Approve reports whether a person must approve a call; nil: never. It must be pure.
	Approve func(arguments json.RawMessage) bool
	Timeout time.Duration // of a call; default [DefaultTimeout]; negative: none

	fault    error // why Func could not make the tool
	resolved *jsonschema.Resolved
}

// DefaultTimeout is the default of Tool.Timeout.
const DefaultTimeout = time.Minute

// Result is the result of a tool call.
type Result struct {
	Text string
	// Sources are passages, which the model may cite as [Source N]. They are numbered
	// within the State and follow Text.
	Sources []state.Source
}

// Always is a Tool.Approve: a person approves each call.
func Always(json.RawMessage) bool { return true }

// Func makes a tool of a function. A is a struct of the arguments: its fields have their names
// in the tag json and their descriptions in the tag jsonschema; a field with omitempty may be left
// out. A result that is a string or a [Result] is taken as it is, any other as JSON. Compile
// returns the error of a type that has no schema.
func Func[A, R any](name, description string, f func(ctx context.Context, arguments A) (R, error)) Tool {
	t := Tool{Name: name, Description: description}
	t.Schema, t.fault = schemaOf[A]()
	t.Run = func(ctx context.Context, arguments json.RawMessage) (Result, error) {
		var in A
		if err := json.Unmarshal(arguments, &in); err != nil {
			return Result{}, err
		}
		out, err := f(ctx, in)
		if err != nil {
			return Result{}, err
		}
		switch v := any(out).(type) {
		case Result:
			return v, nil
		case string:
			return Result{Text: v}, nil
		}
		text, err := json.Marshal(out)
		return Result{Text: string(text)}, err
	}
	return t
}

// schemaOf returns the JSON schema of a type.
func schemaOf[T any]() (json.RawMessage, error) {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

// resolve prepares a JSON schema of an object for validation.
func resolve(schema json.RawMessage) (*jsonschema.Resolved, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if s.Type != "object" {
		return nil, errors.New("schema: it must be that of an object")
	}
	return s.Resolve(nil)
}

// valid checks JSON against a schema.
func valid(schema *jsonschema.Resolved, text []byte) error {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	return schema.Validate(v)
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Check returns an error for a tool that no agent can have: its name, its schema or Run is wrong.
func (t Tool) Check() error {
	_, err := t.prepared()
	return err
}

// prepared returns the tool ready for calls.
func (t Tool) prepared() (Tool, error) {
	switch {
	case !toolName.MatchString(t.Name):
		return t, fmt.Errorf("tool %q: a name has 1 to 64 letters, digits, _ and -", t.Name)
	case t.fault != nil:
		return t, fmt.Errorf("tool %q: %w", t.Name, t.fault)
	case t.Run == nil:
		return t, fmt.Errorf("tool %q: Run is missing", t.Name)
	}
	var err error
	if t.resolved, err = resolve(t.Schema); err != nil {
		return t, fmt.Errorf("tool %q: %w", t.Name, err)
	}
	if t.Timeout == 0 {
		t.Timeout = DefaultTimeout
	}
	return t, nil
}

// offer describes the tool for a model. The schema keeps the order of its properties.
func (t Tool) offer() llm.Tool {
	var top map[string]json.RawMessage
	_ = json.Unmarshal(t.Schema, &top) // prepared has read it
	parameters := map[string]any{}
	for key, value := range top {
		parameters[key] = value
	}
	return llm.Tool{Name: t.Name, Description: t.Description, Parameters: parameters}
}

// arguments returns the JSON that a model wrote. No text means no arguments.
func arguments(written string) json.RawMessage {
	if b := bytes.TrimSpace([]byte(written)); len(b) > 0 {
		return b
	}
	return json.RawMessage("{}")
}

type idempotencyKey struct{}

// IdempotencyKey returns a key that is the same each time a call runs, also after a crash, for
// services that do a thing only once per key. It is empty outside of a tool.
func IdempotencyKey(ctx context.Context) string {
	key, _ := ctx.Value(idempotencyKey{}).(string)
	return key
}
