package ragflow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/index"
	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// Collections are the indexes of an [Assistant] by name, each opened when it is first used. A
// question is answered from one or from several as if they were one. They are safe for
// concurrent use.
type Collections struct {
	a *Assistant

	mu    sync.Mutex
	open  map[string]*collection
	bound map[string]*bound // the newest of each choice of collections, by their names
}

// collection is documents with an index of their own.
type collection struct {
	index   search.Backend
	library *ingest.Library
	stop    context.CancelFunc // of the vectors that are made in the background
	stopped chan struct{}      // closed when no more are made
}

// close ends what is done in the background and closes the index.
func (c *collection) close() error {
	c.stop()
	<-c.stopped
	return c.library.Close()
}

// List lists the named collections of the data folder, in order.
func (cs *Collections) List() ([]string, error) { return ingest.Collections(cs.a.config.DataDir) }

// Make makes a named collection without documents. Errors match ingest.ErrCollectionName or
// ingest.ErrCollectionExists.
func (cs *Collections) Make(ctx context.Context, name string) (*ingest.Library, error) {
	if err := ingest.MakeCollection(cs.a.config.DataDir, name); err != nil {
		return nil, err
	}
	return cs.Open(ctx, name)
}

// Delete closes and deletes a named collection; see [ingest.DeleteCollection]. Questions that
// use it fail. Config.Collection cannot be deleted while the assistant is open.
func (cs *Collections) Delete(name string) error {
	if name == cs.a.config.Collection {
		return fmt.Errorf("delete collection %q: it is that of the assistant", name)
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if c := cs.open[name]; c != nil {
		delete(cs.open, name)
		clear(cs.bound)
		if err := c.close(); err != nil {
			return err
		}
	}
	return ingest.DeleteCollection(cs.a.config.DataDir, name)
}

// Open opens a collection; "" is Config.Collection. The error matches ingest.ErrNoCollection
// if there is none of that name.
func (cs *Collections) Open(ctx context.Context, name string) (*ingest.Library, error) {
	c, err := cs.get(ctx, name)
	if err != nil {
		return nil, err
	}
	return c.library, nil
}

// get opens a collection.
func (cs *Collections) get(ctx context.Context, name string) (*collection, error) {
	if name == "" {
		name = cs.a.config.Collection
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if c := cs.open[name]; c != nil {
		return c, nil
	}
	config := cs.a.config
	if name != config.Collection {
		if err := ingest.CheckCollection(name); err != nil {
			return nil, err
		}
		if info, err := os.Stat(ingest.CollectionDir(config.DataDir, name)); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("collection %q: %w", name, ingest.ErrNoCollection)
		}
		config.Collection, config.Docs = name, nil
	}
	db, notice, err := config.openIndex(ctx)
	if err != nil {
		return nil, err
	}
	if name != cs.a.config.Collection {
		if config.Docs, err = indexedFolders(ctx, db, config); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	options := config.ingestOptions(notice)
	options.OCR = cs.a.ocr
	keeps := config.keepsVectors() && !db.ReadOnly()
	if config.readsByMeaning() {
		options.Dense = config.ownDense()
	}
	if keeps {
		options.Spare = patient{quiet: &cs.a.quiet}
	}
	c := &collection{index: db, library: ingest.New(db, options), stopped: make(chan struct{})}
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	c.stop = stop
	go func() {
		defer close(c.stopped)
		if keeps {
			cs.a.embedWhenQuiet(life, c.library)
		}
	}()
	if cs.open == nil {
		cs.open, cs.bound = map[string]*collection{}, map[string]*bound{}
	}
	cs.open[name] = c
	return c, nil
}

// indexedFolders are the folders and files of an index that are still there, but for the
// documents that were put into the collection.
func indexedFolders(ctx context.Context, db search.Backend, c Config) (docs []string, err error) {
	roots, err := db.Collections(ctx)
	for _, r := range roots {
		if r.Root != ingest.DocumentsDir(c.DataDir, c.Collection) && ingest.CheckPath(r.Root) == nil {
			docs = append(docs, r.Root)
		}
	}
	return docs, err
}

// current returns what a question over some collections is answered from. The first use of a
// collection indexes its documents. No names mean Config.Collection. Promoted answers whose
// documents changed are not in it.
func (cs *Collections) current(ctx context.Context, names ...string) (*bound, error) {
	b, err := cs.ready(ctx, names)
	if err != nil {
		return nil, err
	}
	b.compare.Do(func() { b.dropped, b.fault = cs.dropPromoted(context.WithoutCancel(ctx), names, nil) })
	if b.fault != nil || len(b.dropped) == 0 {
		return b, b.fault
	}
	return cs.ready(ctx, names)
}

// ready returns what a question is answered from after all documents were read.
func (cs *Collections) ready(ctx context.Context, names []string) (*bound, error) {
	return cs.viewed(ctx, names, func(l *ingest.Library) (ingest.View, error) {
		v, err := l.Ready(ctx)
		if errors.Is(err, ingest.ErrReadOnly) {
			err = cs.a.readOnly("documents that are not indexed yet cannot be")
		}
		return v, err
	})
}

// dropPromoted deletes promoted answers of collections whose documents changed, and returns the names of their files;
// with chunks only answers that these are from.
func (cs *Collections) dropPromoted(ctx context.Context, names []string, chunks []state.Chunk) (dropped []string, err error) {
	if len(names) == 0 {
		names = []string{""}
	}
	for _, name := range names {
		some, err := cs.a.dropPromoted(ctx, name, chunks)
		if err == nil && len(some) > 0 {
			err = cs.outdate(ctx, name)
		}
		if dropped = append(dropped, some...); err != nil {
			return dropped, err
		}
	}
	return dropped, nil
}

// outdate lets the next question read the documents of a collection again, and the ratings.
func (cs *Collections) outdate(ctx context.Context, name string) error {
	l, err := cs.Open(ctx, name)
	if err != nil {
		return err
	}
	l.Outdate()
	cs.mu.Lock()
	defer cs.mu.Unlock()
	clear(cs.bound)
	return nil
}

// known is current for what was indexed before: no documents are read. It is nil if a
// collection has none.
func (cs *Collections) known(ctx context.Context, names ...string) *bound {
	b, err := cs.viewed(ctx, names, func(l *ingest.Library) (ingest.View, error) {
		v := l.View()
		if len(v.Roots) == 0 {
			return v, ingest.ErrNoDocuments
		}
		return v, nil
	})
	if err != nil {
		return nil
	}
	return b
}

// viewed returns what a question is answered from, given the view of each collection.
func (cs *Collections) viewed(ctx context.Context, names []string, view func(*ingest.Library) (ingest.View, error)) (*bound, error) {
	if len(names) == 0 {
		names = []string{cs.a.config.Collection}
	}
	var views []ingest.View
	var chosen []*collection
	var empty error
	version, content := "", ""
	for _, name := range names {
		c, err := cs.get(ctx, name)
		if err != nil {
			return nil, err
		}
		v, err := view(c.library)
		if errors.Is(err, ingest.ErrNoDocuments) {
			empty = err // the others may have some
			continue
		}
		if err != nil {
			return nil, err
		}
		chosen, views = append(chosen, c), append(views, v)
		version += fmt.Sprintf("%s %d ", name, v.Version)
		content += fmt.Sprintf("%q %s", name, v.Content)
	}
	if len(chosen) == 0 {
		return nil, empty
	}
	key := strings.Join(names, "\x00")
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if b := cs.bound[key]; b != nil && b.version == version {
		return b, nil
	}
	b, err := cs.a.bind(ctx, names, chosen, views)
	if err != nil {
		return nil, err
	}
	b.version, b.content = version, content+b.content
	cs.bound[key] = b
	return b, nil
}

// bind makes what questions are answered from, of the indexes of the named collections as they are now.
func (a *Assistant) bind(ctx context.Context, names []string, chosen []*collection, views []ingest.View) (*bound, error) {
	var snapshots []search.Snapshot
	b := &bound{}
	for i, c := range chosen {
		s, err := c.index.Snapshot(ctx, views[i].Roots...)
		if err != nil {
			return nil, err
		}
		snapshots = append(snapshots, s)
		b.libraries = append(b.libraries, c.library)
	}
	snapshot := search.Union(snapshots[0], snapshots[1:]...)
	b.offline = offline.New(snapshot, 0)
	b.words = b.offline.Rewriter.WithDictionary(a.dictionary)
	o := search.Options{
		Dense: a.config.Dense, Retrieval: a.config.Retrieval, Offline: b.offline.Reranker, List: b.offline.Reranker,
		Reranker: a.config.reranker(a.custom), Observer: a.config.Observer, Source: strings.Join(a.config.named(names), ","),
	}
	switch {
	case a.embedder != nil:
		o.Embedder = a.embedder
	case a.reading != nil:
		a.byMeaning(ctx, b, snapshot, &o)
	}
	var err error
	if o.Retrieval.Weights, err = a.config.learnt(o.Retrieval.Weights); err != nil {
		return nil, err
	}
	b.retrieval = o.Retrieval
	if a.cache != nil {
		b.content = contentOf(ctx, snapshot, o)
	}
	b.engine, err = search.New(ctx, snapshot, o)
	return b, err
}

// readOnly reports whether an index that is open can only be read.
func (cs *Collections) readOnly() bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for _, c := range cs.open {
		if c.index.ReadOnly() {
			return true
		}
	}
	return false
}

func (cs *Collections) close() error {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	var errs []error
	for _, c := range cs.open {
		errs = append(errs, c.close())
	}
	return errors.Join(errs...)
}

func (c Config) ingestOptions(notice string) ingest.Options {
	o := ingest.Options{
		Docs: c.Docs, Chunking: c.Chunking, KeepChunking: c.KeepChunking,
		Embedder: c.Models.Embedder, Dense: c.Dense, Notice: notice, Clock: c.Clock,
	}
	if c.indexPath() != "" {
		o.Folders = c.promotedFolders
	}
	if c.Collection != "" { // the index without a name serves many folders, which share no documents
		o.Dir = ingest.DocumentsDir(c.DataDir, c.Collection)
	}
	return o
}

// openIndex opens the index. notice says that it had to be replaced, and why.
func (c Config) openIndex(ctx context.Context) (db search.Backend, notice string, err error) {
	if c.Index == nil {
		return index.OpenOrReplace(ctx, c.indexPath(), index.Options{Ranking: c.Retrieval.Ranking, Logger: c.Logger, Access: c.access()})
	}
	db, err = c.Index(ctx, c.Collection)
	return db, "", err
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
