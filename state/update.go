package state

import (
	"encoding/json"
	"slices"
)

// Update is what a node changes. The zero Update changes nothing; a pointer
// that is set replaces the field of the same name, with its zero value too.
type Update struct {
	Messages []MessageOp `json:"messages,omitempty"`
	Summary  *string     `json:"summary,omitempty"`
	Recent   *Exchange   `json:"recent,omitempty"` // added as the newest; the oldest beyond MaxRecent falls out

	NewTurn   *Turn       `json:"new_turn,omitempty"` // replaces the scratch, before the fields below
	Language  *string     `json:"language,omitempty"`
	Route     *string     `json:"route,omitempty"`
	Queries   *[]Query    `json:"queries,omitempty"`
	Attempts  *int        `json:"attempts,omitempty"`
	Hits      *[]Hit      `json:"hits,omitempty"`
	Grade     *Grade      `json:"grade,omitempty"`
	Sources   *[]Source   `json:"sources,omitempty"`
	Answer    *string     `json:"answer,omitempty"`
	Citations *[]Citation `json:"citations,omitempty"`
	Abstained *bool       `json:"abstained,omitempty"`
	Model     *string     `json:"model,omitempty"`
}

// Apply returns the state that follows from an update. It writes to nothing
// that s or u reach.
func Apply(s State, u Update) (State, error) {
	messages, err := FoldMessages(s.Messages, u.Messages)
	if err != nil {
		return s, err
	}
	s.Messages = messages
	set(&s.Summary, u.Summary)
	if u.Recent != nil {
		s.Recent = append(slices.Clone(s.Recent), *u.Recent)
		s.Recent = s.Recent[max(0, len(s.Recent)-MaxRecent):]
	}
	set(&s.Turn, u.NewTurn)
	set(&s.Turn.Language, u.Language)
	set(&s.Turn.Route, u.Route)
	set(&s.Turn.Queries, u.Queries)
	set(&s.Turn.Attempts, u.Attempts)
	set(&s.Turn.Hits, u.Hits)
	set(&s.Turn.Grade, u.Grade)
	set(&s.Turn.Sources, u.Sources)
	set(&s.Turn.Answer, u.Answer)
	set(&s.Turn.Citations, u.Citations)
	set(&s.Turn.Abstained, u.Abstained)
	set(&s.Turn.Model, u.Model)
	return s, nil
}

func set[T any](field, v *T) {
	if v != nil {
		*field = *v
	}
}

// MarshalJSON writes a pointer to a nil list as [], because null would be read
// back as no change.
func (u Update) MarshalJSON() ([]byte, error) {
	type plain Update // without this method
	p := plain(u)
	p.Queries = notNil(p.Queries)
	p.Hits = notNil(p.Hits)
	p.Sources = notNil(p.Sources)
	p.Citations = notNil(p.Citations)
	return json.Marshal(p)
}

func notNil[T any](list *[]T) *[]T {
	if list != nil && *list == nil {
		return &[]T{}
	}
	return list
}
