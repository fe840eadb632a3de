package offline

// Skills are all skills for one index. They share what they read: a passage
// that the grader, the reranker and the answerer look at is taken apart once.
type Skills struct {
	Rewriter   *Rewriter
	Grader     *Grader
	Reranker   *Reranker
	List       *ListReranker
	Summarizer *Summarizer
	Answerer   *Answerer
}

// New returns the skills for the index that stats describes. passages gives the
// titles of what earlier answers cited; nil does without. Grades below threshold
// abstain; 0 means [DefaultThreshold].
func New(stats Stats, passages Passages, threshold float64) Skills {
	s := Skills{
		Rewriter:   NewRewriter(stats, passages),
		Grader:     NewGrader(stats),
		Reranker:   NewReranker(stats),
		List:       NewListReranker(stats),
		Summarizer: NewSummarizer(stats),
		Answerer:   NewAnswerer(stats, threshold),
	}
	s.Grader.threshold = s.Answerer.threshold
	for _, l := range []*lexicon{&s.Rewriter.lex, &s.Reranker.lex, &s.List.lex, &s.Answerer.lex} {
		l.read = s.Grader.lex.read
	}
	return s
}
