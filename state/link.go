package state

import "strings"

// Link is what a document says of another one.
type Link struct {
	Relation string `json:"relation"` // one of Relations
	// Target names the other document as the text has it, without fragment and
	// query: a path relative to this one, a path from the root of a site ("/engine/"),
	// an https address, a title or an id.
	Target string `json:"target"`
}

// Relations between documents that are spoken of by name elsewhere.
const (
	LinksTo   = "LINKS_TO"   // a link in the text
	Includes  = "INCLUDES"   // its text is part of this one
	RelatedTo = "RELATED_TO" // related_docs, see also; and all relations of unknown kinds
	DependsOn = "DEPENDS_ON"
	Requires  = "REQUIRES"
)

// Relations lists the kinds of relations, in alphabetical order. Each reads "this
// document … that document".
func Relations() []string {
	return []string{
		"ALTERNATIVE_TO", "CITES", "COMPATIBLE_WITH", "CONFLICTS_WITH", DependsOn, "DERIVED_FROM", "DESCRIBES",
		"EVOLVED_FROM", "EXAMPLE_OF", "EXTENDS", "FOLLOWS", "HAS_PART", "IMPLEMENTS", Includes, LinksTo, "PART_OF",
		"PRECEDES", RelatedTo, "REPLACED_BY", "REPLACES", Requires, "SIMILAR_TO", "TESTS", "TRANSLATION_OF", "USES", "VALIDATES",
	}
}

// relationNames are further names that people give relations.
//
//nolint:gochecknoglobals // a table
var relationNames = map[string]string{
	"RELATED": RelatedTo, "RELATED_DOCS": RelatedTo, "RELATED_PAGES": RelatedTo, "SEE_ALSO": RelatedTo, "SEEALSO": RelatedTo,
	"DEPENDS": DependsOn, "DEPENDENCIES": DependsOn, "PREREQUISITES": Requires, "SIMILAR": "SIMILAR_TO",
	"SUPERSEDES": "REPLACES", "SUPERSEDED_BY": "REPLACED_BY", "REFERENCES": "CITES",
	"NEXT": "PRECEDES", "PREV": "FOLLOWS", "PREVIOUS": "FOLLOWS", "PARENT": "PART_OF", "CHILDREN": "HAS_PART",
}

// ParseRelation returns the kind of relation that a name stands for, in any case
// and with blanks or hyphens between its words. Of an unknown one it is RelatedTo,
// and not ok.
func ParseRelation(name string) (relation string, ok bool) {
	name = strings.ToUpper(strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '-' || r == '_' }), "_"))
	for _, r := range Relations() {
		if r == name {
			return r, true
		}
	}
	if r, ok := relationNames[name]; ok {
		return r, true
	}
	return RelatedTo, false
}
