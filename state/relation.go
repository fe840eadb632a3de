package state

import (
	"slices"
	"strings"
)

// Relations that other packages use by name.
const (
	RelatedTo = "RELATED_TO" // related_docs, see also, and all unknown relations
	DependsOn = "DEPENDS_ON"
)

// Relations returns all kinds of relations between documents in alphabetical order. Each
// reads "this document … that document".
func Relations() []string {
	return []string{
		"ALTERNATIVE_TO", "CITES", "COMPATIBLE_WITH", "CONFLICTS_WITH", DependsOn, "DERIVED_FROM", "DESCRIBES",
		"EVOLVED_FROM", "EXAMPLE_OF", "EXTENDS", "FOLLOWS", "HAS_PART", "IMPLEMENTS", "INCLUDES", "PART_OF",
		"PRECEDES", RelatedTo, "REPLACED_BY", "REPLACES", "REQUIRES", "SIMILAR_TO", "TESTS", "TRANSLATION_OF", "USES", "VALIDATES",
	}
}

// ParseRelation returns the relation of a name. Case is ignored; words may be
// separated by spaces, hyphens or underscores. For an unknown name it returns
// RelatedTo and false.
func ParseRelation(name string) (relation string, ok bool) {
	name = strings.ToUpper(strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '-' || r == '_' }), "_"))
	if slices.Contains(Relations(), name) {
		return name, true
	}
	return RelatedTo, name == "RELATED_DOCS" || name == "SEE_ALSO"
}
