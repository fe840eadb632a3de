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

	NewRecent *[]Exchange `json:"new_recent,omitempty"` // replaces all exchanges, before Recent adds one
	NewTurn   *Turn       `json:"new_turn,omitempty"`   // replaces the scratch, before the fields below
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
	Quality   *Quality    `json:"quality,omitempty"`
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
	set(&s.Recent, u.NewRecent)
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
	set(&s.Turn.Quality, u.Quality)
	return s, nil
}

// Restore returns updates that turn s into a state that was before, in the
// order to apply. Messages that s has and old has not are removed by the first
// of them; where a summary was made since, a second one brings back what it
// took out. Together they apply to s only. Of a state without messages and
// summary, such as the zero one, one update makes any.
func Restore(s, old State) []Update {
	if len(s.Messages) == 0 && s.Summary == "" {
		whole := Update{Messages: puts(old.Messages), NewRecent: &old.Recent, NewTurn: &old.Turn}
		if old.Summary != "" {
			whole.Summary = &old.Summary
		}
		return []Update{whole}
	}
	first := Update{NewRecent: &old.Recent, NewTurn: &old.Turn}
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
	// Beside a summary, removals do not count for the history: a message that
	// only left the live state stays in it.
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

// MarshalJSON writes a pointer to a nil list as [], because null would be read
// back as no change.
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
