package codec

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
)

// Floats are the types in a type that may hold floating-point numbers; of a struct, with the
// indexes of its fields that may. JSON has no NaN and no infinity, and only these values need to be
// visited to find one.
type Floats map[reflect.Type][]int

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
	holds, fields := false, []int(nil)
	switch t.Kind() { // the others hold no such numbers
	case reflect.Float32, reflect.Float64:
		holds = true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		holds = findFloats(t.Elem(), within, found)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.Tag.Get("json") != "-" && findFloats(f.Type, within, found) {
				holds, fields = true, append(fields, i)
			}
		}
	}
	if holds {
		found[t] = fields
	}
	return holds
}

// NotFinite returns the path and the text of a number in v that JSON cannot hold, or "".
func (f Floats) NotFinite(v reflect.Value) (path, bad string) {
	fields, ok := f[v.Type()]
	if !ok {
		return "", ""
	}
	switch v.Kind() { // the others are not in f
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
		for _, i := range fields {
			if path, bad = f.NotFinite(v.Field(i)); bad != "" {
				return "." + v.Type().Field(i).Name + path, bad
			}
		}
	}
	return "", ""
}
