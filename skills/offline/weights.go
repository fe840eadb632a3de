package offline

// coefficientsFor are the weights of the features for a type of question.
func coefficientsFor(kind QuestionType) *coefficients {
	switch kind {
	case HowTo, Message:
		return procedural()
	default:
		return learned()
	}
}

// learned are the weights of the features for questions after a fact: the
// coefficients of a conditional logit over paragraphs of an encyclopedia (SQuAD
// 1.1 dev and XQuAD in Vietnamese, of the articles of one half only;
// TestLearnWeights in eval prints them), divided by 9.5, so that scores spread as
// they do with [procedural] weights. Features whose coefficient was about 0 or
// had the wrong sign were left out. An earlier fit gave them: a new one differs by
// less than 0.07, but for sourceScore (1.09), defining (0.22) and tiny (-0.23).
// Paragraphs have no headings, lists and code: the weights of those, marked with
// *, are set by hand.
func learned() *coefficients {
	return &coefficients{
		held1: 0.68, heldNearly: 0.67, heldBefore: 0.65, heldEarlier: 0.38, heldAfter: 0.26, heldReferred: 0.13,
		sourceScore: 0.60, sourceFirst: 0.05, wordsHeld: 0.46, wordPairs: 0.16, pairsNear: 0.01,
		length: -0.02, density: 0.24, numbersHeld: 0.03,
		newNumber: 0.05, newUnit: 0.06, newDate: 0.23, newName: 0.03, newPlace: 0.08, because: 0.06, anyNumber: -0.03,
		nearKind: 0.51, nearNew: 0.34, amountWritten: 0.42, nameGiven: 0.13, fullNamed: 0.15,
		early: 0.08, central: -0.13, defining: 0.29, tiny: -0.45,

		heldHeading: 0.45, headed: 0.30, repeated: 1, away: -0.30, strayCode: -0.25, midStep: -0.35, changeNote: -0.50, beside: -0.15, // *
		pathShown: 0.15, // *
	}
}

// procedural are the weights for questions after a procedure and for pasted
// messages, of which an encyclopedia has none: those of an earlier fit of the
// features up to tiny, moved by hand on the questions over the Docker manual.
func procedural() *coefficients {
	return &coefficients{
		held1: 0.58, heldRare: 0.27, heldNearly: 0.60, heldBefore: 0.55, heldPassage: 0.30,
		sourceScore: 0.60, sourceFirst: 0.08, pairsClose: 0.12, pairsNear: 0.07,
		length: 0.02, density: 0.62, numbersHeld: 0.09, namesHeld: -0.07,
		early: 0.07, central: -0.27, pronoun: 0.01,
		heldHeading: 0.45, headed: 0.30, repeated: 1, away: -0.30, strayCode: -0.25, midStep: -0.35, changeNote: -0.50, beside: -0.15,
		doing: 0.15, anyName: 0.01, anyNumber: -0.03, tiny: -0.15,
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
