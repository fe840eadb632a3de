package eval

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"example.com/ragflow"
)

// Result is a run: what was measured, with its outcomes. Its JSON is the schema of `ragflow eval --json`.
type Result struct {
	Format     int         `json:"format"` // of this JSON
	Started    time.Time   `json:"started"`
	Complete   bool        `json:"complete"` // all questions were asked
	Dataset    DatasetInfo `json:"dataset"`
	Model      string      `json:"model"`       // answers questions; "offline" without a model
	JudgeModel string      `json:"judge_model"` // empty: no judge
	Summary    Summary     `json:"summary"`
	Outcomes   []Outcome   `json:"outcomes"` // in the order of the dataset
}

// resultFormat is the format that this version reads and writes.
const resultFormat = 2

// DatasetInfo identifies a dataset.
type DatasetInfo struct {
	Name      string `json:"name"`
	Items     int    `json:"items"`
	Questions int    `json:"questions"`
}

// Summary holds the figures of a run.
type Summary struct {
	Questions int             `json:"questions"` // asked
	Errors    int             `json:"errors"`    // questions that failed
	Metrics   []MetricSummary `json:"metrics"`   // in the order of [Metrics], those that apply
	Verdicts  map[string]int  `json:"verdicts"`  // number of questions by verdict, without failed ones; "not_measured" if there is none
	Latency   Latency         `json:"latency_ms"`
	Tokens    Tokens          `json:"tokens"`
	CostUSD   float64         `json:"cost_usd"`           // of answering, by the models whose price is known
	Unpriced  []string        `json:"unpriced,omitempty"` // models that answered and whose price is not known
	Judged    *JudgedSummary  `json:"judged,omitempty"`
	Certainty *float64        `json:"certainty_auroc,omitempty"` // of right answers against wrong ones; nil if there are none of one kind
}

// MetricSummary is the mean of a metric over the questions it applies to.
type MetricSummary struct {
	Name string  `json:"name"`
	N    int     `json:"n"`
	Mean float64 `json:"mean"`
	Interval
	Target  float64 `json:"target,omitempty"`  // 0: none
	Reached *bool   `json:"reached,omitempty"` // whether the target was reached; nil without one
}

// Latency is the duration of questions in milliseconds.
type Latency struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	Max float64 `json:"max"`
}

// Tokens counts the tokens of model calls.
type Tokens struct {
	Input  int64 `json:"input"`
	Output int64 `json:"output"`
	Total  int64 `json:"total"`
	Calls  int64 `json:"calls"`
}

func (t *Tokens) add(u ragflow.Usage) {
	t.Input += u.InputTokens
	t.Output += u.OutputTokens
	t.Total += u.InputTokens + u.OutputTokens
	t.Calls += u.Calls
}

// JudgedSummary counts a judge's calls.
type JudgedSummary struct {
	Answers int     `json:"answers"`
	Failed  int     `json:"failed"` // without any score
	Tokens  Tokens  `json:"tokens"`
	CostUSD float64 `json:"cost_usd"`
}

// setSummary computes the summary from the outcomes.
func (r *Result) setSummary() {
	s := Summary{Questions: len(r.Outcomes), Metrics: []MetricSummary{}, Verdicts: map[string]int{}}
	var latencies []float64
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if o.Error != "" {
			s.Errors++
		} else {
			latencies = append(latencies, o.LatencyMS)
			s.Verdicts[cmp.Or(o.Verdict, notMeasured)]++
		}
		s.Tokens.add(o.Reply.Usage)
		s.CostUSD += o.Reply.CostUSD
		s.Unpriced = distinct(append(s.Unpriced, o.Reply.Unpriced...))
		s.judged(o.Judgement)
	}
	s.Latency = Latency{percentile(latencies, 0.5), percentile(latencies, 0.95), percentile(latencies, 1)}
	for _, m := range Metrics() {
		if summary, ok := r.summarise(m); ok {
			s.Metrics = append(s.Metrics, summary)
		}
	}
	s.Certainty = r.certainty()
	r.Summary = s
}

func (s *Summary) judged(j *Judgement) {
	if j == nil {
		return
	}
	if s.Judged == nil {
		s.Judged = &JudgedSummary{}
	}
	s.Judged.Answers++
	if len(j.Scores) == 0 {
		s.Judged.Failed++
	}
	s.Judged.Tokens.add(j.Usage)
	s.Judged.CostUSD += j.CostUSD
}

// summarise summarizes a metric over all outcomes; ok is false if it applies to none.
func (r *Result) summarise(m Metric) (_ MetricSummary, ok bool) {
	var values sample
	best := 0.0
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if v, ok := o.Metrics[m.Name]; ok {
			values.add(o.Item, v)
			best += o.best(m.Name)
		}
	}
	n, mean, interval := values.mean()
	s := MetricSummary{Name: m.Name, N: n, Mean: mean, Interval: interval}
	if m.Target > 0 && n > 0 && m.reached(best/float64(n)) {
		reached := m.reached(mean)
		s.Target, s.Reached = m.Target, &reached
	}
	return s, n > 0
}

// reached reports whether a mean reaches the target.
func (m Metric) reached(mean float64) bool { return mean > m.Target || mean == m.Target && !m.Above }

// best returns the largest possible value of a metric for an outcome: five pages cannot include more relevant
// ones than there are.
func (o *Outcome) best(metric string) float64 {
	if metric == MetricPrecision5 {
		return min(1, float64(len(o.Relevant))/5)
	}
	return 1
}

// Metric returns the summary of a metric by its name.
func (s *Summary) Metric(name string) (MetricSummary, bool) {
	i := slices.IndexFunc(s.Metrics, func(m MetricSummary) bool { return m.Name == name })
	if i < 0 {
		return MetricSummary{}, false
	}
	return s.Metrics[i], true
}

// ErrRunFormat is the error of a file that is not a run.
var ErrRunFormat = errors.New("not a run of ragflow eval, or of another version")

// ReadResult reads a run from a file, as `ragflow eval --json` writes it. Other files are an error that
// matches ErrRunFormat.
func ReadResult(path string) (*Result, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the run: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := readAll(f, maxResultBytes)
	if err != nil {
		return nil, fmt.Errorf("read the run %s: %w", path, err)
	}
	var r Result
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &r); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrRunFormat, err)
	}
	if r.Format != resultFormat {
		return nil, fmt.Errorf("%s: %w", path, ErrRunFormat)
	}
	r.setSummary()
	return &r, nil
}
