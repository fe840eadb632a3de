package codec

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
)

// Floats are the types in a type that may hold floating-point numbers. JSON has no NaN and no
// infinity, and only values of these types need to be visited to find one.
type Floats map[reflect.Type]bool

// FindFloats returns the types in t that may hold floating-point numbers. Types with their own JSON
// methods decide themselves.
func FindFloats(t reflect.Type) Floats {
	found := Floats{}
	findFloats(t, nil, found)
	return found
}

// findFloats adds to found and reports whether t may hold such numbers.
func findFloats(t reflect.Type, within []reflect.Type, found Floats) bool {
	if slices.Contains(within, t) {
		return true // recursive types are visited
	}
	within = append(slices.Clip(within), t)
	p := reflect.PointerTo(t)
	if t.Kind() != reflect.Pointer && (implements[json.Marshaler](p) || implements[encoding.TextMarshaler](p)) {
		return false
	}
	holds := false
	switch t.Kind() { //nolint:exhaustive // the others hold no such numbers
	case reflect.Float32, reflect.Float64:
		holds = true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		holds = findFloats(t.Elem(), within, found)
	case reflect.Struct:
		for f := range t.Fields() {
			holds = f.Tag.Get("json") != "-" && findFloats(f.Type, within, found) || holds
		}
	}
	if holds {
		found[t] = true
	}
	return holds
}

// NotFinite returns the path and the text of a number in v that JSON cannot hold, or "".
func (f Floats) NotFinite(v reflect.Value) (path, bad string) {
	if !f[v.Type()] {
		return "", ""
	}
	switch v.Kind() { //nolint:exhaustive // the others are not in f
	case reflect.Float32, reflect.Float64:
		if n := v.Float(); math.IsNaN(n) || math.IsInf(n, 0) {
			return "", fmt.Sprint(n)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return f.NotFinite(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if path, bad = f.NotFinite(v.Index(i)); bad != "" {
				return fmt.Sprintf("[%d]%s", i, path), bad
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if path, bad = f.NotFinite(it.Value()); bad != "" {
				return fmt.Sprintf("[%v]%s", it.Key(), path), bad
			}
		}
	case reflect.Struct:
		for field := range v.Type().Fields() {
			if field.Tag.Get("json") == "-" {
				continue
			}
			if path, bad = f.NotFinite(v.FieldByIndex(field.Index)); bad != "" {
				return "." + field.Name + path, bad
			}
		}
	}
	return "", ""
}
