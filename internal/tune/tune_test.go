package tune_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"example.com/ragflow/eval"
	"example.com/ragflow/internal/tune"
)

const metric = eval.MetricDecision

// run is a run of questions with values of a metric and times.
func run(values []float64, ms func(i int) float64) *eval.Result {
	r := &eval.Result{}
	for i, v := range values {
		id := strconv.Itoa(i)
		r.Outcomes = append(r.Outcomes, eval.Outcome{ID: id, Item: id, Question: id, Metrics: map[string]float64{metric: v}, LatencyMS: ms(i)})
	}
	return r
}

func fast(int) float64 { return 10 }

// settings makes runs of questions that are answered rightly with a probability, independently of each other.
func settings(random *rand.Rand, questions int, right ...float64) (before *eval.Result, trials []tune.Trial) {
	for i, p := range right {
		values := make([]float64, questions)
		for q := range values {
			if random.Float64() < p {
				values[q] = 1
			}
		}
		if i == 0 {
			before = run(values, fast)
			continue
		}
		trials = append(trials, tune.Trial{Settings: map[string]string{"N": strconv.Itoa(i)}, Run: run(values, fast)})
	}
	return before, trials
}

// TestPlanted finds a better setting among ones that only differ by chance, on most synthetic sets.
func TestPlanted(t *testing.T) {
	random, found := rand.New(rand.NewPCG(1, 1)), 0
	const sets = 40
	for range sets {
		before, trials := settings(random, 60, 0.5, 0.5, 0.5, 0.85, 0.5, 0.5)
		r, err := tune.Choose(tune.Goal{Metric: metric, Target: 0.7}, before, trials)
		if err != nil {
			t.Fatal(err)
		}
		if r.Recommended && r.Best["N"] == "3" && *r.Reached && r.After > r.Before {
			found++
		}
	}
	if found < 36 {
		t.Errorf("the better setting was found in %d of %d sets", found, sets)
	}
}

// TestChance recommends a setting that is better by chance at most as often as the interval allows.
func TestChance(t *testing.T) {
	random, taken, best := rand.New(rand.NewPCG(2, 2)), 0, 0
	const sets = 100
	for range sets {
		before, trials := settings(random, 40, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6)
		r, err := tune.Choose(tune.Goal{Metric: metric}, before, trials)
		if err != nil {
			t.Fatal(err)
		}
		if r.Recommended {
			taken++
		}
		for _, row := range r.Trials {
			if row.Low > 0 { // what one would take who looks at each setting alone
				best++
				break
			}
		}
	}
	if taken > sets*5/100 {
		t.Errorf("recommended in %d of %d sets of pure chance", taken, sets)
	}
	if best < 2*taken {
		t.Errorf("without cross-validation %d sets would have a winner, with it %d", best, taken)
	}
	t.Logf("recommended in %d of %d sets; single intervals above zero in %d", taken, sets, best)
}

// TestFaster takes a faster setting if answers stay as good, and none that makes them worse.
func TestFaster(t *testing.T) {
	values := make([]float64, 30)
	for i := range values {
		values[i] = 1
	}
	worse := append([]float64{0}, values[1:]...)
	slow := func(i int) float64 { return 1500 + float64(i) }
	quick := func(i int) float64 { return 700 + float64(i) }
	trials := []tune.Trial{
		{Settings: map[string]string{"A": "hasty"}, Run: run(worse, fast)},
		{Settings: map[string]string{"B": "quick"}, Run: run(values, quick)},
		{Settings: map[string]string{"C": "broken"}, Fault: "no such model"},
	}
	r, err := tune.Choose(tune.Goal{Metric: tune.Latency, Target: 1000}, run(values, slow), trials)
	if err != nil || !r.Recommended || tune.Text(r.Best) != "B=quick" || !*r.Reached || r.Gain != 800 || r.Low != 800 {
		t.Errorf("%+v, %v", r, err)
	}
	if got := r.Trials[0].Refused; !strings.HasPrefix(got, "decision_accuracy falls by 0.033") {
		t.Errorf("the hasty one: %q", got)
	}
	if r.Trials[2].Refused != "no such model" {
		t.Errorf("%+v", r.Trials[2])
	}
}

// TestNothingToCompare reports a metric that was not measured.
func TestNothingToCompare(t *testing.T) {
	if _, err := tune.Choose(tune.Goal{Metric: eval.MetricMRR}, run([]float64{1, 0}, fast), nil); err == nil || !strings.Contains(err.Error(), "mrr was measured of 0 items") {
		t.Errorf("%v", err)
	}
	r, err := tune.Choose(tune.Goal{Metric: metric}, run([]float64{1, 0}, fast), nil)
	if err != nil || r.Recommended || r.Before != 0.5 || r.After != 0.5 {
		t.Errorf("without trials: %+v, %v", r, err)
	}
}
