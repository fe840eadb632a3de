package eval_test

import (
	"flag"
	"fmt"
	"hash/fnv"
	"iter"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow/eval"
	"example.com/ragflow/skills/offline"
)

var fit = flag.Bool("fit", false, "learn the coefficients of the offline grader and print its table")

// TestFitGrader learns the coefficients of the offline grader on several sets,
// each of equal weight, and prints offline/coefficients.go's table and how well
// coefficients learnt on other articles grade each set: see scripts/fit-grader.
// Without -fit it learns on a made-up set whose answer is known.
func TestFitGrader(t *testing.T) {
	if !*fit {
		checkLogistic(t)
		return
	}
	var all fitted
	for set := range fitSets(t) {
		all.add(set)
		fmt.Printf("%s: %d cases\n", set.name, len(set.cases))
	}
	intercept, coefficients := logistic(all.rows, all.weights, all.answers)
	var b strings.Builder
	fmt.Fprintf(&b, "%d cases\nintercept %.2f\n", len(all.rows), intercept)
	for f, name := range offline.Features() {
		mean, weights := 0.0, 0.0
		for i, r := range all.rows {
			mean += all.weights[i] * r[f]
			weights += all.weights[i]
		}
		fmt.Fprintf(&b, "%s: {%.2f, %.2f}\n", name, coefficients[f], mean/weights)
	}
	fmt.Print(b.String(), all.crossValidated())
}

// fitSet is a set to learn from.
type fitSet struct {
	name    string
	cases   []topic
	article func(id string) string // of a chunk
}

// setWeight is what the cases of a set weigh together, however many they are.
const setWeight = 1000

// fitSets are the sets to learn from: half 0 of XQuAD and SQuAD, whole and as
// three corpora of five other paragraphs an article, the same with two questions in
// one, Vietnamese law, and MTRAG's clapnq.
func fitSets(t *testing.T) iter.Seq[fitSet] {
	t.Helper()
	return func(yield func(fitSet) bool) {
		english, inEnglish := xquad(t, "en")
		vietnamese, inVietnamese := xquad(t, "vi")
		paragraphs, questions, article := squad(t)
		en, vi, all := indexed(t, english, false), indexed(t, vietnamese, false), indexed(t, paragraphs, false)
		ofEn, ofVi, ofAll := ofHalf(inEnglish, articleOf, 0), ofHalf(inVietnamese, articleOf, 0), ofHalf(questions, article, 0)
		_ = yield(fitSet{"XQuAD en", topics(t, en, ofEn, false), articleOf}) &&
			yield(fitSet{"XQuAD vi", topics(t, vi, ofVi, false), articleOf}) &&
			yield(fitSet{"SQuAD, five paragraphs an article", someParagraphs(t, paragraphs, ofAll), article}) &&
			yield(fitSet{"SQuAD", topics(t, all, every(10, ofAll), false), article}) &&
			yield(fitSet{"XQuAD en, pairs", topics(t, en, inPairs(ofEn), false), articleOf}) &&
			yield(fitSet{"XQuAD vi, pairs", topics(t, vi, inPairs(ofVi), false), articleOf}) &&
			yield(fitSet{"SQuAD, pairs", topics(t, all, every(10, inPairs(ofAll)), false), article}) &&
			yield(fitSet{"ALQAC", law(t), articleOf}) &&
			yield(fitSet{"MTRAG clapnq", clapnq(t), articleOf})
	}
}

// fitted are the cases of all sets as a regression reads them.
type fitted struct {
	rows    [][]float64
	answers []bool
	weights []float64
	folds   []int // by a hash of the article
	sets    []string
	names   []string // of the sets, in order
}

const fitFolds = 5

func (f *fitted) add(set fitSet) {
	first := len(f.rows)
	for _, c := range set.cases {
		if v := offline.NewGrader(c.stats).Measure(c.query, c.best); v != nil {
			h := fnv.New32a()
			h.Write([]byte(set.article(c.of)))
			f.rows, f.answers, f.sets = append(f.rows, v), append(f.answers, c.answered), append(f.sets, set.name)
			f.folds = append(f.folds, int(h.Sum32()>>3%fitFolds))
		}
	}
	f.names = append(f.names, set.name)
	f.weights = append(f.weights, slices.Repeat([]float64{setWeight / float64(len(f.rows)-first)}, len(f.rows)-first)...)
}

// crossValidated tells how well each set is graded by coefficients learnt on
// other articles.
func (f *fitted) crossValidated() string {
	graded := map[string][]eval.Graded{}
	for fold := range fitFolds {
		weights := slices.Clone(f.weights)
		for i := range weights {
			if f.folds[i] == fold {
				weights[i] = 0
			}
		}
		intercept, coefficients := logistic(f.rows, weights, f.answers)
		for i, row := range f.rows {
			if f.folds[i] != fold {
				continue
			}
			z := intercept
			for k, x := range row {
				z += coefficients[k] * x
			}
			graded[f.sets[i]] = append(graded[f.sets[i]], eval.Graded{Score: 1 / (1 + math.Exp(-z)), True: f.answers[i]})
		}
	}
	var b strings.Builder
	for _, name := range f.names {
		area, _ := eval.AUROC(graded[name])
		accuracy, _ := eval.BalancedAccuracy(graded[name], offline.DefaultThreshold)
		fmt.Fprintf(&b, "%s, cross-validated by article: AUROC %.4f, balanced accuracy %.3f\n", name, area, accuracy)
	}
	return b.String()
}

// someParagraphs are every third of the questions about three corpora of five
// paragraphs an article, without the first five.
func someParagraphs(t *testing.T, paragraphs []paragraph, questions []topicQuestion) []topic {
	t.Helper()
	var out []topic
	for part := 1; part <= 3; part++ {
		var some []paragraph
		seen := map[string]int{}
		member := map[string]bool{}
		for _, p := range paragraphs {
			if seen[p.Title]/5 == part {
				some, member[p.ID] = append(some, p), true
			}
			seen[p.Title]++
		}
		about := slices.DeleteFunc(slices.Clone(questions), func(q topicQuestion) bool { return !member[q.answers[0]] })
		out = append(out, topics(t, indexed(t, some, false), every(3, about), false)...)
	}
	return out
}

// law are the training questions of ALQAC, under ids of their own.
func law(t *testing.T) []topic {
	t.Helper()
	paragraphs, asked := questionSet(t, filepath.Join("vi", "alqac2023"), "corpus.jsonl.gz", "queries.jsonl", "qrels-train.tsv")
	ids := map[string]string{}
	for i := range paragraphs {
		id := fmt.Sprintf("d%d", i)
		ids[paragraphs[i].ID], paragraphs[i].ID = id, id
	}
	var questions []topicQuestion
	for _, q := range asked {
		questions = append(questions, topicQuestion{q.Text, []string{ids[q.Paragraph]}})
	}
	return topics(t, indexed(t, paragraphs, true), questions, false)
}

func clapnq(t *testing.T) []topic {
	t.Helper()
	s, questions := rewritten(t, "clapnq")
	return topics(t, s, questions, true)
}

// ridge keeps coefficients small where the data say nothing.
const ridge = 1

// logistic learns a logistic regression by Newton's method, with a ridge on all
// but the intercept. weights are those of the rows.
func logistic(rows [][]float64, weights []float64, answers []bool) (intercept float64, coefficients []float64) {
	n := len(rows[0]) + 1
	w := make([]float64, n)
	for range 25 {
		system := make([][]float64, n) // the Hessian and, behind it, the gradient
		for i := range system {
			system[i] = make([]float64, n+1)
			if i > 0 {
				system[i][i] = ridge
				system[i][n] = ridge * w[i]
			}
		}
		for r, row := range rows {
			x := append([]float64{1}, row...)
			z := 0.0
			for i := range x {
				z += w[i] * x[i]
			}
			p := 1 / (1 + math.Exp(-z))
			miss := p
			if answers[r] {
				miss--
			}
			for i := range x {
				system[i][n] += weights[r] * miss * x[i]
				for j := range x {
					system[i][j] += weights[r] * p * (1 - p) * x[i] * x[j]
				}
			}
		}
		for i, step := range solve(system) {
			w[i] -= step
		}
	}
	return w[0], w[1:]
}

// solve solves a system of linear equations by elimination with pivots; the
// right side stands behind each row. It overwrites a.
func solve(a [][]float64) []float64 {
	n := len(a)
	for i := range n {
		best := i
		for r := i + 1; r < n; r++ {
			if math.Abs(a[r][i]) > math.Abs(a[best][i]) {
				best = r
			}
		}
		a[i], a[best] = a[best], a[i]
		for r := range n {
			if r == i {
				continue
			}
			f := a[r][i] / a[i][i]
			for c := i; c <= n; c++ {
				a[r][c] -= f * a[i][c]
			}
		}
	}
	out := make([]float64, n)
	for i := range n {
		out[i] = a[i][n] / a[i][i]
	}
	return out
}

// checkLogistic learns from cases drawn evenly from a known model: of a hundred
// at each point, as many are true as it says.
func checkLogistic(t *testing.T) {
	t.Helper()
	var rows [][]float64
	var answers []bool
	for x := 0.0; x <= 1; x += 0.25 {
		for y := 0.0; y <= 1; y += 0.25 {
			p := 1 / (1 + math.Exp(-(-2 + 3*x + y)))
			for i := range 1000 {
				rows, answers = append(rows, []float64{x, y}), append(answers, float64(i)+0.5 < 1000*p)
			}
		}
	}
	intercept, c := logistic(rows, slices.Repeat([]float64{1}, len(rows)), answers)
	if math.Abs(intercept+2) > 0.05 || math.Abs(c[0]-3) > 0.05 || math.Abs(c[1]-1) > 0.05 {
		t.Errorf("learnt %.3f, %.3f; want -2, [3 1]", intercept, c)
	}
}
