package eval

import (
	"slices"
	"strings"

	"example.com/ragflow/search"
)

// measure computes the metrics of an outcome that need no model.
func (o *Outcome) measure() {
	m := map[string]float64{}
	o.Metrics = m
	m[MetricNotEmpty] = yes(strings.TrimSpace(o.Reply.Answer) != "")
	if o.Error == "" {
		if o.answerable() {
			m[MetricAnswered] = yes(!o.Reply.Abstained)
		} else {
			m[MetricAbstentionRecall] = yes(o.Reply.Abstained)
		}
		if o.Reply.Abstained {
			m[MetricAbstentionPrecision] = yes(!o.answerable())
		}
	}
	if o.answerable() {
		if share, ok := KeywordShare(o.Reply.Answer, o.ExpectedKeywords); ok {
			m[MetricKeywords] = share
		}
		o.measureRetrieval()
	}
	if o.Error == "" && strings.TrimSpace(o.Reply.Answer) != "" {
		o.measureCitations()
	}
	o.decide()
}

// Verdicts on an outcome.
const (
	VerdictRight    = "right"    // a right answer, or a right refusal
	VerdictWrong    = "wrong"    // a wrong answer, or an answer that the documents do not have
	VerdictDeclined = "declined" // a refusal, although the documents have the answer

	notMeasured = "not_measured" // no verdict
)

// rightFrom is the least share of expected keywords, or judged correctness, of a right answer.
const rightFrom = 0.5

// decide returns the verdict. A judge's correctness decides or, without a judge, the keywords. Without
// expected keywords there is no verdict.
func (o *Outcome) decide() {
	o.Verdict = ""
	delete(o.Metrics, MetricDecision)
	share, known := o.Metrics[MetricCorrectness]
	if !known {
		share, known = o.Metrics[MetricKeywords]
	}
	switch {
	case o.Error != "":
	case o.Reply.Abstained && o.answerable():
		o.Verdict = VerdictDeclined
	case o.Reply.Abstained || o.answerable() && known && share >= rightFrom:
		o.Verdict = VerdictRight
	case !o.answerable() || known:
		o.Verdict = VerdictWrong
	}
	if o.Verdict != "" {
		o.Metrics[MetricDecision] = yes(o.Verdict == VerdictRight)
	}
}

func yes(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func (o *Outcome) measureRetrieval() {
	if len(o.Relevant) == 0 {
		return
	}
	within := func(found []string, k int) float64 {
		rank := PageRank(found, o.Relevant)
		return yes(rank > 0 && rank <= k)
	}
	gains := map[string]int{}
	for _, page := range o.Relevant {
		gains[page] = 1
	}
	found := pages(o.Reply.Retrieved, "")
	ranking := RankingMetrics(found, gains)
	m := o.Metrics
	m[MetricPageFirst], m[MetricPageIn5], m[MetricPageIn10] = within(found, 1), within(found, 5), within(found, 10)
	m[MetricMRR], m[MetricNDCG] = ranking[MetricMRR], ranking[MetricNDCG]
	m[MetricPrecision5] = ranking[MetricRecall5] * float64(len(gains)) / 5
	lexical, dense := pages(o.Reply.Retrieved, search.LegLexical), pages(o.Reply.Retrieved, search.LegDense)
	if len(lexical) > 0 && len(dense) > 0 { // with one leg they equal the whole search
		m[MetricLexicalIn10], m[MetricDenseIn10] = within(lexical, 10), within(dense, 10)
	}
}

// measureCitations checks the citations of an answer: whether each quote is in its file, and whether the
// sources support what cites them. In a refusal only quotes count.
//
// An answer made of quotes is supported by definition, so its faithfulness is not measured; its citations are
// measured by what is expected.
func (o *Outcome) measureCitations() {
	m := o.Metrics
	if len(o.Exact) > 0 {
		exact := 0.0
		for _, e := range o.Exact {
			exact += yes(e)
		}
		m[MetricCitationExact] = exact / float64(len(o.Exact))
	}
	if o.Reply.Abstained {
		return
	}
	if o.Reply.Model == offlineName {
		o.measureQuotes()
		return
	}
	if q := o.Reply.Quality; q.Claims > 0 {
		m[MetricCitationRecall], m[MetricFaithfulness] = q.CitationRecall, q.Faithfulness
		m[MetricCitationPrecision] = q.CitationPrecision
	}
}

// measureQuotes measures the citations of an answer made of quotes: how many are on a relevant page, and how
// many of the expected keywords they contain.
func (o *Outcome) measureQuotes() {
	if !o.answerable() || len(o.Reply.Citations) == 0 {
		return
	}
	relevant, quotes := 0, ""
	for _, c := range o.Reply.Citations {
		relevant += int(yes(slices.Contains(o.Relevant, c.Source)))
		quotes += c.Quote + "\n"
	}
	if len(o.Relevant) > 0 {
		o.Metrics[MetricCitationPrecision] = float64(relevant) / float64(len(o.Reply.Citations))
	}
	if share, ok := KeywordShare(quotes, o.ExpectedKeywords); ok {
		o.Metrics[MetricCitationRecall] = share
	}
}
