package nodes

import (
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/state"
)

// CountChecks counts how often whole answers are checked.
func (o Answering) CountChecks(n *int) Answering {
	o.check = func(answer string, sources []state.Source, options cite.Options) cite.Report {
		*n++
		return cite.Check(answer, sources, options)
	}
	return o
}
