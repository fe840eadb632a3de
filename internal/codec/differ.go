package codec

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// MayDiffer reports whether a value of type t may be another one after it was written as JSON and read.
// Causes are: omitempty on a slice or map, which turns an empty one into nil; omitzero; json:"-";
// a pointer to a value that can be null; and own JSON methods, such as those of time.Time,
// which lose its zone. Invalid UTF-8 is not a matter of types: see [InvalidUTF8].
func MayDiffer(t reflect.Type) bool { return mayDiffer(t, nil) }

func mayDiffer(t reflect.Type, within []reflect.Type) bool {
	if slices.Contains(within, t) {
		return false // recursive type: the outer call decides
	}
	within = append(slices.Clip(within), t)
	if p := reflect.PointerTo(t); t.Kind() != reflect.Pointer &&
		(implements[json.Marshaler](p) || implements[encoding.TextMarshaler](p) ||
			implements[json.Unmarshaler](p) || implements[encoding.TextUnmarshaler](p)) {
		return true
	}
	switch t.Kind() { // numbers, booleans and strings come back
	case reflect.Slice, reflect.Array:
		return mayDiffer(t.Elem(), within)
	case reflect.Map:
		return mayDiffer(t.Key(), within) || mayDiffer(t.Elem(), within)
	case reflect.Pointer:
		return slices.Contains([]reflect.Kind{reflect.Slice, reflect.Map, reflect.Pointer}, t.Elem().Kind()) || mayDiffer(t.Elem(), within)
	case reflect.Struct:
		for f := range t.Fields() {
			if fieldMayDiffer(f, within) {
				return true
			}
		}
		return false
	case reflect.Interface:
		return true
	}
	return false
}

func fieldMayDiffer(f reflect.StructField, within []reflect.Type) bool {
	_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	kind := f.Type.Kind()
	empties := kind == reflect.Slice || kind == reflect.Map
	return f.Tag.Get("json") == "-" || f.Anonymous && kind == reflect.Pointer ||
		empties && strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero") ||
		mayDiffer(f.Type, within)
}

// InvalidUTF8 reports whether an encoded value may have contained invalid UTF-8:
// encoding/json writes this escape only for such bytes.
func InvalidUTF8(body []byte) bool { return bytes.Contains(body, []byte(`\ufffd`)) }
