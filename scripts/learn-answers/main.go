// Learn-answers learns the numbers of internal/skills/offline/coefficients.go and prints them. It learns from
// one half of public sets and reports the other half:
//
//	go run ./scripts/learn-answers shape     # words that indicate the shape of an answer
//	go run ./scripts/learn-answers choice    # ranks sentences
//	go run ./scripts/learn-answers grade     # whether the answer is there; after choice was updated
//	go run ./scripts/learn-answers order     # what the meaning of a passage counts beside its words
//	go run ./scripts/learn-answers ablation  # what each feature gains, for docs/answers-ablation.md
//
// RAGFLOW_DATA names the folder of the sets.
package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"os"
	"slices"
	"strings"

	"example.com/ragflow/eval"
	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

func main() {
	log.SetFlags(0)
	if err := run(context.Background(), os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string) error {
	r := reader{os.Getenv("RAGFLOW_DATA"), ctx}
	if len(args) != 1 {
		return fmt.Errorf("one argument: shape, choice, grade, order or ablation")
	}
	if args[0] == "shape" {
		return learnShape(r)
	}
	sets, err := r.sets()
	if err != nil {
		return err
	}
	if args[0] == "order" {
		return learnOrder(ctx, sets[:8]) // the others are joined questions of the same
	}
	var choices []choiceCase
	var grades []gradeCase
	for _, s := range sets {
		c, g, err := measure(ctx, s)
		if err != nil {
			return err
		}
		choices, grades = append(choices, c...), append(grades, g...)
	}
	switch args[0] {
	case "choice":
		learnChoice(choices)
	case "grade":
		learnGrade(grades)
	case "ablation":
		ablate(choices, grades)
	}
	return nil
}

// choiceCase is a question with the sentences of its sources.
type choiceCase struct {
	set   string
	half  int
	found bool // one of them is right
	example
	sources []state.Source
}

// gradeCase is a question with the signs of its best passages, and whether the three best sentences contain
// the answer.
type gradeCase struct {
	set   string
	half  int
	signs []float64
	right bool
	there bool // the answer is in the corpus
}

// without is an index without some of its chunks.
type without struct {
	search.Snapshot
	chunks int
	terms  map[string]int
}

func (w without) Docs() int               { return w.Snapshot.Docs() - w.chunks }
func (w without) DocFreq(term string) int { return w.Snapshot.DocFreq(term) - w.terms[term] }

// Numbers of chunks that are searched, reranked, given to an answer and graded.
const (
	searched = 20
	given    = 6
	graded   = 10
	perPage  = 3
)

func measure(ctx context.Context, s set) (choices []choiceCase, grades []gradeCase, err error) {
	for _, q := range s.questions {
		all, err := chunksFor(ctx, s, q, false)
		if err != nil {
			return nil, nil, err
		}
		skills := offline.New(s.searcher, 0)
		c, ranked := choose(ctx, skills, s, q, all)
		if s.sentences && !strings.HasSuffix(s.name, ", pairs") {
			choices = append(choices, c)
		}
		queries := []state.Query{{Text: q.text, Weight: 1, Attempt: 1}}
		if v := skills.Grader.Measure(queries[0], best(all)); v != nil {
			if found, right := shown(s, q, all, c, ranked); found {
				grades = append(grades, gradeCase{s.name, q.half, v, right, true})
			}
		}
		if s.foreign != nil {
			continue // other passages may contain the removed answer
		}
		rest, err := chunksFor(ctx, s, q, true)
		if err != nil {
			return nil, nil, err
		}
		gone := without{s.searcher, 0, map[string]int{}}
		for _, h := range all {
			if q.gold(h.Chunk) {
				gone.chunks++
				for _, t := range distinct(s.searcher.Analyzer().Analyze(h.Text)) {
					gone.terms[t]++
				}
			}
		}
		if v := offline.New(gone, 0).Grader.Measure(queries[0], best(rest)); v != nil {
			grades = append(grades, gradeCase{s.name, q.half, v, false, false})
		}
	}
	skills := offline.New(s.searcher, 0)
	for _, q := range s.foreign {
		found, err := chunksFor(ctx, s, q, false)
		if err != nil {
			return nil, nil, err
		}
		if v := skills.Grader.Measure(state.Query{Text: q.text, Weight: 1}, best(found)); v != nil {
			grades = append(grades, gradeCase{s.name, q.half, v, false, false})
		}
	}
	return choices, grades, nil
}

// shown reports whether one of the three best sentences is right. If only passages are judged, any sentence
// of a right passage is right, and a question whose right passages were not found is not counted: other
// passages may answer it.
func shown(s set, q question, all []state.Source, c choiceCase, ranked []offline.Ranked) (found, right bool) {
	first := ranked[:min(3, len(ranked))]
	if s.strict {
		return true, slices.Contains(c.right[:len(first)], true)
	}
	gold := func(h state.Source) bool { return q.gold(h.Chunk) }
	return slices.ContainsFunc(all[:min(graded, len(all))], gold), slices.ContainsFunc(first, func(r offline.Ranked) bool {
		return q.gold(c.sources[r.N-1].Chunk)
	})
}

func distinct(tokens []text.Token) []string {
	var out []string
	for _, t := range tokens {
		out = append(out, t.Term)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// chunksFor returns the chunks that a search finds, as sources; without the chunks that contain the answer if
// it is removed.
func chunksFor(ctx context.Context, s set, q question, takenOut bool) ([]state.Source, error) {
	hits, err := s.searcher.SearchWords(ctx, state.Query{Text: q.text, Weight: 1}, searched+10)
	if err != nil {
		return nil, err
	}
	ids, scores := make([]string, len(hits)), map[string]float64{}
	for i, h := range hits {
		ids[i], scores[h.Chunk] = h.Chunk, h.Score
	}
	chunks, err := s.searcher.Chunks(ctx, ids)
	if err != nil {
		return nil, err
	}
	var out []state.Source
	for _, c := range chunks {
		if len(out) < searched && (!takenOut || !q.gold(c)) {
			out = append(out, state.Source{Chunk: c, Score: scores[c.ID]})
		}
	}
	return out, nil
}

// best returns the sources that are graded.
func best(sources []state.Source) []state.Source { return sources[:min(graded, len(sources))] }

// choose ranks the sentences of a question's sources as the product does.
func choose(ctx context.Context, skills offline.Skills, s set, q question, found []state.Source) (choiceCase, []offline.Ranked) {
	queries := []state.Query{{Text: q.text, Weight: 1, Attempt: 1}}
	ordered, _ := skills.Reranker.Rerank(ctx, queries, found)
	var sources []state.Source
	of := map[string]int{}
	for _, c := range ordered {
		if of[c.Source]++; len(sources) < given && of[c.Source] <= perPage {
			sources = append(sources, c)
		}
	}
	ranked := skills.Answerer.Rank(state.Task{Question: q.text, Queries: queries, Sources: sources})
	out := choiceCase{set: s.name, half: q.half, sources: sources}
	out.weight = 1
	for _, r := range ranked {
		c := sources[r.N-1].Chunk
		right := q.gold(c) && q.says(c, c.Text[r.Start:r.End])
		out.features, out.right = append(out.features, r.Features), append(out.right, right)
		out.found = out.found || right
	}
	return out, ranked
}

// learnChoice learns to rank sentences, and prints the coefficients and how often the right sentence is first
// and among three in the other half.
func learnChoice(cases []choiceCase) {
	w := fitChoice(cases, nil)
	for i, name := range offline.FeatureNames() {
		fmt.Printf("%s: %.2f\n", name, w[i])
	}
	for _, set := range setsOf(cases, func(c choiceCase) string { return c.set }) {
		for half := range 2 {
			var first, three []float64
			for _, c := range cases {
				if c.set == set && c.half == half {
					at := c.rank(w)
					first, three = append(first, hit(at < 1)), append(three, hit(at < 3))
				}
			}
			fmt.Printf("%s, half %d: %d questions, first %.3f, among three %.3f\n", set, half, len(first), eval.Mean(first), eval.Mean(three))
		}
	}
}

func hit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func setsOf[T any](cases []T, name func(T) string) []string {
	var out []string
	for _, c := range cases {
		if !slices.Contains(out, name(c)) {
			out = append(out, name(c))
		}
	}
	return out
}

// fitChoice learns from half 0 without some features, with equal weight for each set. XQuAD in English is
// left out, because its paragraphs are in SQuAD.
func fitChoice(cases []choiceCase, drop []int) []float64 {
	n := len(offline.FeatureNames())
	count := map[string]float64{}
	for _, c := range cases {
		if c.half == 0 && c.found {
			count[c.set]++
		}
	}
	var examples []example
	for _, c := range cases {
		if c.half != 0 || !c.found || c.set == "HotpotQA" {
			continue
		}
		e := example{right: c.right, weight: setWeight(c.set) / count[c.set]}
		for _, f := range c.features {
			f = slices.Clone(f)
			for _, d := range drop {
				f[d] = 0
			}
			e.features = append(e.features, f)
		}
		examples = append(examples, e)
	}
	spread := deviations(examples, n)
	for _, e := range examples {
		for _, f := range e.features {
			for k := range f {
				f[k] /= spread[k]
			}
		}
	}
	w := logit(examples, n, 3e-3)
	for k := range w {
		w[k] /= spread[k]
	}
	return w
}

// setWeight returns the total weight of the questions of a set.
func setWeight(name string) float64 {
	switch name {
	case "XQuAD en":
		return 0.5
	case "Docker manual":
		return 1.5 // the only set with headings, lists and code
	}
	return 1
}

// rank returns the position of the first right sentence, from 0.
func (c choiceCase) rank(w []float64) int {
	best, top := -1, math.Inf(-1)
	scores := make([]float64, len(c.features))
	for i, f := range c.features {
		for k, v := range f {
			scores[i] += w[k] * v
		}
		if c.right[i] && scores[i] > top {
			best, top = i, scores[i]
		}
	}
	if best < 0 {
		return math.MaxInt
	}
	n := 0
	for i, s := range scores {
		if s > top || s == top && i < best {
			n++
		}
	}
	return n
}

// learnGrade learns the probability that the answer is there.
func learnGrade(cases []gradeCase) {
	intercept, w := fitGrade(cases, nil, "")
	fmt.Printf("intercept %.2f\n", intercept)
	for i, name := range offline.Signs() {
		mean := 0.0
		for _, c := range cases {
			mean += c.signs[i] / float64(len(cases))
		}
		fmt.Printf("%s: %.2f, mean %.2f\n", name, w[i], mean)
	}
	fmt.Println("half 1; unseen kind: learnt without the set")
	for _, set := range setsOf(cases, func(c gradeCase) string { return c.set }) {
		i2, w2 := fitGrade(cases, nil, set)
		report(set, "learnt", cases, intercept, w)
		report(set, "unseen kind", cases, i2, w2)
	}
}

func report(set, how string, cases []gradeCase, intercept float64, w []float64) {
	var right, there, given []eval.Graded
	for _, c := range cases {
		if c.set != set || c.half != 1 {
			continue
		}
		p := c.grade(intercept, w)
		right = append(right, eval.Graded{Score: p, True: c.right})
		there = append(there, eval.Graded{Score: p, True: c.there})
		if c.there {
			given = append(given, eval.Graded{Score: p, True: c.right})
		}
	}
	a, _ := eval.AUROC(right)
	b, _ := eval.AUROC(there)
	g, _ := eval.AUROC(given)
	acc := balancedAccuracy(right, offline.DefaultThreshold)
	acc2 := balancedAccuracy(there, offline.DefaultThreshold)
	var refused, declined []float64
	for _, c := range there {
		if c.True {
			refused = append(refused, hit(c.Score < offline.DefaultThreshold))
		} else {
			declined = append(declined, hit(c.Score < offline.DefaultThreshold))
		}
	}
	ece := eval.CalibrationError(right)
	fmt.Printf("%s, %s: %d, AUROC right %.3f, there %.3f, right of those there %.3f; balanced right %.3f there %.3f; refused %.2f declined %.2f; calibration %.3f\n",
		set, how, len(right), a, b, g, acc, acc2, eval.Mean(refused), eval.Mean(declined), ece)
}

func (c gradeCase) grade(intercept float64, w []float64) float64 {
	z := intercept
	for i, v := range c.signs {
		z += w[i] * v
	}
	return 1 / (1 + math.Exp(-z))
}

// fitGrade learns from half 0 without one set and some signs. Right and wrong cases weigh the same in each
// set, so that a grade of 0.50 is the balanced threshold.
func fitGrade(cases []gradeCase, drop []int, omit string) (float64, []float64) {
	type class struct {
		set   string
		right bool
	}
	count := map[class]float64{}
	for _, c := range cases {
		if c.half == 0 {
			count[class{c.set, c.right}]++
		}
	}
	var rows [][]float64
	var weights []float64
	var right []bool
	for _, c := range cases {
		if c.half != 0 || c.set == omit {
			continue
		}
		row := slices.Clone(c.signs)
		for _, d := range drop {
			row[d] = 0
		}
		rows, weights, right = append(rows, row), append(weights, 150/count[class{c.set, c.right}]), append(right, c.right)
	}
	return logistic(rows, weights, right)
}

// ablate learns again without each feature and sign, and prints the loss in the other half, with a 95 %
// interval by paired bootstrap.
func ablate(choices []choiceCase, grades []gradeCase) {
	fmt.Println("| feature | first sentence right, change without it | gains in |\n| --- | --- | --- |")
	full := fitChoice(choices, nil)
	sets := setsOf(choices, func(c choiceCase) string { return c.set })
	for i, name := range offline.FeatureNames() {
		w := fitChoice(choices, []int{i})
		var all []float64
		var gains []string
		for _, set := range sets {
			var diff []float64
			for _, c := range choices {
				if c.set == set && c.half == 1 {
					diff = append(diff, hit(c.rank(full) < 1)-hit(c.rank(w) < 1))
				}
			}
			if eval.Mean(diff) > 0 {
				gains = append(gains, fmt.Sprintf("%s %.3f", set, eval.Mean(diff)))
			}
			all = append(all, diff...)
		}
		ci := eval.Bootstrap(all)
		fmt.Printf("| %s | %+.4f [%+.4f, %+.4f] | %s |\n", name, -eval.Mean(all), -ci.High, -ci.Low, strings.Join(gains, ", "))
	}
	fmt.Println("\n| sign | log loss on half 1, change without it |\n| --- | --- |")
	loss := func(intercept float64, w []float64) []float64 {
		var out []float64
		for _, c := range grades {
			if c.half == 1 {
				p := min(max(c.grade(intercept, w), 1e-6), 1-1e-6)
				if !c.right {
					p = 1 - p
				}
				out = append(out, -math.Log(p))
			}
		}
		return out
	}
	base := loss(fitGrade(grades, nil, ""))
	for i, name := range offline.Signs() {
		without := loss(fitGrade(grades, []int{i}, ""))
		for k := range without {
			without[k] -= base[k]
		}
		ci := eval.Bootstrap(without)
		fmt.Printf("| %s | %+.4f [%+.4f, %+.4f] |\n", name, eval.Mean(without), ci.Low, ci.High)
	}
}

// balancedAccuracy returns the mean of the share of true cases with a score of at least cut and the share of
// false cases below it; 0 if there are no cases of one kind.
func balancedAccuracy(graded []eval.Graded, cut float64) float64 {
	var n, right [2]float64
	for _, g := range graded {
		kind := 0
		if g.True {
			kind = 1
		}
		n[kind]++
		if g.True == (g.Score >= cut) {
			right[kind]++
		}
	}
	if n[0] == 0 || n[1] == 0 {
		return 0
	}
	return (right[0]/n[0] + right[1]/n[1]) / 2
}
