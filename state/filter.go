package state

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Filter selects the documents that a search may find. The zero Filter selects all
// documents. A document passes if all conditions of Must are true, none of MustNot
// is true and, unless Should is empty, at least one of Should is true.
type Filter struct {
	Must    []Condition `json:"must,omitempty"`
	Should  []Condition `json:"should,omitempty"`
	MustNot []Condition `json:"must_not,omitempty"`
}

// Empty reports whether every document passes.
func (f Filter) Empty() bool { return len(f.Must)+len(f.Should)+len(f.MustNot) == 0 }

// Operators of a [Condition].
const (
	OpIs      = "="      // equals one of the values, ignoring case; of a list, any element does
	OpExists  = "exists" // there is a value
	OpMatches = "~"      // matches one of the values, which are globs: see [Filter.AddPaths]
	OpLess    = "<"      // for numbers, dates and versions; values of another kind do not pass
	OpAtMost  = "<="
	OpMore    = ">"
	OpAtLeast = ">="
)

// Condition is a condition on the metadata of a document. Key is a metadata key, or
// [KeySource].
type Condition struct {
	Key    string   `json:"key"`
	Op     string   `json:"op"`
	Values []string `json:"values,omitempty"` // one value; OpIs and OpMatches take several, OpExists none
}

// KeySource is the key of a document's path under the indexed folder.
const KeySource = "source"

// String formats the condition so that [Filter.Add] can parse it.
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

// FilterError is a syntax error in the text of a condition.
type FilterError struct {
	Text   string
	Column int    // from 1, in characters
	What   string // the problem
}

func (e *FilterError) Error() string {
	return fmt.Sprintf("filter %q, column %d: %s", e.Text, e.Column, e.What)
}

// Add parses a condition and adds it to Must, or to MustNot if its operator is "!="
// or "!~". The error is a [*FilterError].
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

// AddAny parses a condition and adds it to Should. The error is a [*FilterError].
func (f *Filter) AddAny(text string) error {
	c, not, err := parseCondition(text)
	if err == nil && not {
		err = &FilterError{text, 1 + strings.IndexByte(text, '!'), "a condition of which one must be true cannot have \"!\""}
	}
	if err == nil {
		f.Should = append(f.Should, c)
	}
	return err
}

// AddPaths adds the condition that the path matches one of the globs: * matches any
// characters except "/", ** any characters, ? one character, [a-z] one of a range,
// {a,b} either alternative. A glob without "/" matches a file name in any folder.
func (f *Filter) AddPaths(globs ...string) {
	if len(globs) > 0 {
		f.Must = append(f.Must, Condition{Key: KeySource, Op: OpMatches, Values: globs})
	}
}

// operators returns the operators of conditions, longer ones first.
func operators() []string { return []string{"!=", "!~", "<=", ">=", "=", "<", ">", "~"} }

// parseCondition parses KEY OP VALUE: category=guide, tags=intro,howto,
// title="a, b", version>=2, date<2024-06-01, lang!=vi, source~guide/**, draft=*
// (any value). Spaces around key, operator and values are ignored.
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

// parseValue parses a value that starts at offset at. next is the offset of the comma
// or the end after it. If the value is wrong, what describes the problem at next.
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
			return "", at, "no value; write * for any value, \"\" for an empty one"
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
