package querylog

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"example.com/ragflow/internal/rank"
)

// Gap is questions of like meaning.
type Gap struct {
	Count     int      `json:"count"`     // how often they were asked
	Questions []string `json:"questions"` // the most asked first, at most 10
}

// Two questions are about the same from these cosines on: of the vectors of the built-in model, and
// of their words. TestWhatDocumentsLack of package ragflow and TestGaps show what
// they keep together and apart.
const (
	alikeByMeaning = 0.80
	alikeByWords   = 0.40
)

// compared is how many different questions are compared, each with the leaders of all groups.
const compared = 500

// gaps puts questions of like meaning together and returns those that were asked more than once.
// The most asked question leads a group; another one joins the most similar leader. The same
// questions give the same groups.
func gaps(ctx context.Context, asked []Asked, vectors func(context.Context, []string) ([][]float32, error)) ([]Gap, error) {
	asked = asked[:min(len(asked), compared)]
	alike, least := byWords(asked), alikeByWords
	if vectors != nil && len(asked) > 0 {
		texts := make([]string, len(asked))
		for i, a := range asked {
			texts[i] = a.Text
		}
		v, err := vectors(ctx, texts)
		if err != nil {
			return nil, err
		}
		alike, least = func(i, k int) float64 { return rank.CosineOf(v[i], v[k]) }, alikeByMeaning
	}
	var leaders []int
	groups := map[int]*Gap{}
	for i, a := range asked {
		leader, best := i, least
		for _, k := range leaders {
			if s := alike(i, k); s >= best {
				leader, best = k, s
			}
		}
		if leader == i {
			leaders, groups[i] = append(leaders, i), &Gap{}
		}
		g := groups[leader]
		g.Count += a.Count
		if len(g.Questions) < listed {
			g.Questions = append(g.Questions, a.Text)
		}
	}
	out := []Gap{}
	for _, k := range leaders {
		if groups[k].Count > 1 {
			out = append(out, *groups[k])
		}
	}
	slices.SortStableFunc(out, func(a, b Gap) int { return cmp.Or(b.Count-a.Count, strings.Compare(a.Questions[0], b.Questions[0])) })
	return out[:min(len(out), listed)], nil
}

// byWords compares questions by their words without endings.
func byWords(asked []Asked) func(i, k int) float64 {
	vectors := make([]rank.Vector, len(asked))
	for i, a := range asked {
		vectors[i] = rank.StemVector(a.Text)
	}
	return func(i, k int) float64 { return rank.Cosine(vectors[i], vectors[k]) }
}
