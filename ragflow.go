package ragflow

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
	"example.com/ragflow/graph/draw"
	"example.com/ragflow/ingest/load"
	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/nodes"
	"example.com/ragflow/prompts"
	"example.com/ragflow/search/index"
	"example.com/ragflow/search/text"
	"example.com/ragflow/skills/cite"
	"example.com/ragflow/skills/offline"
	"example.com/ragflow/state"
	"example.com/ragflow/threads"
)

// Facts a caller acts on; match them with errors.Is.
var (
	ErrEmptyQuery      = nodes.ErrEmptyQuery                         // the question holds nothing but white space
	ErrNoDocuments     = errors.New("no documents to answer from")   // none configured and none indexed
	ErrFiltered        = errors.New("no document passes the filter") // Config.Filter
	ErrNotFound        = graph.ErrNotFound                           // no such thread or run
	ErrSystemPrompt    = prompts.ErrSystemTemplate                   // Config.SystemPrompt is no prompt to answer with
	ErrNoPath          = load.ErrNoPath                              // a path of documents is empty
	ErrThreadName      = errors.New("a thread's name has at most 200 characters and none that cannot be printed")
	ErrBusy            = graph.ErrBusy        // another run holds the thread
	ErrNothingToResume = graph.ErrNothingToDo // the thread has no unfinished run
	ErrDamaged         = sqlite.ErrDamaged    // a database file is not whole; it was left as it is
	ErrAmbiguous       = threads.ErrAmbiguous // a run named by too short a beginning
)

// Event is one thing that happened while a question was answered.
type Event = graph.Event[state.State]

// Token is a piece of an answer that a model is writing. What was told is a
// draft: the reply counts.
type Token = nodes.Token

// Assistant answers questions from documents, in threads that last. It is safe
// for concurrent use; several assistants, in several processes too, may share a
// data folder.
type Assistant struct {
	config   Config
	threads  *checkpoint.SQLite
	log      *threads.Log // reads and edits threads
	index    *index.DB
	repaired string // what became of a damaged index; empty: it was whole
	queries  *queryVectors
	words    offline.Dictionary     // Config.Dictionary
	system   prompts.SystemTemplate // of the model that answers
	indexing sync.Mutex             // held while documents are read into the index
	engine   atomic.Pointer[engine]
}

// engine is the flow bound to one snapshot of the index. A turn uses one engine
// from beginning to end, whatever is indexed meanwhile.
type engine struct {
	skills   skills
	searcher *hybrid
	runner   *graph.Runner[state.State, state.Update]
}

// skills are what the nodes can do; see flow.go.
type skills struct {
	searcher   nodes.Searcher
	rewriter   nodes.Rewriter
	words      *offline.Rewriter // knows other words for those of a question
	grader     nodes.Grader
	free       nodes.Grader // grades without a model; see nodes.CheckAndRefine
	reranker   nodes.Reranker
	list       nodes.Reranker // of what a search lists
	summarizer nodes.Summarizer
	answerer   nodes.Answerer
	stats      cite.Stats // for the check of answers
}

// Open opens the data folder. It reads no documents: see [Assistant.Index]. A
// damaged database is an error and stays as it is. The caller closes the
// assistant when all questions are answered.
func Open(ctx context.Context, c Config) (*Assistant, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	a := &Assistant{config: c, queries: &queryVectors{}}
	if a.words, err = c.dictionary(); err != nil {
		return nil, err
	}
	if a.system, err = c.system(); err != nil {
		return nil, err
	}
	if c.DataDir != "" {
		if err := c.makeFolder(); err != nil {
			return nil, fmt.Errorf("make the data folder: %w", err)
		}
	}
	path, o := ":memory:", checkpoint.Options{Clock: c.Clock}
	if c.DataDir != "" && !c.ForgetThreads {
		path, o = filepath.Join(c.DataDir, "threads.db"), checkpoint.Options{
			Views: threads.Views(), Clock: c.Clock, Durability: c.durability(), Access: checkpoint.Access(c.access()), Keys: c.ThreadKeys,
		}
	}
	if a.threads, err = checkpoint.Open(ctx, path, o); err != nil {
		return nil, fmt.Errorf("open threads: %w", err)
	}
	if err := a.openLog(); err != nil {
		return nil, errors.Join(err, a.threads.Close())
	}
	if err := a.openIndex(ctx); err != nil {
		return nil, errors.Join(err, a.threads.Close())
	}
	return a, nil
}

// openLog makes the log of the threads. Its plan has the nodes but no skills,
// because it folds states and runs nothing.
func (a *Assistant) openLog() error {
	plan, err := graph.Compile(flow(a.config, skills{}))
	if err != nil {
		return err
	}
	a.log = threads.New(a.threads, plan, threads.Options{Wait: a.config.Wait, Clock: a.config.Clock, NewID: a.config.NewID})
	return nil
}

func (c Config) makeFolder() error {
	if c.ReadOnly {
		_, err := os.Stat(c.DataDir)
		return err
	}
	return os.MkdirAll(c.DataDir, 0o700)
}

func (c Config) access() sqlite.Access {
	if c.ReadOnly {
		return sqlite.ReadOnly
	}
	return sqlite.ReadIfNeeded
}

func (c Config) indexPath() string {
	if c.DataDir == "" || len(c.Given) > 0 {
		return ""
	}
	if c.Collection != "" {
		return filepath.Join(c.DataDir, collectionsDir, c.Collection, "index.db")
	}
	return filepath.Join(c.DataDir, "index.db")
}

// ReadOnly reports whether the data folder was opened for reading only, because
// Config.ReadOnly says so or because it cannot be written.
func (a *Assistant) ReadOnly() bool {
	return a.threads.ReadOnly() || a.index.ReadOnly()
}

// Close closes the databases. Questions still under way fail.
func (a *Assistant) Close() error { return errors.Join(a.threads.Close(), a.index.Close()) }

// open binds a new engine to the index as it is now.
func (a *Assistant) open(ctx context.Context, report *IndexReport) error {
	collections, err := a.index.Collections(ctx)
	if err != nil {
		return err
	}
	var roots []string
	report.Files, report.Chunks = 0, 0
	for _, c := range collections {
		if len(a.config.Docs) == 0 || slices.Contains(report.Roots, c.Root) {
			roots = append(roots, c.Root)
			report.Files += c.Files
			report.Chunks += c.Chunks
		}
	}
	switch {
	case len(roots) == 0 && a.repaired != "":
		return fmt.Errorf("%w: index.db: %s", ErrNoDocuments, a.repaired)
	case len(roots) == 0:
		return ErrNoDocuments
	}
	searcher, err := a.index.Searcher(ctx, roots...)
	if err != nil {
		return err
	}
	report.Roots = roots
	if a.repaired != "" {
		report.Warned = append(report.Warned, FileProblem{"index.db", a.repaired})
	}
	search, err := a.newHybrid(ctx, searcher)
	if err == nil {
		search, err = search.only(ctx, a.config.Filter, state.Query{})
	}
	if err != nil {
		return err
	}
	if search.Passing() == 0 && !a.config.Filter.Empty() {
		return ErrFiltered
	}
	e := &engine{searcher: search, skills: offlineSkills(searcher, a.config, a.words).withModels(a.config, searcher, a.system)}
	e.skills.searcher = search
	plan, err := graph.Compile(flow(a.config, e.skills))
	if err != nil {
		return err
	}
	e.runner = plan.Runner(graph.Options{
		Store: a.threads, Owner: checkpoint.ProcessOwner(), Clock: a.config.Clock, NewID: a.config.NewID,
		Drain: a.config.Drain, OnBusy: a.config.OnBusy,
	})
	a.engine.Store(e)
	return nil
}

func offlineSkills(s *index.Searcher, c Config, d offline.Dictionary) skills {
	own := offline.New(s, s, c.Threshold)
	words := own.Rewriter.WithDictionary(d)
	return skills{
		searcher: s, rewriter: words, words: words, grader: own.Grader, reranker: c.newReranker(own.Reranker), list: own.List,
		summarizer: own.Summarizer, answerer: own.Answerer, stats: s,
	}
}

// current is the engine to use; the first use indexes the documents.
func (a *Assistant) current(ctx context.Context) (*engine, error) {
	if e := a.engine.Load(); e != nil {
		return e, nil
	}
	if _, err := a.Index(ctx); err != nil {
		return nil, err
	}
	return a.engine.Load(), nil
}

// Ask answers a question and keeps the turn in its thread. The first question
// indexes Config.Docs, unless Index was called before. Errors match the Err
// variables of this package, fs.ErrNotExist for missing documents, or
// *graph.NodeError; a run that ended early can be resumed.
func (a *Assistant) Ask(ctx context.Context, q Question) (*Reply, error) {
	var told []Event // the durable ones
	for e, err := range a.Stream(ctx, q) {
		if err != nil {
			return nil, err
		}
		if !e.Live {
			told = append(told, e)
		}
		if a.config.Observe != nil && !e.Live {
			a.config.Observe(e)
		}
		if t, ok := e.Value.(Token); ok && a.config.Tokens != nil {
			a.config.Tokens(t)
		}
	}
	r := heard(told)
	if q.Trace || q.Resume { // of a run that is resumed, its beginning is in the log alone
		var err error
		if r.Commits, err = a.log.Commits(ctx, r.ID, r.Thread, told[len(told)-1].Commit); err != nil {
			return nil, err
		}
	}
	reply, err := a.reply(ctx, r)
	if err == nil && q.Trace {
		reply.AnswerMD, reply.FlowTraceMD = a.render(ctx, r)
	}
	return reply, err
}

// Reply returns the reply of an earlier run, named as for [threads.Log.Run]. It
// holds no answer where the run ended before it had one.
func (a *Assistant) Reply(ctx context.Context, run string) (*Reply, error) {
	r, err := a.log.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	return a.reply(ctx, r)
}

// Stream answers a question and yields what happens meanwhile: the durable
// events, each after what it tells of was saved, and the live ones. The last
// event holds the final state. Breaking the loop cancels the run.
func (a *Assistant) Stream(ctx context.Context, q Question) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		request, err := a.request(q)
		if err == nil && a.ReadOnly() {
			err = a.readOnly("no question can be saved in it")
		}
		if err != nil {
			yield(Event{}, err)
			return
		}
		e, err := a.current(ctx)
		if err != nil {
			yield(Event{}, err)
			return
		}
		for event, err := range e.runner.Stream(ctx, request) {
			if !yield(event, err) {
				return
			}
		}
	}
}

// readOnly says that the data folder cannot be changed, and what that means.
func (a *Assistant) readOnly(consequence string) error {
	return fmt.Errorf("the data folder %s is open for reading only, so %s: %w", a.config.DataDir, consequence, ErrReadOnly)
}

// request mints what a turn needs: its thread and run, and the id of the
// message, once.
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
	if request.Thread == "" {
		request.Thread = a.config.NewID()
	}
	request.Run = a.config.NewID()
	request.Input = state.Update{Messages: []state.MessageOp{{Put: &state.Message{
		ID: a.config.NewID(), Role: state.Human, Content: q.Text, Time: a.config.Clock().UTC().Truncate(time.Microsecond),
	}}}}
	return request, nil
}

// longestThread is how many runes the name of a new thread may have.
const longestThread = 200

// threadName reports whether a thread may have that name: it is shown in lists
// and typed at command lines. None is minted later.
func threadName(s string) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= longestThread && !strings.ContainsFunc(s, unicode.IsControl)
}

// DrawGraph draws the flow as mermaid, ascii or svg.
func DrawGraph(format string) (string, error) {
	c, err := Config{}.withDefaults()
	if err != nil {
		return "", err
	}
	plan, err := graph.Compile(flow(c, skills{}))
	if err != nil {
		return "", err
	}
	switch format {
	case "mermaid":
		return draw.Mermaid(plan.Shape()), nil
	case "ascii":
		return draw.ASCII(plan.Shape()), nil
	case "svg":
		return draw.SVG(plan.Shape()), nil
	}
	return "", fmt.Errorf("unknown format %q: use mermaid, ascii or svg", format)
}
