package ragflow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sync/semaphore"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/cache"
	"example.com/ragflow/internal/dictionary"
	"example.com/ragflow/internal/lru"
	"example.com/ragflow/internal/ocr"
	"example.com/ragflow/internal/querylog"
	"example.com/ragflow/internal/skills/model"
	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/llm"
	"example.com/ragflow/nodes"
	"example.com/ragflow/prompts"
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
	ErrNoOCR           = ocr.ErrMissing                              // Config.OCR
	ErrThreadName      = errors.New("a thread's name has at most 200 characters and none that cannot be printed")
	ErrNotFound        = graph.ErrNotFound    // no such thread or run
	ErrBusy            = graph.ErrBusy        // another run holds the thread
	ErrNothingToResume = graph.ErrNothingToDo // the thread has no unfinished run
	ErrThreadExists    = graph.ErrExists      // the name of a new thread is taken
	ErrSuperseded      = graph.ErrSuperseded  // another process took the thread over; nothing was saved
	ErrDrained         = graph.ErrDrained     // Runs.Drain was called; the run can be resumed
	ErrCancelled       = graph.ErrCancelled   // Runs.Cancel ended the run, which can be resumed
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
	config      Config
	store       threads.Store
	log         *threads.Log
	runner      *graph.Runner[state.State, state.Update]
	agentRunner *graph.Runner[state.State, state.Update]
	agentPrint  string // fingerprint of its graph
	runs        *Runs
	queries     *querylog.Log         // nil: questions are not logged
	cache       *cache.Cache          // of answers; nil: none
	cacheScope  string                // what every answer in it depends on beside its question and the documents
	alike       *questions            // compares questions; nil: only the same question is answered from the cache
	embedder    *questions            // of Config.Models; nil: none
	dictionary  dictionary.Dictionary // of Config.Dictionary
	custom      prompts.Set           // of Config.Prompts
	ocr         *ocr.Reader           // of Config.OCR; nil: none

	collections Collections
	library     *ingest.Library // of Config.Collection
	texts       nodes.Texts     // of passages, computed once for all questions
	reading     *reading        // nil: another order was chosen, an embedder takes its place, or the processor is too slow
	quiet       quiet
}

// OwnedBy returns a context for calls of one owner. Threads that such a call begins are the
// owner's; all others are ErrNotFound. Without an owner a call sees all threads.
func OwnedBy(ctx context.Context, owner string) context.Context { return graph.OwnedBy(ctx, owner) }

// Open opens the data folder. It reads no documents: see [ingest.Library.Sync]. A
// damaged database of threads is an error and stays as it is. The caller closes the
// assistant when all questions are answered.
func Open(ctx context.Context, c Config) (*Assistant, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	a := &Assistant{config: c}
	if err := a.openEmbedder(); err != nil {
		return nil, err
	}
	if a.dictionary, err = c.readDictionary(); err != nil {
		return nil, err
	}
	if a.ocr, err = c.findOCR(); err != nil {
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
	a.collections.a = a
	a.openCache()
	if a.library, err = a.collections.Open(ctx, ""); err != nil {
		return nil, errors.Join(err, a.store.Close())
	}
	a.openQueryLog() //nolint:contextcheck // it outlives the call
	return a, nil
}

// openEmbedder opens what embeds questions, and what compares them with passages.
func (a *Assistant) openEmbedder() (err error) {
	if e := a.config.Models.Embedder; e != nil && !a.config.readsByMeaning() {
		a.embedder = &questions{Embedder: llm.ObserveEmbedder(e, model.NoteCall)}
	}
	if a.config.readsByMeaning() {
		a.reading = &reading{model: &questions{Embedder: builtIn{}}, made: &lru.Cache[string, []float32]{}, turn: semaphore.NewWeighted(1)}
		a.reading.spec, err = a.config.ownDense().Spec(builtIn{}.Model()).WithDefaults()
	}
	return err
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
	agent, err := a.agentPlan()
	if err != nil {
		return errors.Join(err, store.Close())
	}
	a.store, a.log = store, log
	a.runs = newRuns(a)
	a.runner, a.agentRunner, a.agentPrint = p.Runner(a.runnerOptions()), agent.Runner(a.runnerOptions()), agent.Fingerprint()
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
	if c.Threads != nil && !c.ForgetThreads {
		return c.Threads, nil
	}
	if c.ThreadStore != nil && !c.ForgetThreads {
		return c.ThreadStore(ctx, c.ReadOnly)
	}
	path, o := ":memory:", checkpoint.Options{Clock: c.Clock, Texts: threads.Texts}
	if c.DataDir != "" && !c.ForgetThreads {
		path, o = filepath.Join(c.DataDir, "threads.db"), checkpoint.Options{
			Views: threads.Views(), Texts: threads.Texts, Clock: c.Clock, Durability: c.durability(), Access: c.access(), Keys: c.ThreadKeys,
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

// Config returns the configuration with all defaults filled in. It is read-only.
func (a *Assistant) Config() Config { return a.config }

// Library indexes and describes the documents of Config.Collection.
func (a *Assistant) Library() *ingest.Library { return a.library }

// Collections opens other collections and lists them.
func (a *Assistant) Collections() *Collections { return &a.collections }

// Threads lists, shows and edits the conversations of the data folder.
func (a *Assistant) Threads() *threads.Log { return a.log }

// Runs starts, joins and cancels runs that outlive their reader.
func (a *Assistant) Runs() *Runs { return a.runs }

// ReadOnly reports whether the data folder was opened for reading only, because
// Config.ReadOnly says so or because it cannot be written to.
func (a *Assistant) ReadOnly() bool {
	s, ok := a.store.(interface{ ReadOnly() bool })
	return ok && s.ReadOnly() || a.collections.readOnly()
}

// Close ends all runs, waits for them and closes the databases. A run that was under way can
// be resumed. A query log that cannot be written delays it by two seconds at most.
func (a *Assistant) Close() error {
	a.runs.close()
	if a.queries != nil {
		a.queries.Close()
	}
	if a.cache != nil {
		a.cache.Close()
	}
	err := a.collections.close()
	if a.store != a.config.Threads {
		err = errors.Join(err, a.store.Close())
	}
	return err
}

// readOnly returns the error of a change to a data folder that cannot be changed.
func (a *Assistant) readOnly(consequence string) error {
	return fmt.Errorf("the data folder %s is open for reading only, so %s: %w", a.config.DataDir, consequence, ErrReadOnly)
}

// findOCR returns what reads pictures; nil without Config.OCR. Recognised pages are kept in the
// data folder.
func (c Config) findOCR() (*ocr.Reader, error) {
	if c.OCR == "" {
		return nil, nil
	}
	cache := ""
	if c.DataDir != "" {
		cache = filepath.Join(c.DataDir, "ocr")
	}
	return ocr.Find(c.OCR, cache)
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
