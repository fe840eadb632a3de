package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"example.com/ragflow/internal/document"
	"example.com/ragflow/state"
)

// maxFrontMatter is the maximum size of front matter in bytes. A page may begin with a rule and have another
// one a hundred pages later.
const maxFrontMatter = 64 << 10

// frontMatter reads the YAML between a first line --- and the next line --- or ..., and sets Meta and Body.
// Invalid YAML between them is a warning, without Meta.
func (d *draft) frontMatter() {
	start, end, body := frontMatterSpan(d.Text, d.Body)
	if body == 0 {
		return
	}
	d.Body = body
	meta, err := parseMeta(d.Text[start:end])
	if err != nil {
		d.Notes = append(d.Notes, fmt.Sprintf("front matter: %v", err))
	}
	d.Metadata, d.Meta = meta, meta.Strings()
}

// frontMatterSpan returns the YAML's span and the start of the body; body is 0 without front matter.
func frontMatterSpan(s string, from int) (start, end, body int) {
	start = document.LineEnd(s, from)
	if strings.TrimRight(s[from:start], " \t\r\n") != "---" {
		return 0, 0, 0
	}
	for at := start; at < len(s) && at-start <= maxFrontMatter; {
		next := document.LineEnd(s, at)
		if line := strings.TrimRight(s[at:next], " \t\r\n"); line == "---" || line == "..." {
			return start, at, next
		}
		at = next
	}
	return 0, 0, 0
}

// parseMeta reads a YAML mapping. It works on nodes, so that no alias is ever expanded.
func parseMeta(src string) (state.Metadata, error) {
	var root yaml.Node
	if strings.TrimSpace(src) == "" {
		return nil, nil
	}
	if err := yaml.Load([]byte(src), &root); err != nil {
		return nil, err
	}
	node := &root
	if node.Kind == yaml.DocumentNode && len(node.Content) == 1 {
		node = node.Content[0]
	}
	if node.Kind != yaml.MappingNode {
		return nil, errors.New("not a mapping")
	}
	return metaMapping(node, 0), nil
}

// maxMetaDepth is the maximum nesting of metadata.
const maxMetaDepth = 4

// metaMapping returns a mapping without its empty values.
func metaMapping(n *yaml.Node, depth int) state.Metadata {
	out := state.Metadata{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i].Value
		if depth == 0 {
			key = strings.ToLower(key)
		}
		if v := metaValue(n.Content[i+1], depth); key != "" && v != nil {
			out[key] = v
		}
	}
	return out
}

// metaValue returns a value with its YAML type; nil for an empty one. Numbers that JSON lacks, such as 0x1F
// and .inf, become text.
func metaValue(n *yaml.Node, depth int) any {
	switch {
	case depth > maxMetaDepth:
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null":
	case n.Kind == yaml.ScalarNode:
		value := strings.TrimSpace(n.Value)
		switch n.ShortTag() {
		case "!!bool":
			if value == "true" || value == "false" {
				return value == "true"
			}
		case "!!int", "!!float":
			if json.Valid([]byte(value)) {
				return json.Number(value)
			}
		}
		if value != "" {
			return value
		}
	case n.Kind == yaml.SequenceNode:
		items := []any{}
		for _, c := range n.Content {
			if v := metaValue(c, depth+1); v != nil {
				items = append(items, v)
			}
		}
		if len(items) > 0 {
			return items
		}
	case n.Kind == yaml.MappingNode:
		if m := metaMapping(n, depth+1); len(m) > 0 {
			return map[string]any(m)
		}
	}
	return nil
}
