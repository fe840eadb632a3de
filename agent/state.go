package agent

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/google/uuid"

	"example.com/ragflow/state"
)

// State is a conversation with agents.
type State struct {
	Messages []state.Message `json:"messages,omitempty"`
	Sources  []state.Source  `json:"sources,omitempty"` // what tools found; [Source N] is Sources[N-1]
	Agent    string          `json:"agent,omitempty"`   // the agent that speaks; empty: the first one
	Answer   string          `json:"answer,omitempty"`  // JSON of the structured answer; see Decode
	Turn     Turn            `json:"turn,omitzero"`
}

// Turn counts what the current turn used.
type Turn struct {
	Steps        int    `json:"steps,omitempty"`  // calls of models
	Faults       int    `json:"faults,omitempty"` // consecutive steps without a usable tool call
	InputTokens  int64  `json:"input_tokens,omitempty"`
	OutputTokens int64  `json:"output_tokens,omitempty"`
	Model        string `json:"model,omitempty"` // the model of the newest call
	CostNanoUSD  int64  `json:"cost_nanousd,omitempty"`
}

// Reply returns the text of the newest message, if a model wrote it.
func (s State) Reply() string {
	if n := len(s.Messages); n > 0 && s.Messages[n-1].Role == state.AI {
		return s.Messages[n-1].Content
	}
	return ""
}

// Decode returns the structured answer of a turn that ended.
func Decode[T any](s State) (T, error) {
	var out T
	if s.Answer == "" {
		return out, errors.New("the turn has no structured answer")
	}
	err := json.Unmarshal([]byte(s.Answer), &out)
	return out, err
}

// Update is a change of a State. The zero Update changes nothing.
type Update struct {
	Messages []state.MessageOp `json:"messages,omitempty"`
	Sources  []state.Source    `json:"sources,omitempty"` // appended
	Agent    string            `json:"agent,omitempty"`   // replaces Agent if it is not empty
	Answer   *string           `json:"answer,omitempty"`
	Turn     *Turn             `json:"turn,omitempty"`
	State    *State            `json:"state,omitempty"` // replaces all, before the other fields apply
}

// Say returns the input of a turn: a message of a person.
func Say(text string) Update {
	m := state.Message{ID: uuid.NewString(), Role: state.Human, Content: text}
	return Update{Messages: []state.MessageOp{{Put: &m}}, Answer: new(string), Turn: &Turn{}}
}

// Apply returns the state after an update. It changes nothing that s or u refer to.
func Apply(s State, u Update) (State, error) {
	if u.State != nil {
		s = *u.State
	}
	var err error
	if s.Messages, err = state.FoldMessages(s.Messages, u.Messages); err != nil {
		return s, err
	}
	s.Sources = append(slices.Clip(s.Sources), u.Sources...)
	if u.Agent != "" {
		s.Agent = u.Agent
	}
	if u.Answer != nil {
		s.Answer = *u.Answer
	}
	if u.Turn != nil {
		s.Turn = *u.Turn
	}
	return s, nil
}
