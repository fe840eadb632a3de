package graph

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// The log holds updates as JSON. So that a live state equals the reloaded one,
// an update whose encoding may decode to another value is decoded before Apply
// sees it. This file says which ones: by type, once, in Compile; and by looking
// for invalid UTF-8 in each encoding. Plain types cost nothing.

// mayDiffer reports whether a value of type t may come back from JSON as another
// one: by omitempty on a slice or map, which makes an empty one nil; by omitzero;
// by json:"-"; by a pointer to something that is null itself; or by methods of
// its own, as those of time.Time, which loses its zone.
func mayDiffer(t reflect.Type, within []reflect.Type) bool {
	if slices.Contains(within, t) {
		return false // the outer one decides
	}
	within = append(slices.Clip(within), t)
	if p := reflect.PointerTo(t); t.Kind() != reflect.Pointer &&
		(implements[json.Marshaler](p) || implements[encoding.TextMarshaler](p) ||
			implements[json.Unmarshaler](p) || implements[encoding.TextUnmarshaler](p)) {
		return true
	}
	switch t.Kind() { //nolint:exhaustive // numbers, booleans and strings come back
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

// hasInvalidUTF8 reports whether a string of an encoded value may have held bytes
// that are not UTF-8: encoding/json writes this escape for them, and only for them.
func hasInvalidUTF8(body []byte) bool { return bytes.Contains(body, []byte(`\ufffd`)) }
