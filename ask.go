package ragflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/nodes"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// Question is one turn of a conversation.
type Question struct {
	Text     string            // at most 10,000 runes are used
	ID       string            // of its message, new in the thread; empty: one is made
	Thread   string            // the conversation it belongs to; empty begins a new one
	Metadata map[string]string // saved with the run; not shown to models

	Collections []string     // to answer from, also when a thread continues; empty: Config.Collection
	Filter      state.Filter // documents to answer from; zero: all
	Settings    *Settings    // nil: Config.Settings; to change one of those, change a copy

	// Fresh answers without Config.Cache; the new answer takes the place of the one in it.
	Fresh bool
	// Agent lets the model search as often as it likes before it answers.
	Agent bool
	// History are the messages before the question, oldest first, of clients that keep them
	// themselves. Only for a thread without a question.
	History []state.Message
	// OnBusy says what becomes of a question for a thread on which another one is being
	// answered; by default it waits for Config.Wait and is then refused with ErrBusy.
	OnBusy graph.OnBusy

	// Resume continues the unfinished run of the thread, with the settings of its question.
	// Text, History and Settings must be empty.
	Resume  bool
	Answers map[string]any // to questions that the run asked; only with Resume
	// From is an earlier commit of the thread to go on from; the turns after it are undone.
	From graph.CommitID

	Trace bool // fill in Reply.AnswerMD, Reply.FlowTraceMD and Reply.Prompt
}

// Ask answers a question and keeps the turn in its thread. The first question indexes
// Config.Docs, unless the library was synced before. Errors match the Err variables of
// this package and of package ingest, fs.ErrNotExist for missing documents, or
// *graph.NodeError; a run that ended early can be resumed.
func (a *Assistant) Ask(ctx context.Context, q Question) (*Reply, error) {
	var reply *Reply
	for e, err := range a.Stream(ctx, q) {
		if err != nil {
			return nil, err
		}
		if e.Kind == Done {
			reply = e.Reply
		}
	}
	return reply, nil
}

// Stream answers a question and yields its events, StepEnded after the change of the step
// was saved. The last one is Done, or an error follows. Breaking the loop cancels the run and
// waits for its end; a run that outlives its reader is begun by [Runs.Start].
func (a *Assistant) Stream(ctx context.Context, q Question) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		r, err := a.runs.start(ctx, ctx, q)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer func() { <-r.ended }()
		defer cancel()
		for e, err := range r.events.Read(context.WithoutCancel(ctx), 0) {
			if !yield(e, err) {
				return
			}
		}
	}
}

// request is a question that was checked, ready to run.
type request struct {
	*turn
	runner *graph.Runner[state.State, state.Update]
	graph  graph.Request[state.Update]
	trace  bool
	asked  Question // if it resumes a run, with the text and the collections of that

	continues bool // the thread may have been begun by its owner before
}

// prepare checks a question and makes its turn. A run that an agent began continues as an agent.
func (a *Assistant) prepare(ctx context.Context, q Question) (*request, error) {
	r := &request{trace: q.Trace, continues: q.Thread != ""}
	if err := a.check(q); err != nil {
		return nil, err
	}
	if len(q.History) > 0 && q.Thread != "" {
		if info, err := a.store.Info(ctx, q.Thread); err == nil && info.Inputs > 0 {
			return nil, errors.New("a history begins a thread, and this one has begun")
		}
	}
	if a.ReadOnly() {
		return nil, a.readOnly("no question can be saved in it")
	}
	saved, filter := *cmp.Or(q.Settings, &a.config.Settings), q.Filter
	if q.Resume {
		s, err := a.log.StateAt(ctx, q.Thread, 0)
		if errors.Is(err, graph.ErrNotFound) {
			return nil, fmt.Errorf("resume thread %q: %w: %w", q.Thread, ErrNothingToResume, ErrNotFound)
		}
		if err != nil {
			return nil, fmt.Errorf("resume thread %q: %w", q.Thread, err)
		}
		saved, filter, q.Collections = s.Settings, s.Scope.Filter, collectionsOf(s.Scope)
		if m, ok := state.LastHuman(s.Messages); ok {
			q.Text = m.Content
		}
	}
	b, err := a.collections.current(ctx, q.Collections...)
	if err != nil {
		return nil, err
	}
	settings, err := a.config.ResolveSettings(saved)
	if err != nil {
		return nil, err
	}
	if r.turn, err = a.newTurn(ctx, b, settings, filter); err != nil {
		return nil, err
	}
	if err := a.chooseRunner(ctx, r, q); err != nil {
		return nil, err
	}
	r.nodes[nodes.RetrievalID] = a.unlessCached(nodes.RetrievalID, a.renewing(r.turn, q.Collections, filter))
	if !q.Fresh {
		r.nodes[nodes.PreRetrievalID] = a.recalling(r.turn, filter)
	}
	r.graph = graph.Request[state.Update]{
		Thread: q.Thread, Resume: q.Resume, Wait: a.config.Wait, OnBusy: q.OnBusy, From: q.From, Answers: q.Answers, Metadata: q.Metadata,
	}
	if !q.Resume {
		saved.Speculate = settings.Speculate // as it is decided by what is there
		a.input(&r.graph, q, saved)
	}
	r.asked = q
	return r, nil
}

// check refuses questions that make no sense.
func (a *Assistant) check(q Question) error {
	switch {
	case q.Resume && q.Thread == "":
		return errors.New("resume needs a thread")
	case q.Resume && (q.Text != "" || len(q.History) > 0 || q.Settings != nil):
		return errors.New("resume goes on with the question that was asked; a new question, history or settings cannot be given with it")
	case !q.Resume && len(q.Answers) > 0:
		return errors.New("answers are for a run that asked questions: they need Resume")
	case slices.ContainsFunc(q.History, func(m state.Message) bool { return m.Role != state.Human && m.Role != state.AI }):
		return errors.New("a message of a history is neither of a human nor of an ai")
	case !q.Resume && text.Clean(q.Text) == "":
		return ErrEmptyQuery
	case !threadName(q.Thread):
		return ErrThreadName
	case !threadName(q.ID):
		return errors.New("the id of a question has at most 200 characters and none that cannot be printed")
	case q.Agent && a.config.Models.Chat == nil && len(a.config.Models.Named) == 0:
		return ErrNoModel
	}
	return nil
}

// input adds the messages of a new question.
func (a *Assistant) input(r *graph.Request[state.Update], q Question, saved Settings) {
	now := a.config.Clock().UTC().Truncate(time.Microsecond)
	r.Thread = cmp.Or(r.Thread, a.config.NewID())
	r.Run = a.config.NewID()
	r.Input = state.Update{Scope: a.config.scope(q), Settings: saved}
	for _, m := range append(slices.Clone(q.History), state.Message{ID: q.ID, Role: state.Human, Content: q.Text}) {
		if m.ID == "" {
			m.ID = a.config.NewID()
		}
		m.Time = now
		r.Input.Messages = append(r.Input.Messages, state.MessageOp{Put: &m})
	}
	if len(q.History) > 0 {
		r.Input.NewRecent = recentOf(q.History)
	}
}

// collectionsOf are the collections of a thread.
func collectionsOf(s state.Scope) []string {
	if s.Collection == "" {
		return nil
	}
	return append([]string{s.Collection}, s.More...)
}

// recentOf returns the questions of a history, by which follow-ups are understood.
func recentOf(history []state.Message) *[]state.Exchange {
	var out []state.Exchange
	for _, m := range history {
		if m.Role == state.Human {
			out = append(out, state.Exchange{Question: text.Clean(m.Content)})
		}
	}
	out = out[max(0, len(out)-state.MaxRecent):]
	return &out
}

// scope returns the documents that a question is answered from, to be kept in its thread.
func (c Config) scope(q Question) *state.Scope {
	s := &state.Scope{Collection: c.Collection, Filter: q.Filter}
	if len(q.Collections) > 0 {
		s.Collection, s.More = q.Collections[0], q.Collections[1:]
	}
	if s.Collection != "" {
		return s // it has folders of its own
	}
	for _, d := range c.Docs {
		if abs, err := filepath.Abs(d); err == nil { // else there is no working folder
			d = abs
		}
		s.Docs = append(s.Docs, d)
	}
	return s
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
	Collections []string // to search in; empty: Config.Collection
	Plain       bool     // the query is a question: quotes have no meaning
	Fresh       bool     // search although Config.Cache has the results; the new ones take their place
}

// Search returns the passages that fit a query best, without a conversation and
// without an answer. In a query that is not Plain, "words in quotes" must stand
// together. For errors see [search.Engine.List].
func (a *Assistant) Search(ctx context.Context, query string, o SearchOptions) (*SearchReply, error) {
	began := a.config.Clock()
	reply, err := a.search(ctx, query, o)
	a.recordSearch(ctx, query, o, began, reply, err)
	return reply, err
}

func (a *Assistant) search(ctx context.Context, query string, o SearchOptions) (*SearchReply, error) {
	query = text.First(text.Clean(query), nodes.MaxQueryRunes)
	switch {
	case query == "":
		return nil, ErrEmptyQuery
	case o.K < 0:
		return nil, fmt.Errorf("search: %d results make no sense; ask for 1 or more", o.K)
	}
	defer a.quiet.ask()()
	b, err := a.collections.current(ctx, o.Collections...)
	if err != nil {
		return nil, err
	}
	key, keeps := a.resultsKey(b, query, o)
	if keeps && !o.Fresh {
		if reply, ok := a.recallResults(ctx, key); ok {
			return reply, nil
		}
	}
	q := state.Query{Text: query, Weight: 1, Attempt: 1}
	if !o.Plain {
		q = search.ParseQuery(query)
	}
	expanded := a.dictionary.Expand(q.Text)
	q.Boosts = b.words.Boosts(q.Text, expanded)
	list, err := b.engine.List(ctx, q, o.Request)
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
		reply.Respelled = respelled(b.engine, q.Text)
	}
	for i := range list.Hits {
		reply.Hits = append(reply.Hits, newSearchHit(&list.Hits[i], i+1))
	}
	//nolint:sloglint // the line is prescribed
	a.config.Logger.DebugContext(ctx, fmt.Sprintf("Retrieved %d chunks for query (top_k=%d, metric=cosine)", len(reply.Hits), cmp.Or(o.K, a.config.Retrieval.TopK)), "leg", leg)
	if keeps {
		a.keepResults(ctx, key, reply)
	}
	return reply, nil
}

// Explanation shows what became of a query. Its JSON is the schema of `ragflow explain --json`.
type Explanation struct {
	Original   string        `json:"original"`
	Cleaned    string        `json:"cleaned"`
	Tokens     []TermReply   `json:"tokens"`
	Language   string        `json:"language"`
	Domain     string        `json:"domain"` // the folder of most of the best hits
	Intent     string        `json:"intent"` // the question type: how-to, definition, yes/no, …
	Route      string        `json:"route"`
	Complexity float64       `json:"complexity_score"` // 0–1
	Standalone bool          `json:"standalone"`
	Queries    []state.Query `json:"queries"`
	Respelled  []Respelled   `json:"searched_also,omitempty"`
	Expanded   []Expansion   `json:"expanded,omitempty"` // what dictionaries and everyday synonyms add
	Warnings   []string      `json:"warnings"`
}

// TermReply is one term the analyzer made of a query.
type TermReply struct {
	Text      string  `json:"text"` // as written
	Term      string  `json:"term"` // as searched
	Documents int     `json:"documents"`
	IDF       float64 `json:"idf"`
}

// Explain shows what the analyzer and the rewrite make of a question that begins a
// conversation. Nothing is saved. Only Text, Collections, Filter and Settings
// of q count.
func (a *Assistant) Explain(ctx context.Context, q Question) (*Explanation, error) {
	cleaned := text.Clean(q.Text)
	if cleaned == "" {
		return nil, ErrEmptyQuery
	}
	b, err := a.collections.current(ctx, q.Collections...)
	if err != nil {
		return nil, err
	}
	settings, err := a.config.ResolveSettings(*cmp.Or(q.Settings, &a.config.Settings))
	if err != nil {
		return nil, err
	}
	t, err := a.newTurn(ctx, b, settings, q.Filter)
	if err != nil {
		return nil, err
	}
	x := &Explanation{Original: q.Text, Cleaned: text.First(cleaned, nodes.MaxQueryRunes), Warnings: []string{}}
	if n := utf8.RuneCountInString(cleaned); n > nodes.MaxQueryRunes {
		x.Warnings = append(x.Warnings, fmt.Sprintf("Query truncated from %d to %d chars", n, nodes.MaxQueryRunes))
	}
	plan, err := t.rewriter.Rewrite(ctx, x.Cleaned, state.Memory{})
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	x.Language, x.Route, x.Standalone, x.Queries = plan.Language, plan.Route, plan.Standalone, plan.Queries
	x.Intent = offline.Intent(x.Cleaned)
	x.Respelled = respelled(b.engine, x.Cleaned)
	x.Tokens = []TermReply{}
	for _, t := range b.engine.Analyzer().Analyze(x.Cleaned) {
		x.Tokens = append(x.Tokens, TermReply{x.Cleaned[t.Start:t.End], t.Term, b.engine.DocFreq(t.Term), b.engine.IDF(t.Term)})
	}
	if plan.Route == state.RouteSearch {
		x.Expanded = b.words.Expansions(x.Cleaned)
	}
	x.Complexity = complexity(x)
	x.Domain, err = t.domain(ctx, plan.Queries)
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
// in; "" if there is none.
func (t *turn) domain(ctx context.Context, queries []state.Query) (domain string, err error) {
	if len(queries) == 0 {
		return "", nil
	}
	q := slices.MaxFunc(queries, func(a, b state.Query) int { return cmp.Compare(a.Weight, b.Weight) })
	list, err := t.engine.List(ctx, q, search.Request{K: 10, Ranks: true})
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
