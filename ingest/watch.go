package ingest

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

// longestDebounce is the longest wait for changes to pause.
const longestDebounce = 2 * time.Second

// WatchOptions say how Watch works. The zero value is ready for use.
type WatchOptions struct {
	// Debounce is how long it must have been quiet after a change; default
	// DefaultDebounce.
	Debounce time.Duration
	// Scan is how often everything is synced although no change was reported;
	// default DefaultWatchScan.
	Scan time.Duration
	// Poll is the same where the system does not report changes; default
	// DefaultWatchPoll.
	Poll time.Duration
	// Polling polls from the beginning, for network file systems that report no
	// changes.
	Polling bool
	// Tell receives what Watch did, in the goroutine of Watch; may be nil.
	Tell func(WatchEvent)
}

// WatchEvent is one thing that Watch did. One of Report, Err and Note is set.
type WatchEvent struct {
	Report  *Report      // the first one always; later ones where something changed
	Changes []FileChange // in the order in which they were saved; nil with the first report
	Err     error        // this time failed; the next may not
	Note    string       // something a person should know, such as that folders are polled
}

// Watch indexes the documents, and again whenever they change, until ctx ends;
// that is no error. New folders are watched, too. Where the system does not report
// changes, or reports that some were lost, everything is synced: no change is missed,
// it is only seen later. An error of the first sync is returned, later ones go to Tell.
func (l *Library) Watch(ctx context.Context, o WatchOptions) error {
	if len(l.o.Docs) == 0 {
		return ErrNoDocuments
	}
	if l.index.ReadOnly() {
		return l.o.ReadOnly("the index cannot follow the documents")
	}
	w := newWatch(l, o)
	defer w.close()
	w.follow(ctx) // before the first sync, so that changes during it are reported
	if err := w.index(ctx, true); err != nil || ctx.Err() != nil {
		return err
	}
	return w.loop(ctx)
}

// watch is the state of Watch, owned by its goroutine.
type watch struct {
	l       *Library
	o       WatchOptions
	events  *fsnotify.Watcher // nil: the system reports nothing
	changes <-chan fsnotify.Event
	faults  <-chan error
	polling bool
	names   map[string]bool // files that are roots; other files of their folders do not count
	roots   []string        // folders
	trouble string          // failed files of the last report, to report each once
	failing string          // last error, to report it once; empty: none
}

func newWatch(l *Library, o WatchOptions) *watch {
	fill := func(d *time.Duration, preset time.Duration) {
		if *d <= 0 {
			*d = preset
		}
	}
	fill(&o.Debounce, DefaultDebounce)
	fill(&o.Scan, DefaultWatchScan)
	fill(&o.Poll, DefaultWatchPoll)
	w := &watch{l: l, o: o, polling: o.Polling}
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

// poll switches to polling, and says so once.
func (w *watch) poll(err error) {
	if !w.polling {
		w.polling = true
		w.tell(WatchEvent{Note: fmt.Sprintf("the system does not report all changes (%v); checking every %v", err, w.o.Poll)})
	}
}

// follow subscribes to changes in all folders that exist now. Where a folder is
// deleted meanwhile, its parent reports it.
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
	for _, docs := range w.l.o.Docs {
		root, err := load.Resolve(docs)
		if err != nil {
			continue // indexing reports it
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
			if !w.relevant(e) {
				continue
			}
			if since.IsZero() {
				since = time.Now()
			}
			quiet.Reset(max(0, min(w.o.Debounce, time.Until(since.Add(longestDebounce)))))
			continue
		case err := <-w.faults:
			if !errors.Is(err, fsnotify.ErrEventOverflow) { // an overflow needs only a full sync
				w.poll(err)
			}
		case <-quiet.C:
		case <-scan.C:
		}
		since = time.Time{}
		quiet.Stop()
		w.follow(ctx)
		scan.Reset(w.nextScan(w.index(ctx, false)))
	}
}

// nextScan reports an error, once while it stays the same, and returns when to sync
// again: soon after an error, because the system does not report that a folder which
// was moved away is back.
func (w *watch) nextScan(err error) time.Duration {
	if err == nil {
		w.failing = ""
		return w.interval()
	}
	if message := err.Error(); message != w.failing {
		w.failing = message
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

// relevant reports whether a change may concern documents. Hidden files do not, except
// those that list what to ignore.
func (w *watch) relevant(e fsnotify.Event) bool {
	if e.Op == fsnotify.Chmod || e.Name == "" {
		return false
	}
	if w.names[e.Name] {
		return true
	}
	if data := w.l.o.Ignored; data != "" {
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

// index syncs and reports what changed.
func (w *watch) index(ctx context.Context, first bool) error {
	var changes []FileChange
	o := syncOptions{}
	if !first {
		o.changed = func(c FileChange) { changes = append(changes, c) }
	}
	report, err := w.l.sync(ctx, o)
	if err != nil {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the caller ended it
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
