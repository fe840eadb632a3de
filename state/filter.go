package state

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Filter says which documents may be found at all. The zero Filter lets all of
// them be found. A document passes where every condition of Must holds, none of
// MustNot does, and, where Should has any, one of Should does.
type Filter struct {
	Must    []Condition `json:"must,omitempty"`
	Should  []Condition `json:"should,omitempty"`
	MustNot []Condition `json:"must_not,omitempty"`
}

// Empty reports whether every document passes.
func (f Filter) Empty() bool { return len(f.Must)+len(f.Should)+len(f.MustNot) == 0 }

// Operators of a [Condition].
const (
	OpIs      = "="      // one of the values, whatever the case of letters; of a list, one of its parts
	OpExists  = "exists" // there is any value
	OpMatches = "~"      // one of the values is a glob that fits: see [Filter.AddPaths]
	OpLess    = "<"      // numbers, dates and versions; values of another kind do not pass
	OpAtMost  = "<="
	OpMore    = ">"
	OpAtLeast = ">="
)

// Condition is one thing that a document must say of itself. The keys are those
// of its metadata, and source, its path under the folder that was indexed.
type Condition struct {
	Key    string   `json:"key"`
	Op     string   `json:"op"`
	Values []string `json:"values,omitempty"` // one, several for OpIs and OpMatches, none for OpExists
}

// KeySource is the key of a document's path.
const KeySource = "source"

// String is the condition as [Filter.Add] reads it.
func (c Condition) String() string {
	if c.Op == OpExists {
		return c.Key + "=*"
	}
	values := make([]string, len(c.Values))
	for i, v := range c.Values {
		if values[i] = v; v == "" || strings.ContainsAny(v, `",*`) || strings.ContainsAny(v[:1], "=<>!~") || strings.TrimSpace(v) != v {
			values[i] = `"` + strings.ReplaceAll(v, `"`, `""`) + `"`
		}
	}
	return c.Key + c.Op + strings.Join(values, ",")
}

// FilterError tells where the text of a condition is wrong.
type FilterError struct {
	Text   string
	Column int // from 1, in characters
	What   string
}

func (e *FilterError) Error() string {
	return fmt.Sprintf("filter %q, column %d: %s", e.Text, e.Column, e.What)
}

// Add parses a condition and puts it in Must, or, where it is said with "!=" or
// "!~", in MustNot. The error is a [*FilterError].
func (f *Filter) Add(text string) error {
	c, not, err := parseCondition(text)
	switch {
	case err != nil:
		return err
	case not:
		f.MustNot = append(f.MustNot, c)
	default:
		f.Must = append(f.Must, c)
	}
	return nil
}

// AddAny parses a condition and puts it in Should.
func (f *Filter) AddAny(text string) error {
	c, not, err := parseCondition(text)
	if err == nil && not {
		err = &FilterError{text, 1 + strings.IndexByte(text, '!'), "one of several cannot be said with \"!\""}
	}
	if err == nil {
		f.Should = append(f.Should, c)
	}
	return err
}

// AddPaths lets only documents pass whose path fits one of the globs: * is any
// run of characters but "/", ** of any, ? is one, [a-z] one of some, {a,b} one
// or the other. A glob without "/" fits the name of a file in any folder.
func (f *Filter) AddPaths(globs ...string) {
	if len(globs) > 0 {
		f.Must = append(f.Must, Condition{Key: KeySource, Op: OpMatches, Values: globs})
	}
}

// operators are those of conditions, longer ones first.
func operators() []string { return []string{"!=", "!~", "<=", ">=", "=", "<", ">", "~"} }

// parseCondition reads KEY OP VALUE: category=guide, tags=intro,howto,
// title="a, b", version>=2, date<2024-06-01, lang!=vi, source~guide/**, draft=*
// (there is any value). Spaces around key, operator and values do not count.
func parseCondition(text string) (c Condition, not bool, err error) {
	fault := func(at int, what string) error {
		return &FilterError{text, 1 + utf8.RuneCountInString(text[:min(at, len(text))]), what}
	}
	at := strings.IndexAny(text, "=<>!~")
	if at < 0 {
		return c, false, fault(len(text), "no operator; write KEY=VALUE, or one of != < <= > >= ~")
	}
	if c.Key = strings.ToLower(strings.TrimSpace(text[:at])); c.Key == "" {
		return c, false, fault(at, "no key before the operator")
	}
	i := slices.IndexFunc(operators(), func(op string) bool { return strings.HasPrefix(text[at:], op) })
	if i < 0 {
		return c, false, fault(at, "\"!\" must be followed by \"=\" or \"~\"")
	}
	c.Op = strings.TrimPrefix(operators()[i], "!")
	not = operators()[i] != c.Op
	at += len(operators()[i])
	if strings.TrimSpace(text[at:]) == "*" && c.Op == OpIs {
		c.Op = OpExists
		return c, not, nil
	}
	for {
		value, next, what := parseValue(text, at)
		if what != "" {
			return c, false, fault(next, what)
		}
		c.Values = append(c.Values, value)
		if at = next; at == len(text) {
			break
		}
		at++ // the comma
	}
	if len(c.Values) > 1 && c.Op != OpIs && c.Op != OpMatches {
		return c, false, fault(at, c.Op+" takes one value")
	}
	if _, ok := ParseMeasure(c.Values[0]); !ok && c.Op != OpIs && c.Op != OpMatches {
		return c, false, fault(strings.LastIndex(text, c.Op)+len(c.Op), c.Op+" takes a number, a date such as 2024-06-30, or a version such as 1.10.2")
	}
	return c, not, nil
}

// parseValue reads a value from at on, and returns where it ends: at a comma or
// at the end. what is what is wrong with it, at next.
func parseValue(text string, at int) (value string, next int, what string) {
	for at < len(text) && text[at] == ' ' {
		at++
	}
	if at == len(text) || text[at] != '"' {
		end := strings.IndexByte(text[at:], ',') + at
		if end < at {
			end = len(text)
		}
		value = strings.TrimSpace(text[at:end])
		if i := strings.IndexAny(value, "=<>"); i == 0 {
			return "", at, "a value cannot begin with an operator; put it in quotes"
		}
		if value == "" {
			return "", at, "no value; * stands for any, \"\" for none"
		}
		return value, end, ""
	}
	start := at
	for at++; at < len(text); at++ {
		switch {
		case text[at] != '"':
			value += text[at : at+1]
		case strings.HasPrefix(text[at:], `""`):
			value += `"`
			at++
		default:
			for at++; at < len(text) && text[at] == ' '; {
				at++
			}
			if at < len(text) && text[at] != ',' {
				return "", at, "a comma must follow a value in quotes"
			}
			return value, at, ""
		}
	}
	return "", start, "the quotes are not closed"
}
