package state

import (
	"encoding/json"
	"reflect"
	"slices"
)

// Update is a change of the state by a node. The zero Update changes nothing. A non-nil
// pointer replaces the field of the same name, also if it points to the zero value.
type Update struct {
	Messages []MessageOp `json:"messages,omitempty"`
	Summary  *string     `json:"summary,omitempty"`
	Recent   *Exchange   `json:"recent,omitempty"` // appended; at most MaxRecent are kept

	Scope     *Scope      `json:"scope,omitempty"`
	Settings  Settings    `json:"settings,omitzero"`    // with Scope: replaces the settings, also by zero ones
	NewRecent *[]Exchange `json:"new_recent,omitempty"` // replaces all exchanges, before Recent is appended
	NewTurn   *Turn       `json:"new_turn,omitempty"`   // replaces Turn, before the fields below apply
	Language  *string     `json:"language,omitempty"`
	Route     *string     `json:"route,omitempty"`
	Queries   *[]Query    `json:"queries,omitempty"`
	Attempts  *int        `json:"attempts,omitempty"`
	Hits      *[]Hit      `json:"hits,omitempty"`
	Ranking   *Ranking    `json:"ranking,omitempty"`
	Grade     *Grade      `json:"grade,omitempty"`
	Sources   *[]Source   `json:"sources,omitempty"`
	Answer    *string     `json:"answer,omitempty"`
	Citations *[]Citation `json:"citations,omitempty"`
	Abstained *bool       `json:"abstained,omitempty"`
	Model     *string     `json:"model,omitempty"`
	Quality   *Quality    `json:"quality,omitempty"`
}

// Apply returns the state after an update. It does not change anything that s or u
// refer to.
func Apply(s State, u Update) (State, error) {
	messages, err := FoldMessages(s.Messages, u.Messages)
	if err != nil {
		return s, err
	}
	s.Messages = messages
	set(&s.Summary, u.Summary)
	set(&s.Recent, u.NewRecent)
	if u.Recent != nil {
		s.Recent = append(slices.Clone(s.Recent), *u.Recent)
		s.Recent = s.Recent[max(0, len(s.Recent)-MaxRecent):]
	}
	if u.Scope != nil {
		s.Scope, s.Settings = *u.Scope, u.Settings
	}
	set(&s.Turn, u.NewTurn)
	set(&s.Turn.Language, u.Language)
	set(&s.Turn.Route, u.Route)
	set(&s.Turn.Queries, u.Queries)
	set(&s.Turn.Attempts, u.Attempts)
	set(&s.Turn.Hits, u.Hits)
	set(&s.Turn.Ranking, u.Ranking)
	set(&s.Turn.Grade, u.Grade)
	set(&s.Turn.Sources, u.Sources)
	set(&s.Turn.Answer, u.Answer)
	set(&s.Turn.Citations, u.Citations)
	set(&s.Turn.Abstained, u.Abstained)
	set(&s.Turn.Model, u.Model)
	set(&s.Turn.Quality, u.Quality)
	return s, nil
}

// Restore returns updates that turn s back into the earlier state old, in order. They
// apply only to s. The first update removes the messages that old does not have. If a
// summary was made in between, a second update restores the messages that it removed.
// If s has no messages and no summary, one update is enough for any old.
func Restore(s, old State) []Update {
	change := Update{NewRecent: &old.Recent, NewTurn: &old.Turn}
	if !s.Scope.Equal(old.Scope) || !reflect.DeepEqual(s.Settings, old.Settings) {
		change.Scope, change.Settings = &old.Scope, old.Settings
	}
	if len(s.Messages) == 0 && s.Summary == "" {
		whole := change
		whole.Messages = puts(old.Messages)
		if old.Summary != "" {
			whole.Summary = &old.Summary
		}
		return []Update{whole}
	}
	first := change
	for _, m := range s.Messages {
		if !slices.ContainsFunc(old.Messages, func(o Message) bool { return o.ID == m.ID }) {
			first.Messages = append(first.Messages, MessageOp{Remove: m.ID})
		}
	}
	kept, err := FoldMessages(s.Messages, first.Messages)
	same := slices.EqualFunc(kept, old.Messages, func(a, b Message) bool { return a.ID == b.ID })
	if err == nil && same && s.Summary == old.Summary {
		return []Update{first}
	}
	// An update with a summary removes messages from the live state only, not from the
	// history.
	return []Update{first, {Summary: &old.Summary, Messages: append([]MessageOp{{Clear: true}}, puts(old.Messages)...)}}
}

func puts(ms []Message) []MessageOp {
	var ops []MessageOp
	for i := range ms {
		ops = append(ops, MessageOp{Put: &ms[i]})
	}
	return ops
}

func set[T any](field, v *T) {
	if v != nil {
		*field = *v
	}
}

// MarshalJSON writes a pointer to a nil list as [], because null means no change.
func (u Update) MarshalJSON() ([]byte, error) {
	type plain Update // without this method
	p := plain(u)
	p.NewRecent = notNil(p.NewRecent)
	p.Queries = notNil(p.Queries)
	p.Hits = notNil(p.Hits)
	p.Sources = notNil(p.Sources)
	p.Citations = notNil(p.Citations)
	return json.Marshal(p)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (u *Update) UnmarshalJSON(b []byte) error {
	type plain Update // without this method
	return json.Unmarshal(b, (*plain)(u))
}

func notNil[T any](list *[]T) *[]T {
	if list != nil && *list == nil {
		return &[]T{}
	}
	return list
}
