// Package schema derives the JSON schema of a Go type and checks JSON values against it.
package schema

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// Of returns the JSON schema (draft 2020-12) of the values of a type. The type can consist of booleans, numbers,
// strings, times, slices, arrays, maps with string keys, and structs of these, by their json tags. A type with
// its own JSON or text methods validates itself. A field is required unless it is a pointer or has omitempty or
// omitzero. The tag enum:"a,b" lists the allowed strings, the tag doc:"…" is the description of a field.
func Of(t reflect.Type) (json.RawMessage, error) {
	known := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[time.Time](): {Type: "string", Format: "date-time", Pattern: `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`},
	}
	findKnown(t, known, map[reflect.Type]bool{})
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: known})
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	readTags(s, t)
	return json.Marshal(s)
}

// findKnown adds the types within t whose JSON is not that of their kind.
func findKnown(t reflect.Type, known map[reflect.Type]*jsonschema.Schema, seen map[reflect.Type]bool) {
	if seen[t] || known[t] != nil {
		return
	}
	seen[t] = true
	switch p := reflect.PointerTo(t); {
	case t.Kind() == reflect.Pointer:
		findKnown(t.Elem(), known, seen)
	case p.Implements(reflect.TypeFor[json.Unmarshaler]()):
		known[t] = &jsonschema.Schema{Types: []string{"null", "boolean", "number", "string", "array", "object"}}
	case p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		known[t] = &jsonschema.Schema{Type: "string"}
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		known[t] = &jsonschema.Schema{Types: []string{"null", "string"}} // in base64
	case t.Kind() == reflect.Struct:
		for f := range t.Fields() {
			findKnown(f.Type, known, seen)
		}
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Map:
		findKnown(t.Elem(), known, seen)
	}
}

// readTags applies the tags of the fields within t to its schema.
func readTags(s *jsonschema.Schema, t reflect.Type) {
	switch t.Kind() { // the others have no fields
	case reflect.Pointer:
		readTags(s, t.Elem())
	case reflect.Slice, reflect.Array:
		if s.Items != nil {
			readTags(s.Items, t.Elem())
		}
	case reflect.Map:
		if s.AdditionalProperties != nil {
			readTags(s.AdditionalProperties, t.Elem())
		}
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				name = f.Name
			}
			of := s.Properties[name]
			if of == nil {
				continue
			}
			if doc := f.Tag.Get("doc"); doc != "" {
				of.Description = doc
			}
			if set := f.Tag.Get("enum"); set != "" {
				for allowed := range strings.SplitSeq(set, ",") {
					of.Enum = append(of.Enum, allowed)
				}
			}
			if f.Type.Kind() == reflect.Pointer {
				s.Required = slices.DeleteFunc(s.Required, func(r string) bool { return r == name })
			}
			readTags(of, f.Type)
		}
	}
}

// Check checks a JSON value, the answer to a question, against a schema. The error says which part does not
// match and why.
func Check(schema, value json.RawMessage) error {
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return err
	}
	if err := resolved.Validate(v); err != nil {
		return errors.New("answer: " + strings.NewReplacer("validating ", "", "root: ", "", "<invalid reflect.Value>", "null").Replace(err.Error()))
	}
	return nil
}
