package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/ragflow"
)

// Setting is one thing that can be configured.
type Setting struct {
	Name    string // environment variable
	Key     string // in the configuration file; empty where Has(Secret)
	Preset  string // the default
	Allowed string // what values are; for messages
	Note    string // says what to use instead of a setting that is checked and has no effect, and is not shown
	also    string // a second name of the variable
	is      Traits
	set     setter
	setList func(values []string) // of a list, instead of set
	inForce func(c ragflow.Config) any
}

// row is a setting. Its key in the configuration file is its name without RAGFLOW_, in
// small letters.
func row(name, preset string, is Traits, allowed string, set setter) Setting {
	s := Setting{Name: name, Preset: preset, Allowed: allowed, is: is, set: set}
	if !s.Has(Secret) {
		s.Key = strings.ToLower(strings.TrimPrefix(name, "RAGFLOW_"))
	}
	return s
}

// called gives a setting a second name.
func (s Setting) called(also string) Setting {
	s.also = also
	return s
}

// without says that a setting has no effect, and what does.
func (s Setting) without(note string) Setting {
	s.Note = note
	return s
}

// shows says what is in force of a setting where a preset or another setting changes its default.
func (s Setting) shows(inForce func(c ragflow.Config) any) Setting {
	s.inForce = inForce
	return s
}

// InForce returns the value in force in a configuration, which is resolved; ok is false where that
// is the value of the setting itself.
func (s Setting) InForce(c ragflow.Config) (value string, ok bool) {
	if s.inForce == nil {
		return "", false
	}
	v := s.inForce(c)
	if f, is := v.(float64); is {
		v = strconv.FormatFloat(f, 'g', 4, 64)
	}
	return fmt.Sprint(v), true
}

// Traits say what kind of setting one is.
type Traits int

// The traits.
const (
	FirstPage Traits = 1 << iota // on the first page of "ragflow config"
	List                         // several values: a list in the file, separated by the list separator of the system in the environment
	Path                         // values are paths, relative to the place they were written in
	Raw                          // spaces around the value belong to it
	Address                      // a URL: not shown where it is refused, for it may hold a password
	Zero                         // the zero Config holds the default already, and other defaults may follow from what is set
	Secret                       // never shown, and not read from the configuration file
	Safe                         // an untrusted file may set it: it sends nothing anywhere and reads no file
	Own                          // a collection has its own
	OfModel                      // matters only where a model is used
	Words                        // words: in the file also a list, or a map of words
)

// Has reports whether a setting has a trait.
func (s Setting) Has(t Traits) bool { return s.is&t != 0 }

// Take reads the values of a setting, and reports whether they are allowed.
func (s Setting) Take(values []string) bool {
	if s.setList != nil {
		s.setList(values)
		return true
	}
	return s.set(values[0])
}

// Variable returns the name under which variables hold the setting: with the prefix
// RAGFLOW_, as its vendor calls it, or its second name.
func (s Setting) Variable(variables map[string]string) string {
	for _, name := range []string{"RAGFLOW_" + s.Name, s.Name, s.also} {
		if variables[name] != "" {
			return name
		}
	}
	return s.Name
}

// Split takes the text of a variable apart.
func (s Setting) Split(text string) []string {
	if s.Has(Raw) {
		return []string{text}
	}
	if !s.Has(List) {
		return []string{strings.TrimSpace(text)}
	}
	var out []string
	for _, p := range filepath.SplitList(text) {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}

// foreign begins the names of variables of other systems.
var foreign = regexp.MustCompile("^(RAG|QDRANT|NEO4J|CHROMADB)_")

// Foreign lists the variables of other systems that are no setting of table.
func Foreign(table []Setting, variables map[string]string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		known := slices.ContainsFunc(table, func(s Setting) bool { return s.Name == name || s.also == name })
		if !known && variables[name] != "" && foreign.MatchString(name) {
			names = append(names, name)
		}
	}
	return names
}
