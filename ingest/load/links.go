package load

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"example.com/ragflow/ingest/document"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// Bounds of links: what is longer or more is not kept.
const (
	longestTarget = 500  // bytes
	mostLinks     = 5000 // of a document
)

// link notes a link whose target may be a document, once.
func (d *draft) link(relation, target string) {
	link := state.Link{Relation: relation, Target: linkTarget(target)}
	if link.Target == "" || d.linked[link] || len(d.Links) == mostLinks {
		return
	}
	if d.linked == nil {
		d.linked = map[state.Link]bool{}
	}
	d.linked[link] = true
	d.Links = append(d.Links, link)
}

// linkTarget returns what a link leads to without fragment and query; "" where
// that is no document: this page, a picture, a mailbox.
func linkTarget(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, "#?"); i >= 0 {
		s = s[:i]
	}
	if s == "" || len(s) > longestTarget || strings.ContainsAny(s, "\n\r\x00{}<>\"") {
		return ""
	}
	if scheme, _, ok := strings.Cut(s, ":"); ok && !strings.ContainsAny(scheme, "/. ") && scheme != "http" && scheme != "https" {
		return ""
	}
	if plain, err := url.PathUnescape(s); err == nil && !strings.ContainsAny(plain, "\n\r\x00") {
		s = plain
	}
	if notDocuments[strings.ToLower(path.Ext(s))] {
		return ""
	}
	return s
}

// notDocuments are the extensions of what pages show or run.
//
//nolint:gochecknoglobals // a table
var notDocuments = set(".png .jpg .jpeg .gif .svg .webp .avif .ico .bmp .mp4 .webm .mov .mp3 .css .js .woff .woff2 .zip .gz .tgz .dmg .exe")

// linkForms are the links of a page of Markdown and of the HTML in it. The target is the only
// group that matches.
var linkForms = regexp.MustCompile(`(?im)\]\([ \t]*<([^>\n]+)>|\]\([ \t]*((?:[^\s()<>]|\([^\s()]*\))+)` + // [text](target)
	`|^ {0,3}\[[^\]^][^\]\n]*\]:\s*<?([^\s>]+)` + // [name]: target
	`|<a\s[^>]*?\bhref\s*=\s*["']?([^"'\s>]+)`)

// textLinks notes the links in the text of a page of Markdown, but those in blocks of code.
func (d *draft) textLinks() {
	if d.Kind != document.Markdown {
		return
	}
	s, at := d.Text[d.Body:], 0
	for _, code := range append(text.Fences(s), text.Span{Start: len(s)}) {
		for _, m := range linkForms.FindAllStringSubmatch(s[at:code.Start], -1) {
			d.link(state.LinksTo, strings.Join(m[1:], "")) // all but one are empty
		}
		at = code.End
	}
}

// relate notes the relations in metadata: those under the name of a relation such as depends_on
// or related_docs, and those of the mapping "relations", whose unknown kinds are kept as
// RELATED_TO, with a warning. A value is a target or a list of them.
func (d *draft) relate(root *yaml.Node) {
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := strings.ToLower(root.Content[i].Value), root.Content[i+1]
		if key != "relations" || value.Kind != yaml.MappingNode {
			if relation, ok := state.ParseRelation(key); ok {
				d.relateTo(relation, value)
			}
			continue
		}
		for j := 0; j+1 < len(value.Content); j += 2 {
			relation, ok := state.ParseRelation(value.Content[j].Value)
			if warning := fmt.Sprintf("relation %q is not known and kept as %s; there are %s", shortText(value.Content[j].Value), state.RelatedTo,
				strings.ToLower(strings.Join(state.Relations(), ", "))); !ok && !slices.Contains(d.Warnings, warning) {
				d.Warnings = append(d.Warnings, warning)
			}
			d.relateTo(relation, value.Content[j+1])
		}
	}
}

func (d *draft) relateTo(relation string, value *yaml.Node) {
	targets := []*yaml.Node{value}
	if value.Kind == yaml.SequenceNode {
		targets = value.Content
	}
	for _, t := range targets {
		if t.Kind == yaml.ScalarNode && t.Tag != "!!null" {
			d.link(relation, t.Value)
		}
	}
}
