package cite

import "example.com/ragflow/state"

// Rules returns the names of all rules.
func Rules() []string {
	names := []string{nearRule, literalRule, nameRule}
	for _, r := range rules() {
		names = append(names, r.name)
	}
	return names
}

// CheckWithout checks an answer as Check does, once for each name: without the rule of that name, or with all
// rules if it is "". The sources are read once.
func CheckWithout(answer string, sources []state.Source, o Options, names []string) []Report {
	c := newChecker(sources, o)
	var out []Report
	for _, name := range names {
		c.without = name
		out = append(out, c.check(answer))
	}
	return out
}
