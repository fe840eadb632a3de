package ragflow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/dictionary"
	"example.com/ragflow/internal/index"
	"example.com/ragflow/internal/skills/chain"
	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/nodes"
	"example.com/ragflow/prompts"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
	"example.com/ragflow/threads"
)

// Facts a caller acts on; match them with errors.Is. Those of documents are in package
// ingest, those of searches in package search, those of threads in package threads.
var (
	ErrEmptyQuery      = nodes.ErrEmptyQuery                         // the question holds nothing but white space
	ErrFiltered        = errors.New("no document passes the filter") // Question.Filter
	ErrSystemPrompt    = prompts.ErrSystem                           // Settings.System is no prompt to answer with
	ErrPrompts         = prompts.ErrTemplate                         // a file in Config.Prompts cannot take the place of a built-in one
	ErrThreadName      = errors.New("a thread's name has at most 200 characters and none that cannot be printed")
	ErrNotFound        = graph.ErrNotFound    // no such thread or run
	ErrBusy            = graph.ErrBusy        // another run holds the thread
	ErrNothingToResume = graph.ErrNothingToDo // the thread has no unfinished run
	ErrThreadExists    = graph.ErrExists      // the name of a new thread is taken
	ErrSuperseded      = graph.ErrSuperseded  // another process took the thread over; nothing was saved
	ErrDrained         = graph.ErrDrained     // Runs.Drain was called; the run can be resumed
	ErrKey             = checkpoint.ErrKey    // the threads are encrypted, and the key is missing or wrong
	ErrDamaged         = sqlite.ErrDamaged    // a database file is damaged; it was left as it is
	ErrDiskFull        = sqlite.ErrFull       // nothing of the step was saved
	ErrDisk            = sqlite.ErrIO         // the disk cannot be read or written
	ErrReadOnly        = sqlite.ErrReadOnly   // the data folder cannot be written to
	ErrLocked          = sqlite.ErrLocked     // another process, perhaps a stopped one, holds the database; nothing was saved
)

// Assistant answers questions from documents, in threads that last. It is safe for
// concurrent use. Several assistants, in several processes too, may share a data folder.
type Assistant struct {
	config     Config
	store      threads.Store
	log        *threads.Log
	runner     *graph.Runner[state.State, state.Update]
	runs       *Runs
	vectors    *search.QueryVectors
	dictionary dictionary.Dictionary // of Config.Dictionary
	custom     prompts.Set           // of Config.Prompts

	index   search.Backend
	library *ingest.Library
	binding sync.Mutex            // held while bound is replaced
	bound   atomic.Pointer[bound] // nil before the first question
}

// Open opens the data folder. It reads no documents: see [ingest.Library.Sync]. A
// damaged database of threads is an error and stays as it is. The caller closes the
// assistant when all questions are answered.
func Open(ctx context.Context, c Config) (*Assistant, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	a := &Assistant{config: c, vectors: &search.QueryVectors{}}
	if a.dictionary, err = c.readDictionary(); err != nil {
		return nil, err
	}
	if a.custom, err = c.ReadPrompts(); err != nil {
		return nil, err
	}
	if _, err := a.prompts(c.Settings); err != nil {
		return nil, err
	}
	if err := c.makeFolder(); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	if err := a.openThreads(ctx); err != nil {
		return nil, err
	}
	db, notice, err := c.openIndex(ctx)
	if err != nil {
		return nil, errors.Join(err, a.store.Close())
	}
	a.index = db
	a.library = ingest.New(db, a.ingestOptions(notice))
	if err := a.dropPromoted(ctx); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func (a *Assistant) openThreads(ctx context.Context) error {
	store, log, err := a.config.openThreads(ctx)
	if err != nil {
		return err
	}
	p, err := plan()
	if err != nil {
		return errors.Join(err, store.Close())
	}
	a.store, a.log = store, log
	a.runs = newRuns(a)
	a.runner = p.Runner(a.runnerOptions())
	return nil
}

func (a *Assistant) runnerOptions() graph.Options {
	return graph.Options{
		Store: a.store, Owner: checkpoint.ProcessOwner(), Clock: a.config.Clock, NewID: a.config.NewID,
		Drain: a.runs.drain, Hook: a.config.Hook,
	}
}

func (c Config) openThreads(ctx context.Context) (threads.Store, *threads.Log, error) {
	store, err := c.openStore(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("open threads: %w", err)
	}
	p, err := plan()
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	return store, threads.New(store, p, threads.Options{Wait: c.Wait, Clock: c.Clock, NewID: c.NewID}), nil
}

func (c Config) openStore(ctx context.Context) (threads.Store, error) {
	if c.ThreadStore != nil && !c.ForgetThreads {
		return c.ThreadStore(ctx, c.ReadOnly)
	}
	path, o := ":memory:", checkpoint.Options{Clock: c.Clock}
	if c.DataDir != "" && !c.ForgetThreads {
		path, o = filepath.Join(c.DataDir, "threads.db"), checkpoint.Options{
			Views: threads.Views(), Clock: c.Clock, Durability: c.durability(), Access: c.access(), Keys: c.ThreadKeys,
		}
	}
	return checkpoint.Open(ctx, path, o)
}

// OpenThreads opens the conversations of a data folder without its index. The caller
// closes them.
func OpenThreads(ctx context.Context, c Config) (*threads.Log, io.Closer, error) {
	c, err := c.withDefaults()
	if err == nil {
		err = c.makeFolder()
	}
	if err != nil {
		return nil, nil, err
	}
	store, log, err := c.openThreads(ctx)
	if err != nil {
		return nil, nil, err
	}
	return log, store, nil
}

func (a *Assistant) ingestOptions(notice string) ingest.Options {
	c := a.config
	o := ingest.Options{
		Docs: c.Docs, Chunking: c.Chunking, KeepChunking: c.KeepChunking,
		Dense: c.Dense, Notice: notice, Clock: c.Clock,
	}
	if c.Models.Embedder != nil {
		o.Embedder = chain.Embedder{Embedder: c.Models.Embedder}
	}
	if c.indexPath() != "" {
		o.Folders = c.promotedFolders
	}
	return o
}

// bind makes the flow that answers from the index as it is now.
func (a *Assistant) bind(ctx context.Context, v ingest.View) (*bound, error) {
	snapshot, err := a.index.Snapshot(ctx, v.Roots...)
	if err != nil {
		return nil, err
	}
	b := &bound{version: v.Version, offline: offline.New(snapshot, 0)}
	b.words = b.offline.Rewriter.WithDictionary(a.dictionary)
	o := search.Options{
		Dense: a.config.Dense, Retrieval: a.config.Retrieval, Offline: b.offline.Reranker, List: b.offline.Reranker, Vectors: a.vectors,
		Reranker: a.config.reranker(a.custom),
	}
	if a.config.Models.Embedder != nil {
		o.Embedder = chain.Embedder{Embedder: a.config.Models.Embedder}
	}
	if b.engine, err = search.New(ctx, snapshot, o); err != nil {
		return nil, err
	}
	return b, nil
}

// current returns what questions are answered from; the first use indexes the documents.
func (a *Assistant) current(ctx context.Context) (*bound, error) {
	v, err := a.library.Ready(ctx)
	if errors.Is(err, ingest.ErrReadOnly) {
		return nil, a.readOnly("documents that are not indexed yet cannot be")
	}
	if err != nil {
		return nil, err
	}
	a.binding.Lock()
	defer a.binding.Unlock()
	if b := a.bound.Load(); b != nil && b.version >= v.Version {
		return b, nil
	}
	b, err := a.bind(ctx, v)
	if err == nil {
		a.bound.Store(b)
	}
	return b, err
}

// Library indexes and describes the documents.
func (a *Assistant) Library() *ingest.Library { return a.library }

// Threads lists, shows and edits the conversations of the data folder.
func (a *Assistant) Threads() *threads.Log { return a.log }

// Runs starts, joins and cancels runs that outlive their reader.
func (a *Assistant) Runs() *Runs { return a.runs }

// ReadOnly reports whether the data folder was opened for reading only, because
// Config.ReadOnly says so or because it cannot be written to.
func (a *Assistant) ReadOnly() bool {
	s, ok := a.store.(interface{ ReadOnly() bool })
	return ok && s.ReadOnly() || a.index.ReadOnly()
}

// Close ends all runs, waits for them and closes the databases. A run that was under way can
// be resumed.
func (a *Assistant) Close() error {
	a.runs.close()
	return errors.Join(a.store.Close(), a.index.Close())
}

// readOnly returns the error of a change to a data folder that cannot be changed.
func (a *Assistant) readOnly(consequence string) error {
	return fmt.Errorf("the data folder %s is open for reading only, so %s: %w", a.config.DataDir, consequence, ErrReadOnly)
}

func (c Config) makeFolder() error {
	switch {
	case c.DataDir == "":
		return nil
	case c.ReadOnly:
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

// openIndex opens the index. notice says that it had to be replaced, and why.
func (c Config) openIndex(ctx context.Context) (db search.Backend, notice string, err error) {
	if c.Index == nil {
		return index.OpenOrReplace(ctx, c.indexPath(), index.Options{Ranking: c.Retrieval.Ranking, Logger: c.Logger, Access: c.access()})
	}
	local, err := index.Open(ctx, "", index.Options{})
	if err != nil {
		return nil, "", err
	}
	if db, err = c.Index(ctx, c.Collection, local); err != nil {
		return nil, "", errors.Join(err, local.Close())
	}
	return db, "", nil
}

// indexPath returns the file of the index; "" keeps it in memory.
func (c Config) indexPath() string {
	switch {
	case c.DataDir == "":
		return ""
	case c.Collection != "":
		return filepath.Join(ingest.CollectionDir(c.DataDir, c.Collection), "index.db")
	}
	return filepath.Join(c.DataDir, "index.db")
}
