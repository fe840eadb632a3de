package eval_test

import (
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"

	"example.com/ragflow/offline"
)

var fit = flag.Bool("fit", false, "learn the coefficients of the offline grader and print its table")

// TestFitGrader learns the coefficients of the offline grader on half 0 of the
// parallel sets and prints offline/coefficients.go's table: see
// scripts/fit-grader. Without -fit it learns on a made-up set whose answer is
// known.
func TestFitGrader(t *testing.T) {
	if !*fit {
		checkLogistic(t)
		return
	}
	var rows [][]float64
	var answers []bool
	for _, lang := range []string{"en", "vi"} {
		for _, c := range topics(t, lang, 0) {
			if v := offline.NewGrader(c.stats).Measure(c.query, c.best); v != nil {
				rows, answers = append(rows, v), append(answers, c.answered)
			}
		}
	}
	last := len(rows[0]) - 1 // the length of the question
	offsets := make([]float64, len(rows))
	learnt := make([][]float64, len(rows))
	for i, r := range rows {
		offsets[i], learnt[i] = offline.LongCoefficient*r[last], r[:last]
	}
	intercept, coefficients := logistic(learnt, offsets, answers)
	coefficients = append(coefficients, offline.LongCoefficient)
	var b strings.Builder
	fmt.Fprintf(&b, "%d cases\nintercept %.2f\n", len(rows), intercept)
	for f, name := range offline.Features() {
		mean := 0.0
		for _, r := range rows {
			mean += r[f] / float64(len(rows))
		}
		fmt.Fprintf(&b, "%s: {%.2f, %.2f}\n", name, coefficients[f], mean)
	}
	fmt.Print(b.String())
}

// ridge keeps coefficients small where the data say nothing.
const ridge = 1

// logistic learns a logistic regression by Newton's method, with a ridge on all
// but the intercept. offsets are parts of the sum that are given.
func logistic(rows [][]float64, offsets []float64, answers []bool) (intercept float64, coefficients []float64) {
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
			z := offsets[r]
			for i := range x {
				z += w[i] * x[i]
			}
			p := 1 / (1 + math.Exp(-z))
			miss := p
			if answers[r] {
				miss--
			}
			for i := range x {
				system[i][n] += miss * x[i]
				for j := range x {
					system[i][j] += p * (1 - p) * x[i] * x[j]
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
	intercept, c := logistic(rows, make([]float64, len(rows)), answers)
	if math.Abs(intercept+2) > 0.05 || math.Abs(c[0]-3) > 0.05 || math.Abs(c[1]-1) > 0.05 {
		t.Errorf("learnt %.3f, %.3f; want -2, [3 1]", intercept, c)
	}
}
