package web

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"example.com/ragflow/graph"
)

// form asks a person what a run wants to know.
type form struct {
	ID      string
	Ask     string // the question as text, or its JSON, indented
	Problem string // of the last answer
	Fields  []field
	Whole   bool // the one field is the answer, not a member of it
}

// field is one value of an answer.
type field struct {
	Name, Title string
	Kind        string // text, number, yes (or no), choice, json
	Choices     []string
	Needed      bool
}

// schema is what forms are made from; a schema that says more is answered with JSON.
type schema struct {
	Type        string            `json:"type"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Enum        []any             `json:"enum"`
	Properties  map[string]schema `json:"properties"`
	Required    []string          `json:"required"`
}

func newForm(q graph.Question) form {
	f := form{ID: q.ID(), Ask: shownJSON(q.Ask), Problem: q.Problem}
	var s schema
	_ = json.Unmarshal(q.Schema, &s) // then the answer is JSON
	if s.Type != "object" || len(s.Properties) == 0 {
		f.Whole = true
		f.Fields = []field{newField("answer", s, true)}
		return f
	}
	needed := map[string]bool{}
	for _, n := range s.Required {
		needed[n] = true
	}
	for _, name := range sortedKeys(s.Properties) {
		f.Fields = append(f.Fields, newField(name, s.Properties[name], needed[name]))
	}
	return f
}

func newField(name string, s schema, needed bool) field {
	f := field{Name: name, Title: s.Description, Needed: needed}
	if f.Title == "" {
		f.Title = s.Title
	}
	if f.Title == "" {
		f.Title = name
	}
	switch {
	case len(s.Enum) > 0:
		f.Kind = "choice"
		for _, v := range s.Enum {
			f.Choices = append(f.Choices, fmt.Sprint(v))
		}
	case s.Type == "string":
		f.Kind = "text"
	case s.Type == "integer", s.Type == "number":
		f.Kind = "number"
	case s.Type == "boolean":
		f.Kind = "yes"
	default:
		f.Kind = "json"
	}
	return f
}

// answer reads what a person entered.
func (f form) answer(values url.Values) (any, error) {
	out := map[string]any{}
	for _, x := range f.Fields {
		text := strings.TrimSpace(values.Get(f.ID + "." + x.Name))
		if text == "" && x.Kind != "yes" && !x.Needed {
			continue
		}
		v, err := x.value(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", x.Title, err)
		}
		if f.Whole {
			return v, nil
		}
		out[x.Name] = v
	}
	return out, nil
}

func (x field) value(text string) (any, error) {
	switch x.Kind {
	case "number":
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", text)
		}
		return v, nil
	case "yes":
		return text == "yes", nil
	case "json":
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			return nil, fmt.Errorf("this is not JSON: %w", err)
		}
		return v, nil
	}
	return text, nil
}

// shownJSON is a JSON string as its text, and another value indented.
func shownJSON(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	indented, _ := json.MarshalIndent(v, "", "  ") // it was JSON
	return string(indented)
}
