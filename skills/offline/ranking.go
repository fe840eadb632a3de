package offline

import (
	"example.com/ragflow/state"
)

// Ranked is a part of a source that may answer a question.
type Ranked struct {
	N          int       // of [Source N], from 1
	Start, End int       // in bytes of the source's text
	Score      float64   // without a unit; higher is likelier
	Evidence   []float64 // the features behind the score, in the order of [FeatureNames]
}

// Rank returns the sentences, list items, table rows and blocks of code of a
// task's sources, the likeliest answer first. An answer that does not abstain
// is built around the first: it may show before it what it needs to be
// understood. The grade is not looked at.
func (a *Answerer) Rank(t state.Task) []Ranked {
	s := newSelection(a.lex, t)
	all := s.statements()
	out := make([]Ranked, 0, len(all))
	for _, c := range all {
		p := &s.passages[c.passage]
		at := p.pick(c.unit)
		out = append(out, Ranked{N: at.N, Start: at.Start, End: at.End, Score: c.score, Evidence: c.signals[:]})
	}
	return out
}

// passages takes sources apart one by one.
func (l lexicon) passages(sources []state.Source) []passage {
	out := make([]passage, len(sources))
	for i, src := range sources {
		out[i] = l.passage(i+1, src)
	}
	return out
}

// FeatureNames are the names of the features of [Ranked.Evidence].
func FeatureNames() []string {
	return []string{
		"held1", "heldRare", "heldNearly", "heldBefore", "heldHeading", "heldPassage", "sourceScore", "sourceFirst",
		"pairsClose", "pairsNear", "length", "density", "numbersHeld", "namesHeld", "newNumber", "newUnit", "newDate",
		"moment", "newName", "newPlace", "pathShown", "because", "says", "doing", "anyName", "anyNumber", "early",
		"central", "pronoun", "headed", "defining", "repeated", "away", "strayCode", "midStep", "changeNote", "beside",
		"tiny", "heldEarlier", "heldAfter", "heldReferred", "wordsHeld", "wordPairs", "nearKind", "nearNew", "amountWritten",
		"nameGiven", "fullNamed",
	}
}
