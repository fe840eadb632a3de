package index

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Metrics: how near two vectors are. A greater score is nearer, always.
const (
	// MetricCosine is the cosine of the angle between them, 1 minus the cosine
	// distance: within −1 and 1, and 1 for texts that are the same.
	MetricCosine = "cosine"
	// MetricDot is their scalar product, for models whose vectors are longer where a
	// passage matters more. It has no bounds.
	MetricDot = "dot"
	// MetricL2 is 1 minus their Euclidean distance: 1 for the same vectors, below 0
	// where they are more than 1 apart.
	MetricL2 = "l2"
)

// Metrics lists the metrics, the default first.
func Metrics() []string { return []string{MetricCosine, MetricDot, MetricL2} }

// CheckMetric tells that there is no such metric; the empty one is MetricCosine.
func CheckMetric(metric string) error {
	if metric != "" && !slices.Contains(Metrics(), metric) {
		return fmt.Errorf("metric %q is not one of %s", metric, strings.Join(Metrics(), ", "))
	}
	return nil
}

// measure makes the scores of a query. Vectors are kept at length 1, with the length
// they had.
type measure struct {
	metric string
	length float64 // of the query
}

// score is the score of a vector by its cosine with the query and its length.
func (m measure) score(cosine float64, length float32) float64 {
	l := float64(length)
	switch m.metric {
	case MetricDot:
		return m.length * l * cosine
	case MetricL2:
		return 1 - math.Sqrt(max(0, m.length*m.length+l*l-2*m.length*l*cosine))
	}
	return cosine
}

// byAngle reports whether vectors whose lengths are even are in the same order as by
// their cosines, which all metrics agree on then.
func (m measure) byAngle(even bool) bool { return even || m.metric == MetricCosine || m.metric == "" }

// evenLengths is by how much, of the greatest, lengths may differ that count as one:
// what rounding makes of models that bring theirs to length 1.
const evenLengths = 1e-4

// even reports whether lengths are all one.
func even(lengths []float32) bool {
	if len(lengths) == 0 {
		return true
	}
	return slices.Max(lengths)-slices.Min(lengths) <= evenLengths*slices.Max(lengths)
}
