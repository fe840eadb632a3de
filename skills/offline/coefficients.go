package offline

import (
	"fmt"
	"math"
	"strings"
)

// weight is how a feature speaks in a grade.
type weight struct {
	coefficient float64 // of the logistic regression
	mean        float64 // of the feature over the questions learnt from: what is above speaks for, what is below against
}

// intercept and the table below are what scripts/fit-grader prints: learnt on
// nine sets, each of equal weight and with as many questions whose answer was
// taken out of the corpus as others, so that 0.50 is the balanced cut over them.
// docker-eval is not among them.
const intercept = -8.50

func weights() [numFeatures]weight {
	return [numFeatures]weight{
		bySentence:   {0.32, 0.56},
		byBeginning:  {2.75, 0.65},
		byPairs:      {1.54, 0.25},
		byFigures:    {1.56, 0.95},
		byNames:      {0.76, 0.83},
		byAhead:      {2.88, 0.41},
		byStatement:  {7.11, 0.42},
		bySame:       {0.92, 0.06},
		byNowhere:    {-0.36, 0.15},
		byLong:       {1.16, 0.16},
		byNumber:     {-0.39, 0.14},
		bySyllables:  {-0.49, 0.33},
		byOtherWords: {2.67, 0.06},
	}
}

// crowdCoefficient is the one number that was chosen on docker-eval (dev), after
// the others: for each power of ten that an index is larger than learntDocs.
// A manual says the same in many places, so that no passage is far ahead, and
// the encyclopedias learnt on do not show it. With it 29 of its 30 questions are
// answered, and 4 of 4 declined.
const (
	crowdCoefficient = 0.52
	learntDocs       = 240
)

// score is the grade: the logistic function of the weighed sum.
func (e evidence) score() float64 {
	z := intercept + crowdCoefficient*e.crowd
	for f, w := range weights() {
		z += w.coefficient * e.values[f]
	}
	score := 1 / (1 + math.Exp(-z))
	if e.borrowed {
		return min(score, borrowedMost)
	}
	return score
}

// borrowedMost is the grade that the words of a conversation reach at most by
// themselves: below the threshold.
const borrowedMost = 0.4

// loud is the least part in the sum of which a trace speaks.
const loud = 0.25

// why tells which features spoke for the passage and which against it.
func (e evidence) why() string {
	var pro, contra []string
	for f, w := range weights() {
		said := fmt.Sprintf("%s %.2f", feature(f), e.values[f])
		switch part := w.coefficient * (e.values[f] - w.mean); {
		case part >= loud:
			pro = append(pro, said)
		case part <= -loud:
			contra = append(contra, said)
		}
	}
	out := []string{fmt.Sprintf("passage %d covers %.2f of the question", e.at+1, e.passage)}
	if e.borrowed {
		contra = append(contra, "only words that the conversation lends")
	}
	for _, side := range []struct {
		name string
		said []string
	}{{"for", pro}, {"against", contra}, {"nowhere", e.missing}} {
		if len(side.said) > 0 {
			out = append(out, side.name+": "+strings.Join(side.said, ", "))
		}
	}
	return strings.Join(out, "; ")
}
