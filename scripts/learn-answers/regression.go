package main

import (
	"math"
	"slices"
)

// example is a choice among several options, some of them right.
type example struct {
	features [][]float64
	right    []bool
	weight   float64
}

// logit fits a conditional logit: the probability of an option is proportional to exp(w·f). It maximizes the
// log probability of a right option minus decay/2 times the squared weights, by Adam (Kingma and Ba 2015).
func logit(examples []example, n int, decay float64) []float64 {
	const rounds, step = 400, 0.1
	w, mean, square := make([]float64, n), make([]float64, n), make([]float64, n)
	all := 0.0
	for _, e := range examples {
		all += e.weight
	}
	for round := 1; round <= rounds; round++ {
		slope := make([]float64, n)
		for _, e := range examples {
			e.slope(w, slope)
		}
		fading, fadingSquare := 1-math.Pow(0.9, float64(round)), 1-math.Pow(0.999, float64(round))
		for k := range w {
			g := slope[k]/all - decay*w[k]
			mean[k] = 0.9*mean[k] + 0.1*g
			square[k] = 0.999*square[k] + 0.001*g*g
			w[k] += step * (mean[k] / fading) / (math.Sqrt(square[k]/fadingSquare) + 1e-8)
		}
	}
	return w
}

// slope adds the gradient of the log probability of a right option to out.
func (e example) slope(w, out []float64) {
	chance, top := make([]float64, len(e.features)), math.Inf(-1)
	for i, f := range e.features {
		for k, v := range f {
			chance[i] += w[k] * v
		}
		top = max(top, chance[i])
	}
	var all, right float64
	for i := range chance {
		chance[i] = math.Exp(chance[i] - top)
		all += chance[i]
		if e.right[i] {
			right += chance[i]
		}
	}
	if right == 0 {
		return
	}
	for i, f := range e.features {
		share := -chance[i] / all
		if e.right[i] {
			share += chance[i] / right
		}
		for k, v := range f {
			out[k] += e.weight * share * v
		}
	}
}

// deviations returns the standard deviations of features over all options.
func deviations(examples []example, n int) []float64 {
	sum, squares, all := make([]float64, n), make([]float64, n), 0.0
	for _, e := range examples {
		for _, f := range e.features {
			all++
			for k, v := range f {
				sum[k] += v
				squares[k] += v * v
			}
		}
	}
	for k := range sum {
		mean := sum[k] / all
		sum[k] = max(1e-9, math.Sqrt(max(0, squares[k]/all-mean*mean)))
	}
	return sum
}

// ridge is the penalty of a squared coefficient; it keeps those small that the data do not determine.
const ridge = 1

// logistic learns a logistic regression by Newton's method, with a ridge on all weights but the intercept.
func logistic(rows [][]float64, weights []float64, answers []bool) (intercept float64, coefficients []float64) {
	n := len(rows[0]) + 1
	w := make([]float64, n)
	for range 25 {
		system := make([][]float64, n) // the Hessian, and the gradient in the last column
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
	return w[0], slices.Clone(w[1:])
}

// solve solves linear equations by Gaussian elimination with pivoting. The right side is the last column of
// a, which is overwritten.
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
