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
	m[MetricNotEmpty] = yes(strings.TrimSpace(o.Answer) != "")
	if o.Error == "" {
		if o.answerable() {
			m[MetricAnswered] = yes(!o.Abstained)
		} else {
			m[MetricAbstentionRecall] = yes(o.Abstained)
		}
		if o.Abstained {
			m[MetricAbstentionPrecision] = yes(!o.answerable())
		}
	}
	if o.answerable() {
		if share, ok := KeywordShare(o.Answer, o.ExpectedKeywords); ok {
			m[MetricKeywords] = share
		}
		o.measureRetrieval()
	}
	if o.Error == "" && strings.TrimSpace(o.Answer) != "" {
		o.measureCitations()
	}
	o.decide()
}

// Verdicts on an outcome.
const (
	VerdictRight    = "right"    // answered rightly, or rightly declined
	VerdictWrong    = "wrong"    // answered wrongly, or though the documents do not answer
	VerdictDeclined = "declined" // though the documents answer
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
	case o.Abstained && o.answerable():
		o.Verdict = VerdictDeclined
	case o.Abstained || o.answerable() && known && share >= rightFrom:
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
	within := func(pages []string, k int) float64 {
		rank := PageRank(pages, o.Relevant)
		return yes(rank > 0 && rank <= k)
	}
	gains := map[string]int{}
	for _, page := range o.Relevant {
		gains[page] = 1
	}
	pages := sources(o.Retrieved)
	ranking := RankingMetrics(pages, gains)
	m := o.Metrics
	m[MetricPageFirst], m[MetricPageIn5], m[MetricPageIn10] = within(pages, 1), within(pages, 5), within(pages, 10)
	m[MetricMRR], m[MetricNDCG] = ranking[MetricMRR], ranking[MetricNDCG]
	m[MetricPrecision5] = ranking[MetricRecall5] * float64(len(gains)) / 5
	lexical, dense := legSources(o.Retrieved, search.LegLexical), legSources(o.Retrieved, search.LegDense)
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
	if len(o.Citations) > 0 {
		exact := 0
		for _, c := range o.Citations {
			if c.Exact {
				exact++
			}
		}
		m[MetricCitationExact] = float64(exact) / float64(len(o.Citations))
	}
	if o.Abstained {
		return
	}
	if o.Model == offlineName {
		o.measureQuotes()
		return
	}
	if q := o.Quality; q.Claims > 0 {
		m[MetricCitationRecall], m[MetricFaithfulness] = q.CitationRecall, q.Faithfulness
		m[MetricCitationPrecision] = q.CitationPrecision
	}
}

// measureQuotes measures the citations of an answer that is made of quotes: which of
// them stand on a relevant page, and how many of the expected keywords they hold.
func (o *Outcome) measureQuotes() {
	if !o.answerable() || len(o.Citations) == 0 {
		return
	}
	relevant, quotes := 0, ""
	for _, c := range o.Citations {
		relevant += int(yes(slices.Contains(o.Relevant, c.Source)))
		quotes += c.Quote + "\n"
	}
	if len(o.Relevant) > 0 {
		o.Metrics[MetricCitationPrecision] = float64(relevant) / float64(len(o.Citations))
	}
	if share, ok := KeywordShare(quotes, o.ExpectedKeywords); ok {
		o.Metrics[MetricCitationRecall] = share
	}
}
