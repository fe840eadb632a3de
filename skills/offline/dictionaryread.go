package offline

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"go.yaml.in/yaml/v4"

	"example.com/ragflow/search/text"
)

// ReadDictionary reads a dictionary of plain lines, "word: other, other", in
// UTF-8. They are synonyms until a line such as [concepts] or [abbreviations] begins
// another section. Empty lines and those that begin with "#" are left out; an entry that stands
// twice has the others of both. An error names the line. See [ReadDictionaryYAML] for
// the other form.
func ReadDictionary(r io.Reader) (Dictionary, error) {
	d := Dictionary{}
	kind := Synonyms
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := text.Clean(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if section, ok := strings.CutPrefix(line, "["); ok {
			if kind, ok = strings.CutSuffix(section, "]"); !ok || !isSection(kind) {
				return Dictionary{}, fmt.Errorf("line %d: %q is no section: there are [%s], [%s] and [%s]", n, line, Synonyms, Concepts, Abbreviations)
			}
			continue
		}
		word, others, ok := strings.Cut(line, ":")
		if !ok || !d.add(kind, word, atCommas(others)) {
			return Dictionary{}, fmt.Errorf("line %d: %q is no entry such as \"leave: holiday, time off\"", n, line)
		}
		if len(d.entries) > maxEntries {
			return Dictionary{}, fmt.Errorf("line %d: more than %d entries", n, maxEntries)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return Dictionary{}, errors.New("a line is longer than 64 KB")
	} else if err != nil {
		return Dictionary{}, err
	}
	return d, nil
}

// ReadDictionaryYAML reads a dictionary written as YAML: a mapping from [Synonyms],
// [Concepts] and [Abbreviations] to mappings from words to others, each a list or a text
// with commas. An error names the line.
func ReadDictionaryYAML(r io.Reader) (Dictionary, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxYAML+1))
	if err != nil {
		return Dictionary{}, err
	}
	if len(data) > maxYAML {
		return Dictionary{}, fmt.Errorf("it is larger than %d MB", maxYAML>>20)
	}
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		if fault, ok := errors.AsType[*yaml.LoadError](err); ok {
			return Dictionary{}, fmt.Errorf("line %d: it is not YAML: %s", fault.Mark.Line, fault.Message)
		}
		return Dictionary{}, fmt.Errorf("it is not YAML: %w", err)
	}
	node := &root
	if node.Kind == yaml.DocumentNode && len(node.Content) == 1 {
		node = node.Content[0]
	}
	if node.Kind == 0 || node.Tag == "!!null" { // nothing but comments
		return Dictionary{}, nil
	}
	d := Dictionary{}
	for section, entries := range pairs(node) {
		if section == nil || !isSection(section.Value) {
			return Dictionary{}, fmt.Errorf("line %d: here stand %s:, %s: and %s:, each with entries below it", entries.Line, Synonyms, Concepts, Abbreviations)
		}
		for word, others := range pairs(entries) {
			if word == nil {
				if others.Tag == "!!null" { // a section whose entries were taken out
					continue
				}
				return Dictionary{}, fmt.Errorf("line %d: under %s: stand entries such as \"leave: [holiday, time off]\"", others.Line, section.Value)
			}
			if !d.add(section.Value, text.Clean(word.Value), written(others)) {
				return Dictionary{}, fmt.Errorf("line %d: %q is no entry such as \"leave: [holiday, time off]\"", word.Line, word.Value)
			}
			if len(d.entries) > maxEntries {
				return Dictionary{}, fmt.Errorf("line %d: more than %d entries", word.Line, maxEntries)
			}
		}
	}
	return d, nil
}

// maxYAML bounds a dictionary in YAML, in bytes.
const maxYAML = 16 << 20

// pairs are the keys and values of a mapping; anything else is a value without a key.
func pairs(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		if n.Kind != yaml.MappingNode {
			yield(nil, n)
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

// written are those of a list, or of a text with commas; nil for anything else.
func written(n *yaml.Node) []string {
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag != "!!null":
		return atCommas(text.Clean(n.Value))
	case n.Kind == yaml.SequenceNode:
		var out []string
		for _, item := range n.Content {
			if item.Kind != yaml.ScalarNode {
				return nil
			}
			out = append(out, text.Clean(item.Value))
		}
		return out
	}
	return nil
}

func isSection(kind string) bool {
	return kind == Synonyms || kind == Concepts || kind == Abbreviations
}

// atCommas splits a list at its commas; those of Chinese, Japanese and Arabic count too.
func atCommas(s string) []string {
	var out []string
	for item := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(",，、،", r) }) {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}
