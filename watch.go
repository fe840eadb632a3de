package ragflow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"example.com/ragflow/ingest/load"
)

// Presets of WatchOptions.
const (
	DefaultDebounce  = 200 * time.Millisecond
	DefaultWatchScan = 30 * time.Second
	DefaultWatchPoll = 2 * time.Second
)

// longestDebounce is how long changes that never pause are waited for.
const longestDebounce = 2 * time.Second

// WatchOptions say how Watch works. The zero value is ready for use.
type WatchOptions struct {
	// Debounce is how long it must have been quiet after a change; default
	// DefaultDebounce.
	Debounce time.Duration
	// Scan is how often everything is looked at even where nothing was told of;
	// default DefaultWatchScan.
	Scan time.Duration
	// Poll is the same where the system does not tell of changes; default
	// DefaultWatchPoll.
	Poll time.Duration
	// Polling asks for polling from the beginning, for file systems over a network
	// that tell of nothing.
	Polling bool
	// Tell is told what Watch did, from the goroutine of Watch; may be nil.
	Tell func(WatchEvent)
}

// WatchEvent is one thing that Watch did. One of Report, Err and Note is set.
type WatchEvent struct {
	Report  *IndexReport // the first one always; later ones where something changed
	Changes []FileChange // in the order in which they were saved; nil with the first report
	Err     error        // this time failed; the next may not
	Note    string       // something a person should know: folders are polled
}

// Watch indexes the documents, and again whenever they change, until ctx ends;
// that is no error. New folders are followed. Where the system cannot tell of
// changes, or lost count, everything is looked at: no change is missed, it is
// only seen later. An error of the first time is returned, later ones are told.
func (a *Assistant) Watch(ctx context.Context, o WatchOptions) error {
	if len(a.config.Docs) == 0 {
		return ErrNoDocuments
	}
	if a.index.ReadOnly() {
		return a.readOnly("the index cannot follow the documents")
	}
	w := newWatch(a, o)
	defer w.close()
	w.follow(ctx) // before reading, so that what changes meanwhile is told of
	if err := w.index(ctx, true); err != nil || ctx.Err() != nil {
		return err
	}
	return w.loop(ctx)
}

// watch is the state of Watch, owned by its goroutine.
type watch struct {
	a       *Assistant
	o       WatchOptions
	events  *fsnotify.Watcher // nil: the system tells nothing
	changes <-chan fsnotify.Event
	faults  <-chan error
	polling bool
	names   map[string]bool // files that are roots; of the folders they lie in, nothing else counts
	roots   []string        // folders
	trouble string          // failed files of the last report, to tell of each once
	failing string          // error of the last time, to be told of once; empty: none
}

func newWatch(a *Assistant, o WatchOptions) *watch {
	fill := func(d *time.Duration, preset time.Duration) {
		if *d <= 0 {
			*d = preset
		}
	}
	fill(&o.Debounce, DefaultDebounce)
	fill(&o.Scan, DefaultWatchScan)
	fill(&o.Poll, DefaultWatchPoll)
	w := &watch{a: a, o: o, polling: o.Polling}
	if o.Polling {
		return w
	}
	events, err := fsnotify.NewWatcher()
	if err != nil {
		w.poll(err)
		return w
	}
	w.events, w.changes, w.faults = events, events.Events, events.Errors
	return w
}

func (w *watch) close() {
	if w.events != nil {
		_ = w.events.Close() // nothing is lost with it
	}
}

func (w *watch) tell(e WatchEvent) {
	if w.o.Tell != nil {
		w.o.Tell(e)
	}
}

// poll goes over to looking, and says so once.
func (w *watch) poll(err error) {
	if !w.polling {
		w.polling = true
		w.tell(WatchEvent{Note: fmt.Sprintf("the system cannot tell of all changes (%v); looking every %v", err, w.o.Poll)})
	}
}

// follow asks to be told of all folders there are now. A folder that is gone
// again meanwhile is told of by the one above.
func (w *watch) follow(ctx context.Context) {
	w.names, w.roots = map[string]bool{}, nil
	if w.events == nil {
		return
	}
	followed := map[string]bool{}
	for _, f := range w.events.WatchList() {
		followed[f] = true
	}
	add := func(folder string) {
		if followed[folder] {
			return
		}
		if err := w.events.Add(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			w.poll(err)
		}
	}
	for _, docs := range w.a.config.Docs {
		root, err := load.Resolve(docs)
		if err != nil {
			continue // indexing tells of it
		}
		if info, err := os.Stat(root.Name); err == nil && !info.IsDir() {
			w.names[root.Name] = true
			add(root.Folder)
			continue
		}
		w.roots = append(w.roots, root.Folder)
		for folder, err := range load.Folders(ctx, docs) {
			if err != nil {
				break
			}
			add(folder)
		}
	}
}

// loop waits for changes and indexes them.
func (w *watch) loop(ctx context.Context) error {
	quiet := time.NewTimer(time.Hour)
	quiet.Stop()
	scan := time.NewTimer(w.interval())
	defer quiet.Stop()
	defer scan.Stop()
	var since time.Time // of the first change that was not indexed yet
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-w.changes:
			if !w.matters(e) {
				continue
			}
			if since.IsZero() {
				since = time.Now()
			}
			quiet.Reset(max(0, min(w.o.Debounce, time.Until(since.Add(longestDebounce)))))
			continue
		case err := <-w.faults:
			if !errors.Is(err, fsnotify.ErrEventOverflow) { // then all is looked at, now
				w.poll(err)
			}
		case <-quiet.C:
		case <-scan.C:
		}
		since = time.Time{}
		quiet.Stop()
		w.follow(ctx)
		scan.Reset(w.again(w.index(ctx, false)))
	}
}

// again tells of an error, once where it is the same each time, and returns when to look
// the next time: soon where the documents could not be read, for a folder that was moved
// away and came back is told of by nobody.
func (w *watch) again(err error) time.Duration {
	if err == nil {
		w.failing = ""
		return w.interval()
	}
	if told := err.Error(); told != w.failing {
		w.failing = told
		w.tell(WatchEvent{Err: err})
	}
	return min(w.o.Poll, w.interval())
}

func (w *watch) interval() time.Duration {
	if w.polling {
		return w.o.Poll
	}
	return w.o.Scan
}

// matters reports whether a change can be one of documents. Hidden files are
// none, but for those that say what is ignored.
func (w *watch) matters(e fsnotify.Event) bool {
	if e.Op == fsnotify.Chmod || e.Name == "" {
		return false
	}
	if w.names[e.Name] {
		return true
	}
	if data := w.a.config.DataDir; data != "" {
		if abs, err := filepath.Abs(data); err == nil && (e.Name == abs || strings.HasPrefix(e.Name, abs+string(filepath.Separator))) {
			return false
		}
	}
	base := filepath.Base(e.Name)
	if strings.HasPrefix(base, ".") && base != ".gitignore" && base != ".ragflowignore" {
		return false
	}
	return slices.ContainsFunc(w.roots, func(root string) bool {
		return e.Name == root || strings.HasPrefix(e.Name, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator))
	})
}

// index brings the index up to date and tells what changed.
func (w *watch) index(ctx context.Context, first bool) error {
	var changes []FileChange
	o := indexing{}
	if !first {
		o.changed = func(c FileChange) { changes = append(changes, c) }
	}
	report, err := w.a.indexWith(ctx, o)
	if err != nil {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // told to end
		}
		return err
	}
	var trouble strings.Builder
	for _, p := range report.Failed {
		trouble.WriteString(p.Source + "\x00" + p.Reason + "\x00")
	}
	if first || len(changes) > 0 || trouble.String() != w.trouble {
		w.tell(WatchEvent{Report: report, Changes: changes})
	}
	w.trouble = trouble.String()
	return nil
}
