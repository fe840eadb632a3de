package eval

import (
	"slices"
	"strings"

	"example.com/ragflow/search"
)

// measure fills in what can be told of an outcome without a model.
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
	VerdictRight    = "right"    // answered rightly, or rightly declined
	VerdictWrong    = "wrong"    // answered wrongly, or though the documents do not answer
	VerdictDeclined = "declined" // though the documents answer

	notMeasured = "not_measured" // no verdict
)

// rightFrom is the share of expected keywords, or the judged correctness, from
// which on an answer counts as right.
const rightFrom = 0.5

// decide gives the verdict. An answer is right by what a judge says of its
// correctness or, without a judge, by its keywords; where a question expects no
// keywords there is no verdict, for correctness was not measured.
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
	if len(lexical) > 0 && len(dense) > 0 { // one leg alone is the whole search
		m[MetricLexicalIn10], m[MetricDenseIn10] = within(lexical, 10), within(dense, 10)
	}
}

// measureCitations checks what an answer cites: whether each quote stands in
// its file, and whether the sources say what they are cited for. An answer that
// declines states nothing about the documents, so that only its quotes count.
//
// An answer that is made of quotes says what its sources say by definition, which
// tells nothing of its worth: there, what is expected measures the citations, and
// faithfulness is not measured.
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

// measureQuotes measures the citations of an answer that is made of quotes: which of
// them stand on a relevant page, and how many of the expected keywords they hold.
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
