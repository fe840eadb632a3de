package offline

// learned are the weights of the features. Those of words, pairs, the passage
// and the types of question began as the coefficients of a conditional logit
// over paragraphs of an encyclopedia (SQuAD 1.1 dev and XQuAD in Vietnamese, of
// the articles of one half only; TestLearnWeights in eval prints them), on a
// scale on which held1 and heldRare together weigh about 0.87; some were then
// moved by hand on the questions over the Docker manual. Paragraphs have no
// headings, lists and code: the weights of those, marked with *, are set by hand.
func learned() *coefficients {
	return &coefficients{
		held1: 0.58, heldRare: 0.27, heldNearly: 0.60, heldBefore: 0.55, heldPassage: 0.30,
		sourceScore: 0.60, sourceFirst: 0.08, pairsClose: 0.12, pairsNear: 0.07,
		length: 0.02, density: 0.62, numbersHeld: 0.09, namesHeld: -0.07,
		newNumber: 0.20, newUnit: 0.11, newDate: 0.34, moment: -0.04, newName: 0.27, newPlace: 0.14,
		because: 0.14, says: 0.11, anyName: 0.01, anyNumber: -0.03,
		early: 0.07, central: -0.27, pronoun: 0.01,

		heldHeading: 0.45, headed: 0.30, defining: 0.15, repeated: 1, away: -0.30, strayCode: -0.25, midStep: -0.35, changeNote: -0.50, beside: -0.15, // *
		pathShown: 0.15, doing: 0.15, tiny: -0.15, // *
	}
}

// learnedMatches are the coefficients of the features of [ListReranker], as
// scripts/fit-list prints them: a conditional logit on the training questions of
// SciFact and half 0 of XQuAD in English and Vietnamese, each set of equal weight.
func learnedMatches() [matches]float64 {
	return [matches]float64{
		matchScore: 2.47, matchRank: 0.52, matchWords: 1.64, matchRare: 1.25, matchSoft: 1.83, matchSentence: 2.22, matchFirst: 1.59,
		matchPairs: 0.80, matchTitle: 2.20, matchNumbers: 0.71, matchRun: 11.86,
	}
}
