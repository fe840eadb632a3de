package model

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/llm"
	"example.com/ragflow/nodes"
	"example.com/ragflow/state"
)

// Weights of the queries that a model adds. A question made complete is as good
// as one that was asked completely; the others help it.
const (
	standaloneWeight = 1.0
	keywordsWeight   = 0.5
	aspectWeight     = 0.5
)

// whyComplete marks the query that is the question made complete.
const whyComplete = "the question made complete by the model"

// earlierTurns is how many earlier turns the model is shown.
const earlierTurns = 2

// maxQueries is how many queries a plan holds, the raw turn included.
const maxQueries = 3

// Rewriter adds a model's queries to the plan of another rewriter. Questions that
// need no search are not put to the model.
type Rewriter struct {
	Custom prompts.Set // custom prompts
	chat   llm.Chat
	first  nodes.Rewriter
	stats  Stats
}

// NewRewriter returns a rewriter that asks chat. first makes the plan that it adds
// to, which remains if the model fails. stats counts the words of the documents.
func NewRewriter(chat llm.Chat, first nodes.Rewriter, stats Stats) *Rewriter {
	return &Rewriter{chat: chat, first: first, stats: stats}
}

// Rewrite implements the rewriter of package nodes. The raw turn stays the first
// query with the weight the plan gave it. The model's queries come next; the last
// place is for the query that the conversation expanded.
//
// The model is not asked if the question can be understood by itself and is in
// the language of the documents. Else it writes its queries in that language.
func (r *Rewriter) Rewrite(ctx context.Context, question string, m state.Memory) (state.Plan, error) {
	plain, err := r.first.Rewrite(ctx, question, m)
	if err != nil {
		return plain, err
	}
	chat := track(r.chat)
	plan, err := r.rewrite(ctx, chat, plain, question, m)
	if err != nil {
		plan, err = orElse(ctx, chat.Model(), err, func() (state.Plan, error) { return plain, nil })
	}
	if err == nil {
		graph.Note(ctx, "by", cmp.Or(plan.By, offline.Name))
	}
	return plan, err
}

func (r *Rewriter) rewrite(ctx context.Context, chat llm.Chat, plan state.Plan, question string, m state.Memory) (state.Plan, error) {
	if plan.Route != state.RouteSearch {
		return plan, nil
	}
	foreign := r.foreign(question, plan.Language)
	standalone := plan.Standalone && (len(m.Recent) == 0 || slices.Contains(prompts.Languages(), plan.Language))
	if standalone && foreign == "" {
		return plan, nil // the words that refer to earlier turns are known in those languages
	}
	p := prompts.PreRetrieval{Question: question, In: foreign, Boundary: prompts.NewBoundary(), Custom: r.Custom}
	for _, e := range m.Recent[max(0, len(m.Recent)-earlierTurns):] {
		p.Earlier = append(p.Earlier, prompts.Earlier{Question: e.Question, Terms: e.Terms})
	}
	rendered := p.Render(plan.Language)
	queries, err := askForm(ctx, chat, rendered, p.Boundary, rewriteTokens,
		llm.Schema{Name: "queries", JSON: p.Schema()}, prompts.ParsePreRetrieval)
	if err != nil {
		return state.Plan{}, err
	}
	plan.By = chat.Model()
	known := r.vocabulary(question, m.Recent)
	added := make([]state.Query, 0, maxQueries)
	for _, q := range []state.Query{
		{Text: queries.Standalone, Weight: standaloneWeight, Why: whyComplete},
		{Text: queries.Keywords, Weight: keywordsWeight, Why: "key words by the model"},
		{Text: queries.Aspect, Weight: aspectWeight, Why: "second aspect by the model"},
	} {
		q.Attempt = 1
		echo := strings.Contains(rendered.System, q.Text) || // small models repeat what they were told to do…
			slices.ContainsFunc(m.Recent, func(e state.Exchange) bool { return r.same(q.Text, e.Question) }) // …or what was asked before
		if q.Text != "" && !echo && !r.same(q.Text, question) && r.honest(q.Text, cmp.Or(foreign, plan.Language), foreign != "", known) {
			added = append(added, q)
		}
	}
	if len(plan.Queries) > 0 {
		rest := plan.Queries[1:]
		if len(rest) > 0 { // the conversation's own words keep one place
			added = added[:min(len(added), maxQueries-2)]
		}
		plan.Queries = slices.Concat(plan.Queries[:1], added, rest)
	}
	plan.Queries = plan.Queries[:min(len(plan.Queries), maxQueries)]
	return plan, nil
}

// vocabulary is every term of the conversation.
func (r *Rewriter) vocabulary(question string, recent []state.Exchange) map[string]bool {
	known := map[string]bool{}
	learn := func(s string) {
		for _, t := range r.stats.Analyzer().Analyze(s) {
			known[t.Term] = true
		}
	}
	learn(question)
	for _, e := range recent {
		learn(e.Question)
		learn(strings.Join(e.Terms, " "))
	}
	return known
}

// same reports whether two questions search for the same terms.
func (r *Rewriter) same(a, b string) bool {
	return slices.Equal(termsOf(r.stats.Analyzer(), a), termsOf(r.stats.Analyzer(), b))
}

func termsOf(a text.Analyzer, s string) []string {
	var out []string
	for _, t := range a.Analyze(s) {
		out = append(out, t.Term)
	}
	return out
}

// foreign returns the language to search in where the documents are not in the
// language of the question, else "".
func (r *Rewriter) foreign(question, language string) string {
	documents, ok := r.stats.(interface{ Speaks(language string) bool })
	if !ok || language == "" || r.stats.Docs() == 0 {
		return ""
	}
	// An index does not tell Vietnamese from English; the words of the question do.
	vietnamese := language == "vi" && r.held(r.stats.Analyzer().Analyze(question)) < knownShare
	if documents.Speaks(language) && !vietnamese {
		return ""
	}
	for _, l := range prompts.Languages() {
		if l != language && documents.Speaks(l) {
			return l
		}
	}
	return ""
}

// held is the share of terms that documents have.
func (r *Rewriter) held(terms []text.Token) float64 {
	n := 0
	for _, t := range terms {
		if r.stats.DocFreq(t.Term) > 0 {
			n++
		}
	}
	return float64(n) / float64(max(1, len(terms)))
}

// enoughWords is how many words tell the language of a query.
const enoughWords = 5

// knownShare is the share of the words of a query that somebody must have written.
// A translation may have a word that no document has.
const knownShare = 0.5

// honest reports whether a query was not made up: it is in the given language, as far
// as it is long enough to tell, and its words stand in the conversation or in the
// documents, of a translation at least [knownShare] of them.
func (r *Rewriter) honest(query, language string, translated bool, known map[string]bool) bool {
	if len(strings.Fields(query)) >= enoughWords {
		if l := text.Language(query); l != language && l != "en" {
			return false
		}
	}
	terms := r.stats.Analyzer().Analyze(query)
	n := 0
	for _, t := range terms {
		if known[t.Term] || r.stats.DocFreq(t.Term) > 0 {
			n++
		}
	}
	if translated {
		return n > 0 && float64(n) >= knownShare*float64(len(terms))
	}
	return n > 0 && n == len(terms)
}
