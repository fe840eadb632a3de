package state

import "strings"

// Link is a relation from a document to another document.
type Link struct {
	Relation string `json:"relation"` // one of Relations
	// Target names the other document as it is written in the text, without fragment
	// and query: a path relative to this document, a path from the root of a site
	// ("/engine/"), an https address, a title or an ID.
	Target string `json:"target"`
}

// Relations that other packages use by name.
const (
	LinksTo   = "LINKS_TO"   // a link in the text
	Includes  = "INCLUDES"   // its text is part of this document
	RelatedTo = "RELATED_TO" // related_docs, see also, and all unknown relations
	DependsOn = "DEPENDS_ON"
	Requires  = "REQUIRES"
)

// Relations returns all relations in alphabetical order. Each reads "this document …
// that document".
func Relations() []string {
	return []string{
		"ALTERNATIVE_TO", "CITES", "COMPATIBLE_WITH", "CONFLICTS_WITH", DependsOn, "DERIVED_FROM", "DESCRIBES",
		"EVOLVED_FROM", "EXAMPLE_OF", "EXTENDS", "FOLLOWS", "HAS_PART", "IMPLEMENTS", Includes, LinksTo, "PART_OF",
		"PRECEDES", RelatedTo, "REPLACED_BY", "REPLACES", Requires, "SIMILAR_TO", "TESTS", "TRANSLATION_OF", "USES", "VALIDATES",
	}
}

// relationNames maps synonyms to relations.
var relationNames = map[string]string{
	"RELATED": RelatedTo, "RELATED_DOCS": RelatedTo, "RELATED_PAGES": RelatedTo, "SEE_ALSO": RelatedTo, "SEEALSO": RelatedTo,
	"DEPENDS": DependsOn, "DEPENDENCIES": DependsOn, "PREREQUISITES": Requires, "SIMILAR": "SIMILAR_TO",
	"SUPERSEDES": "REPLACES", "SUPERSEDED_BY": "REPLACED_BY", "REFERENCES": "CITES",
	"NEXT": "PRECEDES", "PREV": "FOLLOWS", "PREVIOUS": "FOLLOWS", "PARENT": "PART_OF", "CHILDREN": "HAS_PART",
}

// ParseRelation returns the relation of a name. Case is ignored; words may be
// separated by spaces, hyphens or underscores. For an unknown name it returns
// RelatedTo and false.
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
