package index

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// slowScore is a metric written as its definition.
func slowScore(metric string, a, b []float32) float64 {
	var dot, aa, bb, dd float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot += x * y
		aa += x * x
		bb += y * y
		dd += (x - y) * (x - y)
	}
	switch metric {
	case MetricDot:
		return dot
	case MetricL2:
		return 1 - math.Sqrt(dd)
	}
	return dot / math.Sqrt(aa*bb)
}

// TestMetrics compares with the definitions, exactly and in clusters, for vectors of
// one length and of many. T02: the same vector scores 1 by cosine and by distance.
func TestMetrics(t *testing.T) {
	for _, tt := range []struct {
		name      string
		stretched bool
		clustered bool
	}{{"one length", false, false}, {"many lengths", true, false}, {"one length, clustered", false, true}, {"many lengths, clustered", true, true}} {
		t.Run(tt.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(5, 6))
			v := clumps(3000, 32, 10, 0.5)
			raw := make([][]float32, len(v.rows))
			for row := range v.rows {
				if tt.stretched {
					v.lengths[row] = float32(math.Exp(random.NormFloat64()))
				}
				for _, f := range v.row(row) {
					raw[row] = append(raw[row], f*v.lengths[row])
				}
			}
			v.even = even(v.lengths)
			if v.even == tt.stretched {
				t.Fatalf("even is %t", v.even)
			}
			if tt.clustered {
				if _, err := v.cluster(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for _, metric := range Metrics() {
				found, wanted := 0, 0
				for range 30 {
					query := make([]float32, v.dimension)
					a, b := raw[random.IntN(len(raw))], raw[random.IntN(len(raw))]
					for i := range query {
						query[i] = a[i] + b[i]/2
					}
					unit, length, err := normalise(query)
					if err != nil {
						t.Fatal(err)
					}
					best := newTop(10, betterRow)
					for row := range raw {
						best.offer(candidate{chunk: row, score: slowScore(metric, query, raw[row])})
					}
					got := scanRows(t, v, unit, measure{metric, length})
					at := map[int]float64{}
					for _, c := range got {
						at[c.chunk] = c.score
					}
					for _, want := range best.ranked() {
						wanted++
						if score, ok := at[want.chunk]; ok {
							found++
							if math.Abs(score-want.score) > 1e-3*max(1, math.Abs(want.score)) {
								t.Errorf("%s: %v instead of %v", metric, score, want.score)
							}
						}
					}
				}
				least := 1.0
				if tt.clustered {
					least = 0.9
				}
				if recall := float64(found) / float64(wanted); recall < least {
					t.Errorf("%s: %.3f of the nearest are found", metric, recall)
				}
			}
		})
	}
	if got := (measure{MetricL2, 3}).score(1, 3); got != 1 {
		t.Errorf("the same vector scores %v by distance", got)
	}
	if err := CheckMetric("hamming"); err == nil || CheckMetric("") != nil {
		t.Errorf("an unknown metric: %v", err)
	}
}

// scanRows finds the ten nearest rows as a search does.
func scanRows(t *testing.T, v *vectorSegment, unit []float32, m measure) []candidate {
	t.Helper()
	if v.near != nil {
		got, err := v.approximate(t.Context(), unit, m, 10, v.near.probe, 0, all)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	best := newTop(10, betterRow)
	for row := range v.rows {
		best.offer(candidate{chunk: row, score: m.score(cosine(unit, v.row(row)), v.lengths[row])})
	}
	return best.ranked()
}

// TestFilterKeepsRecall: clustered vectors are found within a filter of any
// selectivity as well as without one, also where all that passes is of other topics
// than what was asked.
func TestFilterKeepsRecall(t *testing.T) {
	v := clumps(40_000, 24, 30, 0.5)
	if _, err := v.cluster(t.Context()); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(7, 8))
	for _, share := range []float64{1, 0.9, 0.6, 0.3, 0.05, 0.001} {
		for _, kind := range []string{"anywhere", "far away"} {
			t.Run(fmt.Sprintf("%v %s", share, kind), func(t *testing.T) {
				found, wanted := 0, 0
				for range 20 {
					unit := v.row(random.IntN(len(v.rows)))
					keep := make([]bool, len(v.rows))
					for row := range keep {
						keep[row] = random.Float64() < share
					}
					if kind == "far away" {
						excluded := int(float64(len(v.rows)) * (1 - share))
						var p probe
						v.near.nearestLists(&p, unit, len(v.near.ends))
						for n := range v.near.ends {
							from, to := v.near.span(p.nextList(n))
							for _, row := range v.near.order[from:to] {
								keep[row] = excluded <= 0
								excluded--
							}
						}
					}
					allowed := func(row int) bool { return keep[row] }
					lists, share := v.least(true, allowed)
					got, err := v.approximate(t.Context(), unit, measure{}, 10, lists, share, allowed)
					if err != nil {
						t.Fatal(err)
					}
					at := map[int]bool{}
					for _, c := range got {
						at[c.chunk] = true
					}
					for _, c := range nearestRows(v, unit, 10, allowed) {
						wanted++
						if at[c.chunk] {
							found++
						}
					}
				}
				if recall := float64(found) / float64(wanted); recall < 0.95 {
					t.Errorf("recall %.3f", recall)
				}
			})
		}
	}
}
