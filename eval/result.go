package eval

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Result is a run: what was measured, and with what outcome. Its JSON is the
// schema of `ragflow eval --json`.
type Result struct {
	Format     int         `json:"format"` // of this JSON, see [ResultFormat]
	ID         string      `json:"id"`     // of a run that was stored; else empty
	Name       string      `json:"name"`   // given by a person; may be empty
	Started    time.Time   `json:"started"`
	Complete   bool        `json:"complete"` // all questions were asked
	Dataset    DatasetInfo `json:"dataset"`
	Setup      Setup       `json:"setup"`
	JudgeModel string      `json:"judge_model"` // empty: nothing was judged
	Summary    Summary     `json:"summary"`
	Outcomes   []Outcome   `json:"outcomes"` // in the order of the dataset
}

// ResultFormat is the format that this version writes, and the newest it reads.
const ResultFormat = 1

// DatasetInfo names a dataset and what was chosen of it.
type DatasetInfo struct {
	Name      string `json:"name"`
	Hash      string `json:"hash"` // of the whole, see [Dataset.Hash]
	Items     int    `json:"items"`
	Questions int    `json:"questions"` // asked: those chosen by Limit
	Limit     int    `json:"limit,omitempty"`
}

// Setup says what was measured: two runs are to be compared with this in mind.
type Setup struct {
	Version  string            `json:"version"` // of the program
	Go       string            `json:"go"`
	Model    string            `json:"model"`    // that answers; "offline" without one
	Settings map[string]string `json:"settings"` // by name, those that bear on answers
	Index    []IndexInfo       `json:"index"`
}

// IndexInfo is what was indexed of one root.
type IndexInfo struct {
	Root       string `json:"root"`
	Files      int    `json:"files"`
	Chunks     int    `json:"chunks"`
	Generation int64  `json:"generation"`
}

// newResult returns a result without outcomes.
func newResult(d Dataset, o Options) *Result {
	o = o.withDefaults()
	chosen := Dataset{Items: o.choose(d.Items)}
	r := &Result{
		Format: ResultFormat, Started: o.Clock().UTC().Truncate(time.Second), Setup: o.Setup, Outcomes: []Outcome{},
		Dataset: DatasetInfo{
			Name: d.Name, Hash: d.Hash(), Items: len(d.Items), Questions: chosen.Questions(), Limit: o.Limit,
		},
	}
	if o.Judge != nil && o.Judge.Chat != nil {
		r.JudgeModel = o.Judge.Chat.Model()
	}
	return r
}

// Summary is what a run comes to.
type Summary struct {
	Questions int               `json:"questions"` // asked
	Errors    int               `json:"errors"`    // questions that failed
	Troubled  int               `json:"troubled"`  // questions with any trouble, those that failed among them
	Metrics   []MetricSummary   `json:"metrics"`   // in the order of [Metrics], those that apply
	Verdicts  Verdicts          `json:"verdicts"`
	Words     int               `json:"words"` // median length of answers, code aside
	Latency   Latency           `json:"latency_ms"`
	Tokens    Tokens            `json:"tokens"`
	CostUSD   float64           `json:"cost_usd"` // of answering; 0 where the price is not known
	Chunks    ChunkMeans        `json:"chunks"`
	Judged    *JudgedSummary    `json:"judged,omitempty"`
	Certainty *CertaintySummary `json:"certainty,omitempty"` // nil where it tells nothing apart
}

// Verdicts counts the outcomes by their verdict. Those of answerable questions are
// right, wrong, declined or, where nothing is expected, not measured.
type Verdicts struct {
	Right       int `json:"right"`
	Wrong       int `json:"wrong"`
	Declined    int `json:"declined"`
	NotMeasured int `json:"not_measured"`
}

// CertaintySummary tells what the certainty of answers, their grade, is worth. An AUROC
// is left out where one of the two kinds is missing.
type CertaintySummary struct {
	RightAUROC       *float64 `json:"auroc_right,omitempty"` // right answers against wrong ones, see [AUROC]
	AUROC            *float64 `json:"auroc,omitempty"`       // answerable questions against others
	CalibrationError float64  `json:"calibration_error"`     // of answerable questions, see [CalibrationError]
}

// certainty sums up the grades of the questions that did not fail, nil where they tell
// nothing apart.
func (r *Result) certainty() *CertaintySummary {
	var answerable, right []Graded
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if o.Error == "" {
			answerable = append(answerable, Graded{o.Grade.Score, o.answerable()})
		}
		if !o.Abstained && o.Verdict != "" {
			right = append(right, Graded{o.Grade.Score, o.Verdict == VerdictRight})
		}
	}
	s := &CertaintySummary{CalibrationError: CalibrationError(Reliability(answerable, CalibrationBins))}
	if area, ok := AUROC(answerable); ok {
		s.AUROC = &area
	}
	if area, ok := AUROC(right); ok {
		s.RightAUROC = &area
	}
	if s.AUROC == nil && s.RightAUROC == nil {
		return nil
	}
	return s
}

// MetricSummary is the mean of a metric over the questions it applies to.
type MetricSummary struct {
	Name string  `json:"name"`
	N    int     `json:"n"`
	Mean float64 `json:"mean"`
	Interval
	Target  float64 `json:"target,omitempty"`  // 0: none
	Reached *bool   `json:"reached,omitempty"` // the target; nil without one
}

// Latency is how long questions took, in milliseconds.
type Latency struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	Max float64 `json:"max"`
}

// Tokens counts what models were asked while answering.
type Tokens struct {
	Input  int64 `json:"input"`
	Output int64 `json:"output"`
	Total  int64 `json:"total"`
	Calls  int64 `json:"calls"`
}

// ChunkMeans counts chunks: all there are, and how many a question has used, as
// means to one decimal.
type ChunkMeans struct {
	Total         int     `json:"total"`          // that the index holds
	Retrieved     float64 `json:"retrieved"`      // hits of all searches, fused
	Used          float64 `json:"used"`           // cited by the answer
	ContextTokens float64 `json:"context_tokens"` // of those given to the answer
}

// JudgedSummary counts what a judge did.
type JudgedSummary struct {
	Answers      int     `json:"answers"`
	Failed       int     `json:"failed"` // without any score
	Calls        int64   `json:"calls"`
	InputTokens  int64   `json:"input_tokens"`
	OutputTokens int64   `json:"output_tokens"`
	CostUSD      float64 `json:"cost_usd"`
}

// Summarise fills in the summary from the outcomes.
func (r *Result) Summarise() {
	s := Summary{Questions: len(r.Outcomes), Metrics: []MetricSummary{}}
	var latencies []float64
	var words []int
	retrieved, used, tokens := 0, 0, 0
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if o.Error != "" {
			s.Errors++
		} else {
			latencies = append(latencies, o.LatencyMS)
			words = append(words, Words(o.Answer))
		}
		if len(o.Trouble) > 0 {
			s.Troubled++
		}
		switch {
		case o.Verdict == VerdictRight:
			s.Verdicts.Right++
		case o.Verdict == VerdictWrong:
			s.Verdicts.Wrong++
		case o.Verdict == VerdictDeclined:
			s.Verdicts.Declined++
		case o.Error == "":
			s.Verdicts.NotMeasured++
		}
		s.Tokens.Input += o.Usage.InputTokens
		s.Tokens.Output += o.Usage.OutputTokens
		s.Tokens.Calls += o.Usage.Calls
		s.CostUSD += o.CostUSD
		retrieved += o.Chunks.Retrieved
		used += o.Chunks.Used
		tokens += o.Chunks.ContextTokens
		s.judged(o.Judgement)
	}
	s.Tokens.Total = s.Tokens.Input + s.Tokens.Output
	s.Words = Median(words)
	s.Latency = Latency{Percentile(latencies, 0.5), Percentile(latencies, 0.95), Percentile(latencies, 1)}
	for _, root := range r.Setup.Index {
		s.Chunks.Total += root.Chunks
	}
	n := float64(max(1, len(r.Outcomes)))
	mean := func(sum int) float64 { return math.Round(10*float64(sum)/n) / 10 }
	s.Chunks.Retrieved, s.Chunks.Used, s.Chunks.ContextTokens = mean(retrieved), mean(used), mean(tokens)
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
	s.Judged.Calls += j.Calls
	s.Judged.InputTokens += j.InputTokens
	s.Judged.OutputTokens += j.OutputTokens
	s.Judged.CostUSD += j.CostUSD
}

// summarise is one metric over all outcomes; ok is false where it applies to
// none.
func (r *Result) summarise(m Metric) (_ MetricSummary, ok bool) {
	groups := r.groups(func(o *Outcome) (float64, bool) { v, ok := o.Metrics[m.Name]; return v, ok })
	values := slices.Concat(groups...)
	if len(values) == 0 {
		return MetricSummary{}, false
	}
	s := MetricSummary{Name: m.Name, N: len(values), Mean: Mean(values), Interval: bootstrapGroups(groups), Target: m.Target}
	if m.Target > 0 {
		reached := s.Mean >= m.Target
		if m.Above {
			reached = s.Mean > m.Target
		}
		s.Reached = &reached
	}
	return s, true
}

// groups collects values by item, so that the turns of a dialogue stay together.
func (r *Result) groups(value func(*Outcome) (float64, bool)) [][]float64 {
	var out [][]float64
	item := ""
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		v, ok := value(o)
		switch {
		case !ok:
		case len(out) > 0 && o.Item == item:
			out[len(out)-1] = append(out[len(out)-1], v)
		default:
			out = append(out, []float64{v})
			item = o.Item
		}
	}
	return out
}

// Metric returns the summary of a metric by its name.
func (s *Summary) Metric(name string) (MetricSummary, bool) {
	i := slices.IndexFunc(s.Metrics, func(m MetricSummary) bool { return m.Name == name })
	if i < 0 {
		return MetricSummary{}, false
	}
	return s.Metrics[i], true
}

// Differences says in words how two setups differ in what bears on answers.
func (s Setup) Differences(other Setup) []string {
	var out []string
	say := func(what, a, b string) {
		if a != b {
			out = append(out, fmt.Sprintf("%s was %q and is %q", what, a, b))
		}
	}
	say("the version", s.Version, other.Version)
	say("the model", s.Model, other.Model)
	names := slices.AppendSeq(slices.Collect(maps.Keys(s.Settings)), maps.Keys(other.Settings))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		say(name, s.Settings[name], other.Settings[name])
	}
	describe := func(all []IndexInfo) string {
		var parts []string
		for _, i := range all {
			parts = append(parts, fmt.Sprintf("%s with %s, %s, generation %d", i.Root, plural(i.Files, "file"), plural(i.Chunks, "chunk"), i.Generation))
		}
		return strings.Join(parts, "; ")
	}
	say("the index", describe(s.Index), describe(other.Index))
	return out
}
