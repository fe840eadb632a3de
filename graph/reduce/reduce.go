// Package reduce makes the Apply of a graph whose updates are partial states: structs with some
// fields of the state. A node sets those that it changes.
//
//	type State struct {
//		Question string
//		Notes    []string
//		Scores   map[string]int
//	}
//	type Update struct {
//		Question *string        // replaces; nil changes nothing
//		Notes    []string       // are appended
//		Scores   map[string]int // are merged, key by key
//	}
//
//	graph.Graph[State, Update]{Conflict: reduce.Conflict[Update], …}
//
// A graph without an Apply has that of this package. Update can be State itself.
//
// The tag reduce:"replace", "append", "merge", "add" or "messages" selects another rule for a field: replace is for
// every type, append for slices, merge for maps, add for numbers, and messages for slices of structs with a
// field ID: an element replaces that with the same ID, and is appended without one. Without a tag a slice is appended, a
// map is merged, and everything else replaces. The zero value of a field changes nothing; to set one,
// make the field a pointer.
package reduce

import (
	"fmt"
	"reflect"
)

// rule reduces one field.
type rule struct {
	from, to int // index of the field in the update and in the state
	kind     string
}

// Apply returns the Apply of a state and an update. Each field of U must be in S, with the same type or,
// in U, a pointer to it. Otherwise the error says which field does not fit.
func Apply[S, U any]() (func(S, U) (S, error), error) {
	rules, err := rulesOf(reflect.TypeFor[U](), reflect.TypeFor[S]())
	if err != nil {
		return nil, err
	}
	return func(s S, u U) (S, error) {
		state, update := reflect.ValueOf(&s).Elem(), reflect.ValueOf(u)
		for _, r := range rules {
			if v := update.Field(r.from); !v.IsZero() {
				r.set(state.Field(r.to), v)
			}
		}
		return s, nil
	}, nil
}

// Merge is the merge of a graph.FanOut: it reduces the updates of the parts to one, in their order, by the rules of
// Apply.
func Merge[S, U any](_ S, parts []U) (all U, err error) {
	apply, err := Apply[U, U]()
	if err != nil {
		return all, err
	}
	for _, u := range parts {
		if all, err = apply(all, u); err != nil {
			return all, err
		}
	}
	return all, nil
}

// Conflict is the Conflict of a graph: two updates of one step must not replace the same field.
func Conflict[U any](earlier, later U) error {
	a, b := reflect.ValueOf(earlier), reflect.ValueOf(later)
	for i := range a.NumField() {
		f := a.Type().Field(i)
		if kindOf(f) == "replace" && !a.Field(i).IsZero() && !b.Field(i).IsZero() {
			return fmt.Errorf("both set %s, which one value replaces", f.Name)
		}
	}
	return nil
}

func rulesOf(u, s reflect.Type) ([]rule, error) {
	if u.Kind() != reflect.Struct || s.Kind() != reflect.Struct {
		return nil, fmt.Errorf("reduce: %v and %v must be structs", s, u)
	}
	var out []rule
	for i := range u.NumField() {
		f := u.Field(i)
		to, ok := s.FieldByName(f.Name)
		kind := kindOf(f)
		replaced := f.Type.Kind() == reflect.Pointer && f.Type.Elem() == to.Type && kind == "replace"
		switch {
		case !ok || len(to.Index) != 1 || !f.IsExported():
			return nil, fmt.Errorf("reduce: %v has no field %s to set", s, f.Name)
		case to.Type != f.Type && !replaced:
			return nil, fmt.Errorf("reduce: field %s is %v in %v and %v in %v", f.Name, f.Type, u, to.Type, s)
		case !fits(kind, f.Type):
			return nil, fmt.Errorf("reduce: field %s of %v: a %v has no rule %q", f.Name, u, f.Type, kind)
		}
		out = append(out, rule{i, to.Index[0], kind})
	}
	return out, nil
}

// kindOf returns the rule of a field of an update.
func kindOf(f reflect.StructField) string {
	switch tag := f.Tag.Get("reduce"); {
	case tag != "":
		return tag
	case f.Type.Kind() == reflect.Slice:
		return "append"
	case f.Type.Kind() == reflect.Map:
		return "merge"
	}
	return "replace"
}

func fits(rule string, t reflect.Type) bool {
	k := t.Kind()
	switch rule {
	case "messages":
		if k != reflect.Slice || t.Elem().Kind() != reflect.Struct {
			return false
		}
		id, ok := t.Elem().FieldByName("ID")
		return ok && id.Type.Comparable()
	case "replace":
		return true
	case "append":
		return k == reflect.Slice
	case "merge":
		return k == reflect.Map
	case "add":
		return k >= reflect.Int && k <= reflect.Float64 && k != reflect.Uintptr
	}
	return false
}

// set changes a field of the state and nothing that the old state refers to.
func (r rule) set(to, v reflect.Value) {
	switch {
	case r.kind == "append":
		to.Set(reflect.AppendSlice(to.Slice3(0, to.Len(), to.Len()), v))
	case r.kind == "messages":
		to.Set(withMessages(to, v))
	case r.kind == "merge":
		all := reflect.MakeMap(to.Type())
		for _, m := range []reflect.Value{to, v} {
			for it := m.MapRange(); it.Next(); {
				all.SetMapIndex(it.Key(), it.Value())
			}
		}
		to.Set(all)
	case r.kind == "add" && to.CanInt():
		to.SetInt(to.Int() + v.Int())
	case r.kind == "add" && to.CanUint():
		to.SetUint(to.Uint() + v.Uint())
	case r.kind == "add":
		to.SetFloat(to.Float() + v.Float())
	case v.Type() != to.Type():
		to.Set(v.Elem())
	default:
		to.Set(v)
	}
}

// withMessages returns a copy of a slice to which the elements of another were added by their ID.
func withMessages(old, added reflect.Value) reflect.Value {
	all := reflect.AppendSlice(reflect.MakeSlice(old.Type(), 0, old.Len()+added.Len()), old)
	place := map[any]int{}
	for i := range all.Len() {
		place[all.Index(i).FieldByName("ID").Interface()] = i
	}
	for i := range added.Len() {
		v := added.Index(i)
		id := v.FieldByName("ID")
		if at, known := place[id.Interface()]; known && !id.IsZero() {
			all.Index(at).Set(v)
			continue
		}
		place[id.Interface()] = all.Len()
		all = reflect.Append(all, v)
	}
	return all
}
