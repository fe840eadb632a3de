package eval

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Interval is a 95 % confidence interval.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// resamples is how many samples a bootstrap draws.
const resamples = 2000

// Bootstrap is the 95 % interval of the mean of values: percentiles of the
// means of 2,000 samples drawn with replacement from a fixed seed, so that the
// same values give the same interval.
func Bootstrap(values []float64) Interval {
	groups := make([][]float64, len(values))
	for i := range values {
		groups[i] = values[i : i+1]
	}
	return bootstrapGroups(groups)
}

// bootstrapGroups is Bootstrap where values belong together: groups are drawn,
// not values. The turns of a dialogue stand or fall together; to draw them one
// by one would make the interval too narrow.
func bootstrapGroups(groups [][]float64) Interval {
	if len(groups) == 0 {
		return Interval{}
	}
	random := rand.New(rand.NewPCG(1, uint64(len(groups))))
	means := make([]float64, resamples)
	for i := range means {
		sum, n := 0.0, 0
		for range groups {
			g := groups[random.IntN(len(groups))]
			for _, v := range g {
				sum += v
			}
			n += len(g)
		}
		means[i] = sum / float64(max(1, n))
	}
	slices.Sort(means)
	return Interval{Low: means[resamples*25/1000], High: means[resamples*975/1000-1]}
}

const (
	// exactFlips is the greatest number of groups for which every choice of
	// signs is looked at: 2^14 of them.
	exactFlips = 14
	// randomFlips is how many choices are drawn for more groups.
	randomFlips = 20_000
)

// randomisation is the two-sided p-value of the paired randomisation test
// (Fisher; for retrieval Smucker, Allan and Carterette 2007): how often a
// difference in the mean of at least this size comes about when the sign of each
// group's differences is left to chance. The values of a group, the turns of a
// dialogue, change sign together. It is exact for up to 14 groups, else drawn
// from a fixed seed, where the observed choice counts as one of the draws.
func randomisation(groups [][]float64) float64 {
	sums := make([]float64, 0, len(groups))
	for _, g := range groups {
		sum := 0.0
		for _, v := range g {
			sum += v
		}
		if sum != 0 { // its sign changes nothing
			sums = append(sums, sum)
		}
	}
	total := 0.0
	for _, s := range sums {
		total += s
	}
	// Sums in another order differ in the last bits.
	least := math.Abs(total) * (1 - 1e-9)
	if len(sums) <= exactFlips {
		beyond := 0
		for signs := range 1 << len(sums) {
			sum := 0.0
			for i, s := range sums {
				if signs>>i&1 == 1 {
					s = -s
				}
				sum += s
			}
			if math.Abs(sum) >= least {
				beyond++
			}
		}
		return float64(beyond) / float64(int(1)<<len(sums))
	}
	random := rand.New(rand.NewPCG(2, uint64(len(sums))))
	beyond := 1
	for range randomFlips {
		sum, bits := 0.0, uint64(0)
		for i, s := range sums {
			if i%64 == 0 {
				bits = random.Uint64()
			}
			if bits>>(i%64)&1 == 1 {
				s = -s
			}
			sum += s
		}
		if math.Abs(sum) >= least {
			beyond++
		}
	}
	return float64(beyond) / (randomFlips + 1)
}

// Percentile is the value below which, or at which, a share p of the values
// lies (nearest rank); 0 of none.
func Percentile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(p * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}
