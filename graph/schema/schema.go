// Package schema derives the JSON schema of a Go type and checks JSON values against it.
package schema

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"time"
)

// schema is the part of JSON Schema (draft 2020-12) that Go types need.
type schema struct {
	Type        any                `json:"type,omitempty"` // a string, or a list with "null"
	Description string             `json:"description,omitempty"`
	Format      string             `json:"format,omitempty"`
	Enum        []string           `json:"enum,omitempty"`
	Minimum     *json.Number       `json:"minimum,omitempty"`
	Maximum     *json.Number       `json:"maximum,omitempty"`
	Items       *schema            `json:"items,omitempty"`
	MinItems    *int               `json:"minItems,omitempty"`
	MaxItems    *int               `json:"maxItems,omitempty"`
	Properties  map[string]*schema `json:"properties,omitempty"`
	Required    []string           `json:"required,omitempty"`
	Others      any                `json:"additionalProperties,omitempty"` // *schema of a map, false of a struct
}

// UnmarshalJSON decodes a schema of schemaOf.
func (s *schema) UnmarshalJSON(b []byte) error {
	type plain schema
	var raw struct {
		plain
		Others json.RawMessage `json:"additionalProperties"`
	}
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	*s = schema(raw.plain)
	switch {
	case len(raw.Others) == 0:
		s.Others = nil
	case string(raw.Others) == "false":
		s.Others = false
	default:
		of := &schema{}
		s.Others = of
		return json.Unmarshal(raw.Others, of)
	}
	return nil
}

// Of returns the JSON schema (draft 2020-12) of the values of a type. The type can consist of booleans, numbers,
// strings, times, slices, arrays, maps with string keys, and structs of these, by their json tags.
// A pointer may be null. A field is required unless it is a pointer or has omitempty or omitzero.
// The tag enum:"a,b" lists the allowed strings, the tag doc:"…" is the description of a field.
func Of(t reflect.Type) (json.RawMessage, error) {
	s, err := schemaOf(t, nil)
	if err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

func schemaOf(t reflect.Type, within []reflect.Type) (*schema, error) {
	if slices.Contains(within, t) {
		return nil, fmt.Errorf("schema: type %v is recursive", t)
	}
	within = append(slices.Clip(within), t)
	switch {
	case t == reflect.TypeFor[time.Time]():
		return &schema{Type: "string", Format: "date-time"}, nil
	case t == reflect.TypeFor[json.RawMessage]() || t.Kind() == reflect.Interface && t.NumMethod() == 0:
		return &schema{}, nil
	case t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return &schema{}, nil // it validates itself
	case t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return &schema{Type: "string"}, nil
	}
	switch t.Kind() { //nolint:exhaustive // the others have no JSON
	case reflect.Bool:
		return &schema{Type: "boolean"}, nil
	case reflect.String:
		return &schema{Type: "string"}, nil
	case reflect.Float32, reflect.Float64:
		return &schema{Type: "number"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		least, most := int64(math.MinInt64)>>(64-t.Bits()), int64(math.MaxInt64)>>(64-t.Bits())
		return &schema{Type: "integer", Minimum: number(least), Maximum: number(most)}, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return &schema{Type: "integer", Minimum: number(0), Maximum: number(uint64(math.MaxUint64) >> (64 - t.Bits()))}, nil
	case reflect.Pointer:
		s, err := schemaOf(t.Elem(), within)
		if name, ok := s.typeName(); err == nil && ok {
			s.Type = []string{name, "null"}
		}
		return s, err
	case reflect.Slice, reflect.Array:
		return listSchema(t, within)
	case reflect.Map:
		of, err := schemaOf(t.Elem(), within)
		if t.Key().Kind() != reflect.String {
			return nil, fmt.Errorf("schema: keys of %v are not strings", t)
		}
		return &schema{Type: "object", Others: of}, err
	case reflect.Struct:
		return structSchema(t, within)
	}
	return nil, fmt.Errorf("schema: type %v has no JSON", t)
}

func number[T int64 | uint64 | int](n T) *json.Number {
	s := json.Number(fmt.Sprint(n))
	return &s
}

func listSchema(t reflect.Type, within []reflect.Type) (*schema, error) {
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
		return &schema{Type: "string", Format: "base64"}, nil
	}
	of, err := schemaOf(t.Elem(), within)
	s := &schema{Type: "array", Items: of}
	if n := 0; t.Kind() == reflect.Array {
		n = t.Len()
		s.MinItems, s.MaxItems = &n, &n
	}
	return s, err
}

func structSchema(t reflect.Type, within []reflect.Type) (*schema, error) {
	s := &schema{Type: "object", Properties: map[string]*schema{}, Others: false}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" && options == "" || len(f.Index) > 1 && f.Tag.Get("json") == "-" {
			continue
		}
		if f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct {
			continue // its fields are in VisibleFields
		}
		if name == "" {
			name = f.Name
		}
		of, err := schemaOf(f.Type, within)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		of.Description = f.Tag.Get("doc")
		if set := f.Tag.Get("enum"); set != "" {
			of.Enum = strings.Split(set, ",")
		}
		s.Properties[name] = of
		if f.Type.Kind() != reflect.Pointer && !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			s.Required = append(s.Required, name)
		}
	}
	slices.Sort(s.Required)
	return s, nil
}

func (s *schema) typeName() (string, bool) {
	if s == nil {
		return "", false
	}
	name, ok := s.Type.(string)
	return name, ok
}

// Check checks a JSON value, the answer to a question, against a schema of [Of]. The error says which
// part does not match and why.
func Check(raw, body json.RawMessage) error {
	var s schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return err
	}
	return s.fit("answer", v)
}

func (s *schema) fit(at string, v any) error {
	switch t := s.Type.(type) {
	case nil:
		return nil
	case []any: // decoded from JSON: a type, or null
		if v == nil {
			return nil
		}
		of := *s
		of.Type = t[0]
		return of.fit(at, v)
	case string:
		if got := kindOf(v); got != t && (t != "number" || got != "integer") {
			return fmt.Errorf("%s is %s, not %s", at, got, t)
		}
	}
	switch v := v.(type) {
	case string:
		return s.fitText(at, v)
	case json.Number:
		return s.fitNumber(at, v)
	case []any:
		if s.MinItems != nil && len(v) != *s.MinItems {
			return fmt.Errorf("%s has %d elements, not %d", at, len(v), *s.MinItems)
		}
		for i, e := range v {
			if err := s.Items.fit(fmt.Sprintf("%s[%d]", at, i), e); err != nil {
				return err
			}
		}
	case map[string]any:
		return s.fitObject(at, v)
	}
	return nil
}

func (s *schema) fitText(at, v string) error {
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, v) {
		return fmt.Errorf("%s is %q, not one of %q", at, v, s.Enum)
	}
	if s.Format == "date-time" {
		if _, err := time.Parse(time.RFC3339, v); err != nil {
			return fmt.Errorf("%s is %q, not a time such as 2026-11-21T08:30:15Z", at, v)
		}
	}
	return nil
}

func (s *schema) fitNumber(at string, v json.Number) error {
	n, ok := new(big.Rat).SetString(v.String())
	if !ok {
		return fmt.Errorf("%s is %s, not a number", at, v)
	}
	for _, bound := range []struct {
		limit *json.Number
		sign  int
		word  string
	}{{s.Minimum, -1, "less"}, {s.Maximum, 1, "more"}} {
		if bound.limit == nil {
			continue
		}
		if limit, ok := new(big.Rat).SetString(bound.limit.String()); ok && n.Cmp(limit) == bound.sign {
			return fmt.Errorf("%s is %s, %s than %s", at, v, bound.word, *bound.limit)
		}
	}
	return nil
}

func (s *schema) fitObject(at string, v map[string]any) error {
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return fmt.Errorf("%s lacks %q", at, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		of := s.Properties[name]
		if of == nil {
			of, _ = s.Others.(*schema)
		}
		if of == nil && s.Others == false {
			return fmt.Errorf("%s has %q, which the schema does not allow", at, name)
		}
		if of == nil {
			continue
		}
		if err := of.fit(at+"."+name, v[name]); err != nil {
			return err
		}
	}
	return nil
}

func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case json.Number:
		if !strings.ContainsAny(v.String(), ".eE") {
			return "integer"
		}
		return "number"
	default:
		return "object"
	}
}
