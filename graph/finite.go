package graph

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
)

// JSON has no NaN and no infinity, so a state with one could not be saved. Compile finds the types
// that may hold floating-point numbers; only values of these are visited after a step.

// findFloats adds the types in t that may hold floating-point numbers to found, and reports whether
// t may. Types with their own JSON methods decide themselves.
func findFloats(t reflect.Type, within []reflect.Type, found map[reflect.Type]bool) bool {
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

// notFinite returns the path and the text of a number in v that JSON cannot hold, or "".
func notFinite(v reflect.Value, floats map[reflect.Type]bool) (path, bad string) {
	if !floats[v.Type()] {
		return "", ""
	}
	switch v.Kind() { //nolint:exhaustive // the others are not in floats
	case reflect.Float32, reflect.Float64:
		if n := v.Float(); math.IsNaN(n) || math.IsInf(n, 0) {
			return "", fmt.Sprint(n)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return notFinite(v.Elem(), floats)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if path, bad = notFinite(v.Index(i), floats); bad != "" {
				return fmt.Sprintf("[%d]%s", i, path), bad
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if path, bad = notFinite(it.Value(), floats); bad != "" {
				return fmt.Sprintf("[%v]%s", it.Key(), path), bad
			}
		}
	case reflect.Struct:
		for f := range v.Type().Fields() {
			if f.Tag.Get("json") == "-" {
				continue
			}
			if path, bad = notFinite(v.FieldByIndex(f.Index), floats); bad != "" {
				return "." + f.Name + path, bad
			}
		}
	}
	return "", ""
}
