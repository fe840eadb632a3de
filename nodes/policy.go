package nodes

import (
	"fmt"
	"math"

	"example.com/ragflow/state"
)

// maxOpinion limits what one judge of [certain] can contribute, so that none overrules
// the other alone.
const maxOpinion = 0.99

// certain adds to a grade the opinion of a reranking model that read the passages: its
// score of the best one counts as much as the grade, in log odds. judged is nil if no
// such model ranked.
func certain(grade state.Grade, judged *float64) state.Grade {
	if judged == nil {
		return grade
	}
	logit := func(p float64) float64 {
		p = min(max(p, 1-maxOpinion), maxOpinion)
		return math.Log(p / (1 - p))
	}
	grade.Why = fmt.Sprintf("%.2f by the grader (%s), %.2f by the reranker", grade.Score, grade.Why, *judged)
	p := 1 / (1 + math.Exp(-(logit(grade.Score)+logit(*judged))/2))
	grade.Score = math.Round(p*1e6) / 1e6
	return grade
}
