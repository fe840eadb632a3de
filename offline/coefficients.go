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
// half of XQuAD, English and Vietnamese together, each question once with the
// paragraph that answers it in the corpus and once without, so that 0.50 is the
// cut at which as many of either kind are wrong.
const intercept = -7.36

func weights() [numFeatures]weight {
	return [numFeatures]weight{
		byPassage:   {1.02, 0.61},
		bySentence:  {2.53, 0.54},
		byBeginning: {2.16, 0.62},
		byPhrases:   {1.52, 0.31},
		byFigures:   {1.55, 0.95},
		byNames:     {0.67, 0.82},
		byLead:      {2.41, 0.46},
		byGap:       {1.95, 0.22},
		byLong:      {LongCoefficient, 0.05},
	}
}

// LongCoefficient makes up for what a passage cannot hold of a long question. It
// was chosen on docker-eval (dev), whose questions tell of situations; those of
// XQuAD are too short to learn it from.
const LongCoefficient = 3.0

// score is the grade: the logistic function of the weighed sum.
func (e evidence) score() float64 {
	z := intercept + 0.0
	for f, w := range weights() {
		z += w.coefficient * e.values[f]
	}
	return 1 / (1 + math.Exp(-z))
}

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
	out := []string{fmt.Sprintf("passage %d covers %.2f of the question", e.at+1, e.values[byPassage])}
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
