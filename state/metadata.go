package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Metadata is the metadata of a document by lower-case key. A value is a string, a
// bool, a json.Number (1.10 stays 1.10), or a list or mapping of these. A date is a
// string such as 2024-05-01. Metadata is read-only.
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

// Strings returns the values as text, for the conditions of a [Filter]. Elements of a
// list are joined by ", ". Mappings and nested lists are left out. It returns nil for
// nil.
func (m Metadata) Strings() map[string]string {
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for key, value := range m {
		if s := plainText(value); s != "" {
			out[key] = s
		}
	}
	return out
}

// Text returns the value of a key as text, or "".
func (m Metadata) Text(key string) string { return plainText(m[key]) }

// plainText returns a value as text, "" for a mapping.
func plainText(value any) string {
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
			if s := plainText(item); s != "" {
				items = append(items, s)
			}
		}
		return strings.Join(items, ", ")
	}
	return ""
}
