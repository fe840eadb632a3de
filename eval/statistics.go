package eval

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
)

// Interval is a 95 % confidence interval.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// resamples is the number of samples of a bootstrap.
const resamples = 2000

// Bootstrap returns the 95 % interval of the mean of values: percentiles of the means of 2,000 samples drawn
// with replacement from a fixed seed, so that the same values give the same interval.
func Bootstrap(values []float64) Interval {
	var s sample
	for i, v := range values {
		s.add(strconv.Itoa(i), v)
	}
	_, _, interval := s.mean()
	return interval
}

// sample is values of questions. Those of one item, the turns of a dialogue, depend on each other and are
// drawn together; separate draws would make the interval too narrow.
type sample struct {
	groups [][]float64
	item   string // of the last group
}

func (s *sample) add(item string, v float64) {
	if len(s.groups) == 0 || item != s.item {
		s.groups = append(s.groups, nil)
	}
	last := len(s.groups) - 1
	s.groups[last], s.item = append(s.groups[last], v), item
}

// mean returns the number of values, their mean and its interval.
func (s *sample) mean() (n int, mean float64, interval Interval) {
	values := slices.Concat(s.groups...)
	if len(values) == 0 {
		return 0, 0, Interval{}
	}
	random := rand.New(rand.NewPCG(1, uint64(len(s.groups))))
	means := make([]float64, resamples)
	for i := range means {
		sum, n := 0.0, 0
		for range s.groups {
			g := s.groups[random.IntN(len(s.groups))]
			for _, v := range g {
				sum += v
			}
			n += len(g)
		}
		means[i] = sum / float64(max(1, n))
	}
	slices.Sort(means)
	return len(values), Mean(values), Interval{Low: means[resamples*25/1000], High: means[resamples*975/1000-1]}
}

// percentile returns the value that a share p of the values does not exceed (nearest rank); 0 without values.
func percentile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(p * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}
