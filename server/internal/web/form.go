package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
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
	Name    string // in the form
	Key     string // in the answer
	Title   string
	Kind    string // text, number, yes (or no), choice, json
	Choices []string
	Needed  bool
	Value   string // as a person entered it
	Wrong   string // the kind that the value is not
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
		s.Properties, s.Required = map[string]schema{"answer": s}, []string{"answer"}
	}
	keys := append(slices.Clone(s.Required), sortedKeys(s.Properties)...) // what is needed comes first
	for i, key := range keys {
		p, ok := s.Properties[key]
		if !ok || slices.Contains(keys[:i], key) {
			continue
		}
		x := field{Name: f.ID + "." + key, Key: key, Title: cmp.Or(p.Description, p.Title, key), Kind: "json", Needed: slices.Contains(s.Required, key)}
		if kind, ok := map[string]string{"string": "text", "integer": "number", "number": "number", "boolean": "yes"}[p.Type]; ok {
			x.Kind = kind
		}
		for _, v := range p.Enum {
			x.Kind, x.Choices = "choice", append(x.Choices, fmt.Sprint(v))
		}
		f.Fields = append(f.Fields, x)
	}
	return f
}

// answer reads what a person entered, and keeps it. It is not ok if a field says what is wrong with it.
func (f *form) answer(values url.Values) (v any, ok bool) {
	f.fill(values)
	out := map[string]any{}
	ok = true
	for i := range f.Fields {
		x := &f.Fields[i]
		if x.Value == "" && x.Kind != "yes" && !x.Needed {
			continue
		}
		v, err := x.read()
		if err != nil {
			x.Wrong, ok = x.Kind, false
		}
		if f.Whole {
			return v, ok
		}
		out[x.Key] = v
	}
	return out, ok
}

// fill puts what a person entered into the fields.
func (f *form) fill(values url.Values) {
	for i := range f.Fields {
		f.Fields[i].Value = strings.TrimSpace(values.Get(f.Fields[i].Name))
	}
}

func (x *field) read() (v any, err error) {
	switch x.Kind {
	case "number":
		return strconv.ParseFloat(x.Value, 64)
	case "yes":
		return x.Value == "yes", nil
	case "json":
		err = json.Unmarshal([]byte(x.Value), &v)
		return v, err
	}
	return x.Value, nil
}

// shownJSON is a JSON string as its text, and another value indented.
func shownJSON(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		return string(raw)
	}
	return out.String()
}
