package cite

// Rules returns the names of all rules.
func Rules() []string {
	names := []string{nearRule, literalRule, nameRule}
	for _, r := range rules() {
		names = append(names, r.name)
	}
	return names
}

// Without returns options that skip a rule.
func (o Options) Without(rule string) Options {
	o.without = rule
	return o
}
