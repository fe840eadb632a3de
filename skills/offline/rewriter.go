package offline

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// How much of the conversation a follow-up borrows: weights of words inside one
// query, where those of the turn itself weigh 1.
const (
	turnDecay    = 0.5  // of a word of the k-th question before: turnDecay^k
	aloneDecay   = 0.35 // the same, for a turn that stands by itself; it borrows nothing else
	itemDecay    = 0.2  // for a turn about an item of a list: the questions before asked for the list
	topicWeight  = 0.6  // of a word of the last question that stands by itself, however many turns ago…
	objectWeight = 0.9  // of the thing that a turn wants something else done with: "delete it"
	topicDecay   = 0.85 // …but for this, each turn
	otherWords   = 0.6  // of everyday synonyms of a question's words, as a share of theirs
	answerWeight = 0.15 // of a word of the last answer; older ones decay by answerDecay
	answerDecay  = 0.5
	answerTerms  = 8   // words of an answer that are kept and lent
	titleWeight  = 0.3 // of a word of the titles that the last answer cited
	titleDecay   = 0.5
	personWeight = 0.1 // of a name in what the person said of themselves
)

// Weights of the lists of a plan's queries, and of what is put into them.
const (
	rawWeight    = 0.2 // of the raw turn's list where it leans on the conversation
	sideWeight   = 0.5 // of the list with history where the turn stands by itself
	otherWeight  = 0.5 // of the list with synonyms, for a turn without history
	clauseWeight = 0.2 // of the list of one clause of a composite question
)

// Rewriter plans the searches of a turn. The first query is the raw turn; its
// list weighs little when the turn leans on the conversation. The second adds
// words of earlier questions and answers, the more recent the heavier, inside
// one query; in it, "more" stands for the question before, "the second one" for
// that item of the last list, and what a correction or an ellipsis replaces is
// left out. A composite question adds its last clause as the third.
type Rewriter struct {
	maker
	lex      lexicon
	passages Passages
	cues     cues
	words    Dictionary
}

// NewRewriter returns a rewriter for the index that stats describes. passages
// gives the titles of what earlier answers cited; nil does without.
func NewRewriter(stats Stats, passages Passages) *Rewriter {
	words, err := ReadDictionary(strings.NewReader(administration))
	if err != nil {
		panic("offline: the built-in dictionary: " + err.Error())
	}
	return &Rewriter{lex: newLexicon(stats), passages: passages, cues: newCues(), words: words}
}

// WithDictionary returns a rewriter that searches for what d says besides; its
// entries come before those that are built in.
func (r *Rewriter) WithDictionary(d Dictionary) *Rewriter {
	out := *r
	out.words = r.words.with(d)
	return &out
}

// Rewrite plans a turn. It fails only where the cited passages cannot be read.
func (r *Rewriter) Rewrite(ctx context.Context, question string, m state.Memory) (state.Plan, error) {
	whole, recent := question, m.Recent[max(0, len(m.Recent)-state.MaxRecent):]
	plan := state.Plan{Language: language(question, recent), Route: route(question)}
	question, switched := asked(whole)
	t := turn{text: question, said: question, why: "begins another topic"}
	if !switched {
		t = r.read(question, recent)
	}
	plan.Standalone = t.manner == alone
	plan.Queries = rawQueries(whole, question, t)
	if plan.Route != state.RouteSearch {
		plan.Queries = plan.Queries[:1]
		plan.Queries[0].Why = "raw turn, not searched for"
		return plan, nil
	}
	if len(recent) > 0 {
		q, err := r.withHistory(ctx, t, recent, m)
		if err != nil {
			return state.Plan{}, err
		}
		plan.Queries = append(plan.Queries, q)
	}
	r.addSynonyms(&plan, question, len(recent) > 0)
	if clause := r.lastClause(question); clause != "" {
		q := state.Query{Text: clause, Weight: clauseWeight, Why: "last clause of a composite question", Attempt: 1}
		if !plan.Standalone {
			q.Boosts = plan.Queries[len(plan.Queries)-1].Boosts
		}
		plan.Queries = append(plan.Queries, q)
	}
	return plan, nil
}

// rawQueries are the turn as it stands: first with its courtesy, for whoever
// reads the plan, then without.
func rawQueries(whole, question string, t turn) []state.Query {
	raw := state.Query{Text: question, Weight: 1, Why: "raw turn, " + t.why, Attempt: 1}
	switch t.manner {
	case alone:
	case goesOn, accepts:
		raw.Weight, raw.Why = 0, "raw turn; "+t.why
	case leans, pointsTo, corrects:
		raw.Weight, raw.Why = rawWeight, "raw turn; not alone: "+t.why
	}
	if question == whole {
		return []state.Query{raw}
	}
	return []state.Query{{Text: whole, Why: "raw turn, with courtesy", Attempt: 1}, raw}
}

// addSynonyms adds other words for those of the question: to the query with
// history, or as a query of their own.
func (r *Rewriter) addSynonyms(plan *state.Plan, question string, history bool) {
	boosts := r.Boosts(question, r.Expansions(question))
	if len(boosts) == 0 {
		return
	}
	if last := len(plan.Queries) - 1; history {
		plan.Queries[last].Boosts = append(plan.Queries[last].Boosts, boosts...)
		return
	}
	plan.Queries = append(plan.Queries, state.Query{
		Text: question, Boosts: boosts, Weight: otherWeight,
		Why: "turn with other words for the same", Attempt: 1,
	})
}

// Terms are the words of an answer that carry most information, best first,
// for [state.Exchange].Terms: at most eight, rare in the index and often in the
// answer.
func Terms(stats Stats, answer string) []string {
	return newLexicon(stats).telling([]state.Citation{{Quote: answer}})
}

// language is that of the question; a short one that gives no sign is taken
// for the language of the conversation.
func language(question string, recent []state.Exchange) string {
	lang := text.Language(question)
	if lang != "en" || len(recent) == 0 || len(strings.Fields(question)) > 3 {
		return lang
	}
	return text.Language(recent[len(recent)-1].Question)
}

// cited are chunks that an answer cited.
func (r *Rewriter) cited(ctx context.Context, ids []string) ([]state.Chunk, error) {
	if r.passages == nil || len(ids) == 0 {
		return nil, nil
	}
	chunks, err := r.passages.Chunks(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read what earlier answers cited: %w", err)
	}
	return chunks, nil
}

// titles are the title and the headings of a chunk, each once.
func titles(c state.Chunk) string {
	var out []string
	for _, s := range append([]string{c.Title}, c.Headings...) {
		if s = text.Clean(s); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return strings.Join(out, "; ")
}

// topic is the newest question that says by itself what the turns since are about;
// the oldest one where all lean.
func (r *Rewriter) topic(recent []state.Exchange) string {
	for _, e := range slices.Backward(recent) {
		if r.leaning(e.Question) == "" {
			return e.Question
		}
	}
	return recent[0].Question
}

// alone reports whether a question is understood without the ones before, and
// if not why.
func (r *Rewriter) alone(question string) (alone bool, why string) {
	if why := r.leaning(question); why != "" {
		return false, why
	}
	terms := r.lex.question(state.Query{Text: question})
	switch n := len(terms); {
	case n >= minContent, n > 0 && namesAThing.MatchString(question) && !ofThing.MatchString(question), n > 1 && doesAThing.MatchString(question):
		return true, ""
	case n > 0 && r.rare(terms[0].term):
		return true, ""
	default:
		return false, fmt.Sprintf("%d words of content", n)
	}
}

// Whole questions of few words: "What is a bind mount?", "How do I sign an
// image?". "What is the default?" is none: it asks about a thing named before.
var (
	namesAThing = regexp.MustCompile(`(?i)^(?:what|who) (?:is|are|was|were) (?:an? )?(?:[\p{L}\p{N}_./-]+ ?){1,4}\??$|^co to jest |^czym jest | là gì`)
	doesAThing  = regexp.MustCompile(`(?i)^how (?:do|can|to|could|should|would) (?:(?:i|we|you|one) )?[\p{L}-]+ (?:an? |the |my |all |several |multiple )?[\p{L}\p{N}_./-]+|^jak \p{L}+ć \p{L}+`)
	ofThing     = regexp.MustCompile(`(?i)^(?:what|who) (?:is|are|was|were) the `)
)

// rare reports whether few passages hold a term, so that the documents have
// one topic for it at most.
func (r *Rewriter) rare(term string) bool {
	df := r.lex.docFreq(term)
	return df > 0 && float64(df) < rareShare*float64(r.lex.stats.Docs())
}

// rareShare is the share of passages below which a word names a topic.
const rareShare = 0.01

// leaning says by which sign a question leans on the ones before; "" without
// one.
func (r *Rewriter) leaning(question string) string {
	words := plainWords(question)
	if len(words) == 0 {
		return "no words"
	}
	line := strings.Join(words, " ")
	if slices.Contains(r.cues.more, line) || slices.Contains(r.cues.agree, line) {
		return "asks for more"
	}
	if opener(words) {
		return fmt.Sprintf("begins with %q", words[0])
	}
	for i, w := range words {
		if anaphor(words, i) {
			return fmt.Sprintf("%q points back", w)
		}
	}
	return ""
}

// minContent is how many terms of content a question needs to stand by itself.
const minContent = 3

// plainWords are the words of s in lower case.
func plainWords(s string) []string {
	s = strings.ToLower(s)
	const usual = 6 // bytes of a word
	words, from := make([]string, 0, len(s)/usual+1), -1
	for i := 0; i < len(s); {
		var in bool
		size := 1
		if s[i] < utf8.RuneSelf {
			in = wordByte[s[i]]
		} else {
			var r rune
			r, size = utf8.DecodeRuneInString(s[i:])
			in = isWordRune(r)
		}
		switch {
		case in && from < 0:
			from = i
		case !in && from >= 0:
			words, from = append(words, s[from:i]), -1
		}
		i += size
	}
	if from >= 0 {
		words = append(words, s[from:])
	}
	return words
}

// wordByte tells what isWordRune tells of ASCII.
var wordByte = func() (is [utf8.RuneSelf]bool) { //nolint:gochecknoglobals // a constant table
	for c := range is {
		is[c] = isWordRune(rune(c))
	}
	return is
}()

// lastClause returns the second half of a question that asks two things, ""
// for others.
func (r *Rewriter) lastClause(question string) string {
	lower := strings.ToLower(question)
	if len(lower) != len(question) {
		return "" // case folding moved the bytes
	}
	for _, joint := range clauseJoints() {
		i := strings.LastIndex(lower, joint.text)
		if i <= 0 {
			continue
		}
		clause := strings.TrimSpace(question[i+joint.skip:])
		before := question[:i]
		if len(r.lex.question(state.Query{Text: clause})) >= minContent &&
			len(r.lex.question(state.Query{Text: before})) >= minContent {
			return clause
		}
	}
	return ""
}

type joint struct {
	text string
	skip int // bytes of text that do not belong to the clause
}

func clauseJoints() []joint {
	var out []joint
	for _, and := range []string{", and ", " and ", "; ", "? "} {
		for _, asks := range []string{"how ", "what ", "which ", "where ", "when ", "why ", "who ", "can ", "is ", "do ", "does "} {
			out = append(out, joint{and + asks, len(and)})
		}
	}
	for _, and := range []string{" i ", " oraz ", "; ", "? "} {
		for _, asks := range []string{"jak", "co ", "czy ", "któr", "gdzie ", "kiedy ", "dlaczego "} {
			out = append(out, joint{and + asks, len(and)})
		}
	}
	return out
}
