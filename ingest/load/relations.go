package load

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"example.com/ragflow/state"
)

// relate notes the relations in metadata: those under the name of a
// relation such as depends_on or related_docs, those of the mapping "relations",
// whose unknown kinds are kept as RELATED_TO, with a warning, and the addresses
// that cards and menus of a page lead to. A value is a target or a list of them.
func (d *draft) relate(root *yaml.Node) {
	var strange []string
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := strings.ToLower(root.Content[i].Value), root.Content[i+1]
		if key == "relations" && value.Kind == yaml.MappingNode {
			for j := 0; j+1 < len(value.Content); j += 2 {
				relation, ok := state.ParseRelation(value.Content[j].Value)
				if !ok {
					strange = append(strange, value.Content[j].Value)
				}
				d.relateTo(relation, value.Content[j+1])
			}
			continue
		}
		if relation, ok := state.ParseRelation(key); ok {
			d.relateTo(relation, value)
			continue
		}
		if value.Kind != yaml.ScalarNode {
			d.relateBelow(value, 0)
		}
	}
	slices.Sort(strange)
	for _, kind := range slices.Compact(strange) {
		d.Warnings = append(d.Warnings, fmt.Sprintf("relation %q is not known and kept as %s; there are %s",
			shortText(kind), state.RelatedTo, strings.ToLower(strings.Join(state.Relations(), ", "))))
	}
}

func (d *draft) relateTo(relation string, value *yaml.Node) {
	targets := []*yaml.Node{value}
	if value.Kind == yaml.SequenceNode {
		targets = value.Content
	}
	for _, t := range targets {
		if t.Kind == yaml.ScalarNode && t.Tag != "!!null" {
			d.Links = append(d.Links, state.Link{Relation: relation, Target: t.Value})
		}
	}
}

// relateBelow finds the addresses of pages within structured metadata.
func (d *draft) relateBelow(n *yaml.Node, depth int) {
	if depth > maxIndentDepth {
		return
	}
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			switch key, v := strings.ToLower(n.Content[i].Value), n.Content[i+1]; {
			case v.Kind != yaml.ScalarNode:
				d.relateBelow(v, depth+1)
			case key == "url" || key == "link" || key == "href":
				d.Links = append(d.Links, state.Link{Relation: state.LinksTo, Target: v.Value})
			}
		}
		return
	}
	for _, c := range n.Content { // nothing of an alias: it has none
		d.relateBelow(c, depth+1)
	}
}
