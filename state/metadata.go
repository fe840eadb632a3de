package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Metadata is what a document says of itself, by key in lower case, each value of the kind
// it was written as: a string, a bool, a json.Number (as it was written: 1.10 stays 1.10), a list
// or a mapping of such. A date is a string, as JSON has none: 2024-05-01. It is read only.
type Metadata map[string]any

// UnmarshalJSON reads a JSON object, or null.
func (m *Metadata) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var values map[string]any
	if err := d.Decode(&values); err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	*m = values
	return nil
}

// Strings returns the values as text, which conditions of a [Filter] are about: a
// list joined by ", ", without what is neither a list of plain values nor one of them. It is nil
// where m is.
func (m Metadata) Strings() map[string]string {
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for key, value := range m {
		if s := said(value); s != "" {
			out[key] = s
		}
	}
	return out
}

// Text is the value of a key as text; empty where there is none.
func (m Metadata) Text(key string) string { return said(m[key]) }

// said is a value as text; empty for a mapping and what is in it.
func said(value any) string {
	switch v := value.(type) {
	case string:
		return strings.TrimSpace(v)
	case bool, json.Number:
		return fmt.Sprint(v)
	case []any:
		var items []string
		for _, item := range v {
			if _, nested := item.([]any); nested {
				continue
			}
			if s := said(item); s != "" {
				items = append(items, s)
			}
		}
		return strings.Join(items, ", ")
	}
	return ""
}
