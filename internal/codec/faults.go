// Package codec says what encoding/json does to the values of a type: what it cannot restore, what it may
// change, and which numbers it cannot hold. It decides by the type, so that values are inspected only if
// needed.
package codec

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Faults lists the parts of a type that encoding/json cannot restore, each with its
// path, as in "Docs[].Render: func() has no JSON". Types with methods for both directions
// are trusted.
func Faults(t reflect.Type) []string {
	c := &checker{}
	c.look("", t, false) // values are written by value
	return c.faults
}

// checker checks one type.
type checker struct {
	within []visit // outermost first; recursive types are allowed
	faults []string
}

type visit struct {
	t           reflect.Type
	addressable bool
}

// Check returns the faults of a type as one error, or nil. The error calls the type what, for example "state".
func Check(what string, t reflect.Type) error {
	var faults []error
	for _, fault := range Faults(t) {
		faults = append(faults, fmt.Errorf("%s %v: %s", what, t, fault))
	}
	return errors.Join(faults...)
}

func (c *checker) faultf(path, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if path != "" {
		text = "field " + strings.TrimPrefix(path, ".") + ": " + text
	}
	c.faults = append(c.faults, text)
}

// look checks a type. encoding/json does not call the pointer methods of a value that is
// not addressable.
func (c *checker) look(path string, t reflect.Type, addressable bool) {
	if slices.Contains(c.within, visit{t, addressable}) || slices.Contains(c.within, visit{t, false}) {
		return
	}
	c.within = append(c.within, visit{t, addressable})
	defer func() { c.within = c.within[:len(c.within)-1] }()
	if t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface && c.own(path, t, addressable) {
		return
	}
	switch t.Kind() { // the others are numbers, strings and booleans
	case reflect.Pointer:
		c.look(path, t.Elem(), true)
	case reflect.Slice:
		c.look(path+"[]", t.Elem(), true)
	case reflect.Array:
		c.look(path+"[]", t.Elem(), addressable)
	case reflect.Map:
		if !keyed(t.Key()) {
			c.faultf(path, "keys of %v have no JSON; use strings, integers, or a type with MarshalText and UnmarshalText", t)
		}
		c.look(path+"[]", t.Elem(), false)
	case reflect.Struct:
		c.fields(path, t, addressable)
	case reflect.Interface:
		c.faultf(path, "%v is an interface, and JSON does not record its type; use a concrete type, json.RawMessage, or a type with MarshalJSON and UnmarshalJSON", t)
	case reflect.Func, reflect.Chan, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		c.faultf(path, "%v has no JSON", t)
	}
}

// own reports whether a type has its own codec. Half a codec is a fault.
func (c *checker) own(path string, t reflect.Type, addressable bool) bool {
	pointer := reflect.PointerTo(t)
	reads := implements[json.Unmarshaler](pointer) || implements[encoding.TextUnmarshaler](pointer)
	writer := t
	if addressable {
		writer = pointer
	}
	switch {
	case implements[json.Marshaler](writer) || implements[encoding.TextMarshaler](writer):
		if !reads {
			c.faultf(path, "%v has a method to write it, but neither UnmarshalJSON nor UnmarshalText to read it", t)
		}
	case implements[json.Marshaler](pointer) || implements[encoding.TextMarshaler](pointer):
		c.faultf(path, "the method that writes %v has a pointer receiver and would not be called here; use a value receiver or store a pointer", t)
	default:
		return reads // it reads what encoding/json writes
	}
	return true
}

func implements[I any](t reflect.Type) bool { return t.Implements(reflect.TypeFor[I]()) }

// keyed reports whether JSON supports a type as map key.
func keyed(t reflect.Type) bool {
	switch t.Kind() { // all others need methods
	case reflect.String,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return true
	}
	return implements[encoding.TextMarshaler](t) && implements[encoding.TextUnmarshaler](reflect.PointerTo(t))
}

func (c *checker) fields(path string, t reflect.Type, addressable bool) {
	byName := map[string]string{} // JSON name → field name
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		of := f.Type
		if f.Anonymous && of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		part := f.Anonymous && of.Kind() == reflect.Struct && name == "" // its fields are promoted
		switch {
		case tag == "-" || f.Name == "_":
			continue
		case !f.IsExported() && (!part || f.Type.Kind() == reflect.Pointer):
			c.faultf(path+"."+f.Name, `it is not exported, so JSON would lose it; export it, or add json:"-" if it need not be saved`)
			continue
		case part:
			c.look(path, f.Type, addressable)
			continue
		case name == "":
			name = f.Name
		}
		if other, twice := byName[name]; twice {
			c.faultf(path+"."+f.Name, "it has the JSON name %q, like %s, so only one of them would be saved", name, other)
		}
		byName[name] = f.Name
		c.look(path+"."+f.Name, f.Type, addressable)
	}
}
