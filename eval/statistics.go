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
