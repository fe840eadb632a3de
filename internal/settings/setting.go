package settings

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"example.com/ragflow"
)

// setting is one row of the table: something that can be configured.
type setting struct {
	name    string // environment variable
	key     string // in the configuration file; empty for secrets
	preset  string // the default
	allowed string // describes the allowed values, for messages
	also    string // a second name of the variable
	flag    Flag   // without a name if there is none
	is      traits
	set     setter // called for each value
	inForce func(c ragflow.Config) any
}

// traits are the properties of a setting, as bits.
type traits int

const (
	firstPage    traits = 1 << iota // on the first page of "ragflow config"
	isList                          // several values: a list in the file, separated by the list separator of the system in the environment
	isPath                          // values are paths, relative to the place they were written in
	isRaw                           // spaces around the value belong to it
	isAddress                       // a URL, which may hold a password: not shown if it is refused
	keepsZero                       // the zero Config has the default already, and other defaults may follow from a value
	isSecret                        // never shown, and not read from the configuration file
	isSafe                          // an untrusted file may set it: it sends nothing anywhere and reads no file
	ofCollection                    // a collection has its own
	ofModel                         // matters only if a model is used
	isWords                         // words: in the file also a list, or a map of words
)

func (s setting) has(t traits) bool { return s.is&t != 0 }

// row makes a setting. Its key in the configuration file is its name without RAGFLOW_, in
// small letters.
func row(name, preset string, is traits, allowed string, set setter) setting {
	s := setting{name: name, preset: preset, allowed: allowed, is: is, set: set}
	if !s.has(isSecret) {
		s.key = strings.ToLower(strings.TrimPrefix(name, "RAGFLOW_"))
	}
	return s
}

// called gives a setting a second name.
func (s setting) called(also string) setting {
	s.also = also
	return s
}

// flagged gives a setting a flag.
func (s setting) flagged(name, usage string) setting {
	s.flag = Flag{Name: name, Usage: usage}
	return s
}

// shows gives the value in force of a setting whose default depends on a preset or on another
// setting.
func (s setting) shows(inForce func(c ragflow.Config) any) setting {
	s.inForce = inForce
	return s
}

// valueIn returns the value in force in a resolved configuration; ok is false if that is the
// value of the setting itself.
func (s setting) valueIn(c ragflow.Config) (value string, ok bool) {
	if s.inForce == nil {
		return "", false
	}
	v := s.inForce(c)
	if f, is := v.(float64); is {
		v = strconv.FormatFloat(f, 'g', 4, 64)
	}
	return fmt.Sprint(v), true
}

// take sets the setting, and reports whether the values are allowed.
func (s setting) take(values []string) bool {
	return !slices.ContainsFunc(values, func(v string) bool { return !s.set(v) })
}

// variable returns the name under which variables hold the setting: with the prefix RAGFLOW_,
// as its vendor calls it, or its second name.
func (s setting) variable(variables map[string]string) string {
	for _, name := range []string{"RAGFLOW_" + s.name, s.name, s.also} {
		if variables[name] != "" {
			return name
		}
	}
	return s.name
}

// split returns the values in the text of a variable.
func (s setting) split(text string) []string {
	if s.has(isRaw) {
		return []string{text}
	}
	if !s.has(isList) {
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
