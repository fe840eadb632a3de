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
	start := document.LineEnd(d.Text, d.Body)
	if strings.TrimRight(d.Text[d.Body:start], " \t\r\n") != "---" {
		return
	}
	for at := start; at < len(d.Text) && at-start <= maxFrontMatter; {
		next := document.LineEnd(d.Text, at)
		if line := strings.TrimRight(d.Text[at:next], " \t\r\n"); line == "---" || line == "..." {
			meta, err := parseMeta(d.Text[start:at])
			if err != nil {
				d.Notes = append(d.Notes, fmt.Sprintf("front matter: %v", err))
			}
			d.Body, d.Metadata, d.Meta = next, meta, meta.Strings()
			return
		}
		at = next
	}
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

const maxMetaDepth = 4 // levels of nested metadata

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
