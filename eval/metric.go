package eval

// Names of metrics. Each is a number from 0 to 1 for a question; higher is better. The figure of a run is the
// mean over the questions it applies to.
const (
	MetricNotEmpty            = "answer_not_empty"
	MetricKeywords            = "expected_keywords_present"
	MetricAnswered            = "answered"
	MetricAbstentionPrecision = "abstention_precision"
	MetricAbstentionRecall    = "abstention_recall"
	MetricDecision            = "decision_accuracy"
	MetricCitationExact       = "citation_exact"
	MetricCitationPrecision   = "citation_precision"
	MetricCitationRecall      = "citation_recall"
	MetricFaithfulness        = "faithfulness"
	MetricPageFirst           = "page_first"
	MetricPageIn5             = "page_in_5"
	MetricPageIn10            = "page_in_10"
	MetricLexicalIn10         = "page_in_10_lexical"
	MetricDenseIn10           = "page_in_10_dense"
	MetricMRR                 = "mrr"
	MetricNDCG                = "ndcg_10"
	MetricPrecision5          = "precision_5"
	MetricCorrectness         = "qa_correctness"
	MetricRelevance           = "relevance"
	MetricCompleteness        = "completeness"
	MetricCoherence           = "coherence"
)

// Metric describes a metric.
type Metric struct {
	Name   string
	About  string  // one line, for people
	Target float64 // as systems we compare with claim for themselves; 0: none
	Above  bool    // the value must exceed the target
	Judged bool    // needs a judge
}

// Metrics returns all metrics in the order of reports.
//
// The targets are prescribed: precision@5 above 0.80, citation accuracy above 95 %, citation precision above
// 0.80, correctness above 0.90, relevance above 0.85, fused search 90 %, vector search 85 %, lexical search
// 70 %, success 94.2 %.
func Metrics() []Metric {
	return []Metric{
		{Name: MetricNotEmpty, About: "there is an answer at all"},
		{Name: MetricKeywords, About: "share of the expected keywords that the answer holds"},
		{Name: MetricAnswered, About: "answerable questions that were answered"},
		{Name: MetricAbstentionPrecision, About: "declined questions that the documents do not answer"},
		{Name: MetricAbstentionRecall, About: "unanswerable questions that were declined"},
		{Name: MetricDecision, About: "questions answered rightly (half of the keywords, or judged so) or rightly declined", Target: 0.942},
		{Name: MetricCitationExact, About: "citations whose quote stands at its place in its file", Target: 0.95, Above: true},
		{Name: MetricCitationPrecision, About: "marks whose source says the statement; of quotes, those on a relevant page", Target: 0.80, Above: true},
		{Name: MetricCitationRecall, About: "statements that carry a mark; of quotes, the share of expected keywords in them"},
		{Name: MetricFaithfulness, About: "statements that a source says; not measured of quotes"},
		{Name: MetricPageFirst, About: "a relevant page is first"},
		{Name: MetricPageIn5, About: "a relevant page is among the first 5"},
		{Name: MetricPageIn10, About: "a relevant page is among the first 10", Target: 0.90},
		{Name: MetricLexicalIn10, About: "the same, by the search by words alone", Target: 0.70},
		{Name: MetricDenseIn10, About: "the same, by the search by meaning alone", Target: 0.85},
		{Name: MetricMRR, About: "mean of 1/rank of the first relevant page"},
		{Name: MetricNDCG, About: "order of the first 10 pages, against the best order"},
		{Name: MetricPrecision5, About: "relevant pages among the first 5, divided by 5", Target: 0.80, Above: true},
		{Name: MetricCorrectness, About: "judged: the answer says what was expected", Target: 0.90, Above: true, Judged: true},
		{Name: MetricRelevance, About: "judged: the answer is about the question", Target: 0.85, Above: true, Judged: true},
		{Name: MetricCompleteness, About: "judged: the answer leaves nothing out", Judged: true},
		{Name: MetricCoherence, About: "judged: the answer reads well", Judged: true},
	}
}
