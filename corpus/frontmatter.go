package corpus

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

// maxFrontMatter bounds front matter in bytes; a page that opens with a rule
// and closes with one a hundred pages later has none.
const maxFrontMatter = 64 << 10

// frontMatter reads the YAML between a first line --- and the next line --- or
// ..., and sets Meta and Body. What stands between the two is front matter even
// where it is no YAML: then Meta is what could be read, with a warning.
func (d *Document) frontMatter() {
	start, end, body := frontMatterSpan(d.Text, d.Body)
	if body == 0 {
		return
	}
	d.Body = body
	meta, err := d.parseMeta(d.Text[start:end])
	if err != nil {
		d.Warnings = append(d.Warnings, fmt.Sprintf("front matter: %v", err))
	}
	d.Meta = meta
}

// frontMatterSpan returns the YAML's span and where the body begins; body is 0
// without front matter.
func frontMatterSpan(s string, from int) (start, end, body int) {
	start = lineEnd(s, from)
	if strings.TrimRight(s[from:start], " \t\r\n") != "---" {
		return 0, 0, 0
	}
	for at := start; at < len(s) && at-start <= maxFrontMatter; {
		next := lineEnd(s, at)
		if line := strings.TrimRight(s[at:next], " \t\r\n"); line == "---" || line == "..." {
			return start, at, next
		}
		at = next
	}
	return 0, 0, 0
}

// lineEnd returns the offset behind the line that s[i] stands in.
func lineEnd(s string, i int) int {
	if j := strings.IndexByte(s[i:], '\n'); j >= 0 {
		return i + j + 1
	}
	return len(s)
}

// parseMeta reads the scalars and the lists of scalars of a YAML mapping, and
// notes the relations it tells of. It works on nodes, so that no alias is ever
// expanded.
func (d *Document) parseMeta(src string) (map[string]string, error) {
	var root yaml.Node
	if strings.TrimSpace(src) == "" {
		return nil, nil
	}
	if err := yaml.Load([]byte(src), &root); err != nil {
		return looseMeta(src), err
	}
	node := &root
	if node.Kind == yaml.DocumentNode && len(node.Content) == 1 {
		node = node.Content[0]
	}
	if node.Kind != yaml.MappingNode {
		return nil, errors.New("not a mapping")
	}
	meta := map[string]string{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := strings.ToLower(node.Content[i].Value)
		if v := metaValue(node.Content[i+1]); key != "" && v != "" {
			meta[key] = v
		}
	}
	d.relate(node)
	return meta, nil
}

func metaValue(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag != "!!null":
		return strings.TrimSpace(n.Value)
	case n.Kind == yaml.SequenceNode:
		var items []string
		for _, c := range n.Content {
			if c.Kind == yaml.ScalarNode && c.Value != "" {
				items = append(items, c.Value)
			}
		}
		return strings.Join(items, ", ")
	}
	return ""
}

// looseMeta reads the simple "key: value" lines of broken YAML, because a title
// with a second colon in it is the usual break.
func looseMeta(src string) map[string]string {
	meta := map[string]string{}
	for line := range strings.Lines(src) {
		key, value, ok := strings.Cut(line, ":")
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		if ok && value != "" && key != "" && !strings.ContainsAny(key, " \t-#\"'{[") {
			meta[strings.ToLower(key)] = value
		}
	}
	return meta
}
