package ragflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/dictionary"
	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/nodes"
	"example.com/ragflow/search"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// Question is one turn of a conversation.
type Question struct {
	Text   string // at most 10,000 runes are used
	Thread string // the conversation it belongs to; empty begins a new one
	Resume bool   // go on with the thread's unfinished run instead; Text must be empty
	// Agent lets the model search as often as it likes before it answers. It needs Config.Chat.
	// A resume goes on in the way in which the question was asked.
	Agent bool
	Trace bool // fill in Reply.AnswerMD and Reply.FlowTraceMD
}

// Ask answers a question and keeps the turn in its thread. The first question indexes
// Config.Docs, unless the library was synced before. Errors match the Err variables of
// this package and of package ingest, fs.ErrNotExist for missing documents, or
// *graph.NodeError; a run that ended early can be resumed.
func (a *Assistant) Ask(ctx context.Context, q Question) (*Reply, error) {
	t, err := a.begin(ctx, q)
	if err != nil {
		return nil, err
	}
	var events []Event // the durable ones
	for e, err := range t.stream(ctx) {
		if err != nil {
			return nil, err
		}
		if !e.Live {
			events = append(events, e)
		}
		if a.config.Observe != nil && !e.Live {
			a.config.Observe(e)
		}
		if t, ok := e.Value.(Token); ok && a.config.Tokens != nil {
			a.config.Tokens(t)
		}
	}
	r := runOf(events)
	if q.Trace || q.Resume { // the beginning of a resumed run is in the log alone
		var err error
		if r.Commits, err = a.log.Commits(ctx, r.ID, r.Thread, events[len(events)-1].Commit); err != nil {
			return nil, err
		}
	}
	reply, err := a.reply(ctx, t.bound, r)
	if err == nil && q.Trace {
		reply.AnswerMD, reply.FlowTraceMD = a.render(ctx, r)
	}
	return reply, err
}

// Stream answers a question and yields its events. A durable event comes after
// its change was saved; live events are not saved. The last event holds the
// final state. Breaking the loop cancels the run.
//
// The answer comes as events whose Value is a [Token], in every way to answer. All pieces since the last one with Void,
// put together, are safe to show at every moment, as Markdown and on a terminal, and at the end they are Reply.Answer.
func (a *Assistant) Stream(ctx context.Context, q Question) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		t, err := a.begin(ctx, q)
		if err != nil {
			yield(Event{}, err)
			return
		}
		t.stream(ctx)(yield)
	}
}

// turn is one question under way, with the binding that it uses from beginning to end.
type turn struct {
	*bound
	runner  *runner
	request graph.Request[state.Update]
}

// stream runs the turn. A change of the answer after it was written, such as a statement that no source
// supports, follows before the last event.
func (t turn) stream(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var shown strings.Builder
		for e, err := range t.runner.Stream(ctx, t.request) {
			if text, ok := e.Value.(Token); ok {
				if text.Void && text.Text == "" && shown.Len() == 0 {
					continue
				}
				if text.Void {
					shown.Reset()
				}
				shown.WriteString(text.Text)
			}
			if e.Kind == graph.RunEnded && e.Status == graph.Completed {
				last := Event{Kind: graph.Custom, Live: true, Thread: e.Thread, Run: e.Run, Step: e.Step, Node: nodes.GenerateID}
				if rest, begins := strings.CutPrefix(e.State.Turn.Answer, shown.String()); !begins {
					last.Value = Token{Text: e.State.Turn.Answer, Void: true}
				} else if rest != "" {
					last.Value = Token{Text: rest}
				}
				if last.Value != nil && !yield(last, nil) {
					return
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// begin checks a question and chooses its runner. A run that an agent began goes on as an agent.
func (a *Assistant) begin(ctx context.Context, q Question) (t turn, err error) {
	t.request, err = a.request(q)
	switch {
	case err != nil:
		return t, err
	case q.Agent && a.config.Chat == nil:
		return t, ErrNoModel
	case a.ReadOnly():
		return t, a.readOnly("no question can be saved in it")
	}
	if t.bound, err = a.current(ctx); err != nil {
		return t, err
	}
	if q.Resume && t.agent != nil {
		head, err := a.store.Head(ctx, q.Thread)
		if err != nil {
			return t, fmt.Errorf("resume thread %q: %w", q.Thread, err)
		}
		q.Agent = head.Fingerprint == t.agentPrint
	}
	t.runner = t.bound.runner
	if q.Agent {
		t.runner = t.agent
	}
	return t, nil
}

// request makes what a turn needs: its thread, its run and the id of the message.
func (a *Assistant) request(q Question) (graph.Request[state.Update], error) {
	request := graph.Request[state.Update]{Thread: q.Thread, Resume: q.Resume, Wait: a.config.Wait}
	switch {
	case q.Resume && q.Thread == "":
		return request, errors.New("resume needs a thread")
	case q.Resume && q.Text != "":
		return request, errors.New("resume goes on with the question that was asked; a new question cannot be given with it")
	case q.Resume:
		return request, nil
	case text.Clean(q.Text) == "":
		return request, ErrEmptyQuery
	case !threadName(q.Thread):
		return request, ErrThreadName
	}
	request.Thread = cmp.Or(request.Thread, a.config.NewID())
	request.Run = a.config.NewID()
	request.Input = state.Update{Messages: []state.MessageOp{{Put: &state.Message{
		ID: a.config.NewID(), Role: state.Human, Content: q.Text, Time: a.config.Clock().UTC().Truncate(time.Microsecond),
	}}}, Scope: a.config.scope()}
	return request, nil
}

// maxThreadName is the most runes in the name of a thread.
const maxThreadName = 200

// threadName reports whether a thread may have that name: it is shown in lists and
// typed at command lines.
func threadName(s string) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxThreadName && !strings.ContainsFunc(s, unicode.IsControl)
}

// SearchOptions say how one search works. The zero value is as configured.
type SearchOptions struct {
	search.Request
	Plain bool // the query is a question: quotes have no meaning
}

// Search returns the passages that fit a query best, without a conversation and
// without an answer. In a query that is not Plain, "words in quotes" must stand
// together. For errors see [search.Engine.List].
func (a *Assistant) Search(ctx context.Context, query string, o SearchOptions) (*SearchReply, error) {
	query = text.First(text.Clean(query), nodes.MaxQueryRunes)
	switch {
	case query == "":
		return nil, ErrEmptyQuery
	case o.K < 0:
		return nil, fmt.Errorf("search: %d results make no sense; ask for 1 or more", o.K)
	}
	b, err := a.current(ctx)
	if err != nil {
		return nil, err
	}
	q := state.Query{Text: query, Weight: 1, Attempt: 1}
	if !o.Plain {
		q = search.ParseQuery(query)
	}
	expanded := a.dictionary.Expand(q.Text)
	q.Boosts = b.skills.words.Boosts(q.Text, expanded)
	list, err := b.search.List(ctx, q, o.Request)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	leg := cmp.Or(o.Leg, a.config.Dense.Leg)
	reply := &SearchReply{
		Query: query, Phrases: q.Phrases, Expanded: expanded, Hits: []SearchHit{},
		Duplicates: list.Duplicates, Warnings: list.Warnings, Note: list.Note,
	}
	if !o.Filter.Empty() {
		reply.Filter = &o.Filter
	}
	if list.Passing == 0 {
		reply.Warnings = append(reply.Warnings, "No document passes the filter.")
	}
	if leg == search.LegHybrid || leg == search.LegLexical {
		reply.Respelled = respelled(b.search, q.Text)
	}
	for i := range list.Hits {
		reply.Hits = append(reply.Hits, newSearchHit(&list.Hits[i], i+1))
	}
	//nolint:sloglint // the line is prescribed
	a.config.Logger.DebugContext(ctx, fmt.Sprintf("Retrieved %d chunks for query (top_k=%d, metric=cosine)", len(reply.Hits), cmp.Or(o.K, a.config.Retrieval.TopK)), "leg", leg)
	return reply, nil
}

// Explanation shows what became of a query. Its JSON is the schema of `ragflow explain --json`.
type Explanation struct {
	Original   string                 `json:"original"`
	Cleaned    string                 `json:"cleaned"`
	Tokens     []TermReply            `json:"tokens"`
	Language   string                 `json:"language"`
	Domain     string                 `json:"domain"` // the folder of most of the best hits
	Intent     string                 `json:"intent"` // the question type: how-to, definition, yes/no, …
	Route      string                 `json:"route"`
	Complexity float64                `json:"complexity_score"` // 0–1
	Standalone bool                   `json:"standalone"`
	Queries    []state.Query          `json:"queries"`
	Respelled  []Respelled            `json:"searched_also,omitempty"`
	Expanded   []dictionary.Expansion `json:"expanded,omitempty"` // what dictionaries and everyday synonyms add
	Warnings   []string               `json:"warnings"`
}

// TermReply is one term the analyzer made of a query.
type TermReply struct {
	Text      string  `json:"text"` // as written
	Term      string  `json:"term"` // as searched
	Documents int     `json:"documents"`
	IDF       float64 `json:"idf"`
}

// Explain shows what the analyzer and the rewrite make of a query that begins a
// conversation. Nothing is saved.
func (a *Assistant) Explain(ctx context.Context, query string) (*Explanation, error) {
	cleaned := text.Clean(query)
	if cleaned == "" {
		return nil, ErrEmptyQuery
	}
	b, err := a.current(ctx)
	if err != nil {
		return nil, err
	}
	x := &Explanation{Original: query, Cleaned: text.First(cleaned, nodes.MaxQueryRunes), Warnings: []string{}}
	if n := utf8.RuneCountInString(cleaned); n > nodes.MaxQueryRunes {
		x.Warnings = append(x.Warnings, fmt.Sprintf("Query truncated from %d to %d chars", n, nodes.MaxQueryRunes))
	}
	plan, err := b.skills.rewriter.Rewrite(ctx, x.Cleaned, state.Memory{})
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	x.Language, x.Route, x.Standalone, x.Queries = plan.Language, plan.Route, plan.Standalone, plan.Queries
	x.Intent = offline.Intent(x.Cleaned)
	x.Respelled = respelled(b.search, x.Cleaned)
	x.Tokens = []TermReply{}
	for _, t := range b.search.Analyzer().Analyze(x.Cleaned) {
		x.Tokens = append(x.Tokens, TermReply{x.Cleaned[t.Start:t.End], t.Term, b.search.DocFreq(t.Term), b.search.IDF(t.Term)})
	}
	if plan.Route == state.RouteSearch {
		x.Expanded = b.skills.words.Expansions(x.Cleaned)
	}
	x.Complexity = complexity(x)
	x.Domain, err = b.domain(ctx, plan.Queries)
	return x, err
}

// complexity grows with the number of things a query asks about: 0 for one term and
// one query, 1 for twenty terms and three queries.
func complexity(x *Explanation) float64 {
	distinct := map[string]bool{}
	for _, t := range x.Tokens {
		distinct[t.Term] = true
	}
	terms := min(1, float64(max(0, len(distinct)-1))/19)
	queries := float64(max(0, len(x.Queries)-1)) / (nodes.MaxQueries - 1)
	return math.Round(100*(0.7*terms+0.3*queries)) / 100
}

// domain returns the folder that most of the ten best hits of a search by words lie
// in; "" where there is none.
func (b *bound) domain(ctx context.Context, queries []state.Query) (domain string, err error) {
	if len(queries) == 0 {
		return "", nil
	}
	q := slices.MaxFunc(queries, func(a, b state.Query) int { return cmp.Compare(a.Weight, b.Weight) })
	list, err := b.search.List(ctx, q, search.Request{K: 10, Ranks: true})
	if err != nil {
		return "", fmt.Errorf("explain: %w", err)
	}
	votes := map[string]int{}
	for _, h := range list.Hits { // by rank, so that the better hit wins a tie
		folder := path.Dir(h.Chunk.Source)
		votes[folder]++
		if domain == "" || votes[folder] > votes[domain] {
			domain = folder
		}
	}
	return domain, nil
}

// respelled lists the words that no document has, with what is searched for instead.
func respelled(s search.Snapshot, query string) []Respelled {
	var out []Respelled
	for _, r := range s.Respelled(query) {
		shown := Respelled{Word: r.Word}
		for _, t := range r.Terms {
			shown.Terms = append(shown.Terms, t.Term)
		}
		out = append(out, shown)
	}
	return out
}
