// Package tune decides which of several settings answers a person's own questions better, and whether that is more
// than chance.
//
//	report, err := tune.Choose(tune.Goal{Metric: "ndcg_10"}, before, trials)
//
// The best of many settings shows a gain even if all are the same. So the gain is measured by
// cross-validation: the questions are split into folds, the best setting is chosen on all folds but one, and what it
// gains counts on the one that was left out. The interval of that gain is a bootstrap over the items. It leaves out that
// the same items chose, so it is a little narrow, and there is a second test: how often the best of as many settings
// gains as much if the signs of the gains of each item are thrown by chance (Westfall and Young 1993, maxT). A setting is
// recommended only if the whole interval is above zero and that happens at most once in forty.
package tune

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"example.com/ragflow/eval"
)

// Goals that are no metrics of package eval. Lower is better.
const (
	Latency = "latency" // mean time of a question in milliseconds
	Cost    = "cost"    // mean cost of a question in US dollars
)

// Goal is what is to become better.
type Goal struct {
	Metric string  `json:"metric"` // of [eval.Metrics], Latency or Cost
	Target float64 `json:"target"` // in the unit of the metric; 0: none
}

// lower reports whether a lower value is better.
func (g Goal) lower() bool { return g.Metric == Latency || g.Metric == Cost }

// of returns the value of a question; ok is false if it was not measured.
func (g Goal) of(o *eval.Outcome) (value float64, ok bool) {
	switch g.Metric {
	case Latency:
		return o.LatencyMS, o.Error == ""
	case Cost:
		return o.Reply.CostUSD, o.Error == ""
	}
	value, ok = o.Metrics[g.Metric]
	return value, ok
}

// Trial is a choice of settings with its run.
type Trial struct {
	Settings map[string]string // values by the names of settings
	Before   *eval.Result      // the run without them, for this trial alone; nil: that of [Choose]
	Run      *eval.Result      // nil: they could not be tried
	Fault    string            // why Run is nil
}

// Report is what was found. Its JSON is the schema of `ragflow eval optimize --json`.
type Report struct {
	Goal
	Questions     int               `json:"questions"` // that the goal was measured of
	Before        float64           `json:"before"`    // mean without a change
	Trials        []Row             `json:"trials"`    // in the order they were tried
	Best          map[string]string `json:"best"`      // settings of the best trial; empty if none is better
	After         float64           `json:"after"`     // mean with Best
	Gain          float64           `json:"gain"`      // by cross-validation, in the direction that is better
	eval.Interval                   // of Gain
	Chance        float64           `json:"chance"`            // probability that the best of so many settings gains as much if none is better
	Recommended   bool              `json:"recommended"`       // Gain is above zero with its interval, and Chance at most 0.025
	Reached       *bool             `json:"reached,omitempty"` // whether the target is reached, with Best if it is recommended; nil without a target
	Written       string            `json:"written"`           // file that Best was written to; empty: none
}

// Row is one trial of a report.
type Row struct {
	Settings      map[string]string `json:"settings"`
	Mean          float64           `json:"mean"`
	Gain          float64           `json:"gain"` // over the questions that were also asked before, in the direction that is better
	eval.Interval                   // of Gain
	Refused       string            `json:"refused"` // why it may not be chosen; empty: it may
}

const (
	maxFolds  = 5
	rounds    = 20   // splits into folds, each in another order
	throws    = 2000 // of the signs of gains
	maxChance = 0.025
	tolerated = 0.01 // by how much the mean of a metric may fall if answers become faster or cheaper
)

// Choose compares trials with the run before. The error says why nothing can be compared.
func Choose(g Goal, before *eval.Result, trials []Trial) (*Report, error) {
	r := &Report{Goal: g, Trials: []Row{}, Best: map[string]string{}}
	var gains [][]float64 // of each trial that may be chosen, by item
	var chosen []int      // index of that trial
	sum, items := 0.0, itemsOf(g, before)
	for i := range before.Outcomes {
		if v, ok := g.of(&before.Outcomes[i]); ok {
			r.Questions++
			sum += v
		}
	}
	if len(items) < 2 {
		return nil, fmt.Errorf("%s was measured of %d items of the dataset; two at least are needed, and some thirty to tell a gain from chance", g.Metric, len(items))
	}
	r.Before = sum / float64(r.Questions)
	for i, t := range trials {
		row, byItem := compare(g, items, before, t)
		r.Trials = append(r.Trials, row)
		if row.Refused == "" {
			gains, chosen = append(gains, byItem), append(chosen, i)
		}
	}
	validated := crossValidate(gains, len(items))
	r.Gain, r.Interval = eval.Mean(validated), eval.Bootstrap(validated)
	r.After, r.Chance = r.Before, chance(gains, len(items))
	if at := best(gains, func(int) bool { return true }); at >= 0 {
		row := r.Trials[chosen[at]]
		r.Best, r.After = maps.Clone(row.Settings), row.Mean
		r.Recommended = r.Low > 0 && r.Chance <= maxChance
	}
	if g.Target > 0 {
		value := r.Before
		if r.Recommended {
			value = r.After
		}
		reached := value >= g.Target
		if g.lower() {
			reached = value <= g.Target
		}
		r.Reached = &reached
	}
	return r, nil
}

// itemsOf returns the items with a question that the goal is measured of.
func itemsOf(g Goal, r *eval.Result) (items []string) {
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if _, ok := g.of(o); ok && (len(items) == 0 || items[len(items)-1] != o.Item) {
			items = append(items, o.Item)
		}
	}
	return items
}

// compare returns the row of a trial, and its gain for each item.
func compare(g Goal, items []string, before *eval.Result, t Trial) (Row, []float64) {
	row := Row{Settings: t.Settings, Refused: t.Fault}
	if t.Run == nil {
		return row, nil
	}
	before = cmp.Or(t.Before, before)
	after := map[string]*eval.Outcome{}
	for i := range t.Run.Outcomes {
		after[t.Run.Outcomes[i].ID] = &t.Run.Outcomes[i]
	}
	byItem := map[string][]float64{}
	var values []float64
	for i := range before.Outcomes {
		o := &before.Outcomes[i]
		was, ok := g.of(o)
		other := after[o.ID]
		if !ok || other == nil {
			continue
		}
		is, ok := g.of(other)
		if !ok {
			row.Refused = fmt.Sprintf("%s of question %s was not measured", g.Metric, o.ID)
			return row, nil
		}
		values = append(values, is)
		if g.lower() {
			was, is = -was, -is
		}
		byItem[o.Item] = append(byItem[o.Item], is-was)
	}
	gains := make([]float64, len(items))
	for i, item := range items { // a dialogue of many questions weighs more, so that their mean is that of the questions
		for _, gain := range byItem[item] {
			gains[i] += gain * float64(len(items)) / float64(len(values))
		}
	}
	row.Mean, row.Gain, row.Interval = eval.Mean(values), eval.Mean(gains), eval.Bootstrap(gains)
	row.Refused = harm(g, before, t.Run)
	return row, gains
}

// harm says what a trial makes worse, so that it may not be chosen; empty: nothing.
func harm(g Goal, before, after *eval.Result) string {
	if n := after.Summary.Errors - before.Summary.Errors; n > 0 {
		return fmt.Sprintf("%d more questions failed", n)
	}
	if g.Metric == Cost && len(after.Summary.Unpriced) > 0 {
		return "the price of " + strings.Join(after.Summary.Unpriced, ", ") + " is not known"
	}
	c, err := eval.Compare(before, after)
	if err != nil {
		return err.Error()
	}
	for _, m := range c.Metrics {
		if m.Name != g.Metric && (m.Fell() || g.lower() && m.Difference < -tolerated) {
			return fmt.Sprintf("%s falls by %.3f", m.Name, -m.Difference)
		}
	}
	return ""
}

// best returns the trial with the highest mean gain over some items, the first one of equals; -1 if none gains.
func best(gains [][]float64, in func(item int) bool) int {
	at, highest := -1, 0.0
	for trial, byItem := range gains {
		sum, n := 0.0, 0
		for item, gain := range byItem {
			if in(item) {
				sum += gain
				n++
			}
		}
		if mean := sum / float64(max(1, n)); mean > highest {
			at, highest = trial, mean
		}
	}
	return at
}

// chance returns the share of throws of the signs of all items with which the best trial gains at least as much as it does.
func chance(gains [][]float64, items int) float64 {
	random := rand.New(rand.NewPCG(2, uint64(items)))
	signs := make([]float64, items)
	highest := func() (out float64) {
		for _, byItem := range gains {
			sum := 0.0
			for item, gain := range byItem {
				sum += signs[item] * gain
			}
			out = max(out, sum)
		}
		return out
	}
	for i := range signs {
		signs[i] = 1
	}
	observed, reached := highest(), 0
	for range throws {
		for i := range signs {
			signs[i] = float64(2*random.IntN(2) - 1)
		}
		if highest() >= observed-1e-9 {
			reached++
		}
	}
	return float64(reached+1) / (throws + 1)
}

// crossValidate returns for each item what the trial gains that is best on other items, as a mean over several splits.
func crossValidate(gains [][]float64, items int) []float64 {
	out := make([]float64, items)
	random := rand.New(rand.NewPCG(1, uint64(items)))
	folds := min(maxFolds, items)
	for range rounds {
		fold := random.Perm(items)
		for k := range folds {
			at := best(gains, func(item int) bool { return fold[item]%folds != k })
			for item := range items {
				if at >= 0 && fold[item]%folds == k {
					out[item] += gains[at][item]
				}
			}
		}
	}
	for item := range out {
		out[item] /= rounds
	}
	return out
}

// Text writes settings as NAME=VALUE, in order.
func Text(settings map[string]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		out = append(out, name+"="+settings[name])
	}
	return strings.Join(out, " ")
}
