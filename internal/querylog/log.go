package querylog

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/google/uuid"

	"example.com/ragflow/internal/seal"
	"example.com/ragflow/internal/sqlite"
)

// Defaults of [Options].
const (
	DefaultKeep     = 90 * 24 * time.Hour
	DefaultMaxBytes = 256 << 20
)

// Bounds of the queue and of what is written together.
const (
	maxQueue = 1000
	maxBatch = 256
)

// pruneEvery is how often old entries are looked for while others are written.
const pruneEvery = time.Hour

// closing is how long Close waits for what is queued.
const closing = 2 * time.Second

// Options configure a [Log]. The zero value is usable.
type Options struct {
	Keep     time.Duration    // entries older than this are deleted; 0: DefaultKeep
	MaxBytes int64            // the oldest entries are deleted if all have more; 0: DefaultMaxBytes
	Keys     *seal.Keys       // encrypt entries; nil: they are plain
	Logger   *slog.Logger     // gets a warning when entries are lost; may be nil
	Clock    func() time.Time // nil: time.Now
}

// Log writes entries in the background. It is safe for concurrent use.
type Log struct {
	path   string
	o      Options
	sealer *seal.Sealer       // nil without keys
	cancel context.CancelFunc // of what is being written
	wake   chan struct{}      // has room for one
	done   chan struct{}      // closed when nothing more is written

	mu      sync.Mutex
	queue   []Entry
	waiting []chan struct{} // of Flush, closed when the queue is written
	lost    int64           // entries that were not written and that no entry of the kind Lost counts
	closed  bool

	// Of the goroutine that writes.
	db     *sqlite.DB // nil before the first entry and after a failure
	pruned time.Time
	failed bool // the last write failed, and the logger knows
}

// Open makes a log at a path. The file is opened, or made together with its folder, when the first
// entry is written. The caller closes the log.
func Open(path string, o Options) *Log {
	o.Keep, o.MaxBytes = cmp.Or(o.Keep, DefaultKeep), cmp.Or(o.MaxBytes, DefaultMaxBytes)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	l := &Log{path: path, o: o, wake: make(chan struct{}, 1), done: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	if o.Keys != nil {
		l.sealer = seal.New(*o.Keys)
	}
	go l.run(ctx)
	return l
}

// Add queues an entry. It does not wait: if the queue is full or the log is closed, the entry is
// lost. An entry without an ID gets one, and one without a time the present.
func (l *Log) Add(e Entry) {
	if e.ID == "" {
		e.ID = uuid.Must(uuid.NewV7()).String()
	}
	if e.Time.IsZero() {
		e.Time = l.o.Clock().UTC()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.queue) >= maxQueue {
		l.lost++
		return
	}
	l.queue = append(l.queue, e.bounded())
	l.signal()
}

// signal wakes the goroutine that writes.
func (l *Log) signal() {
	select {
	case l.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// Flush waits until the entries that were added before are written or lost, or until ctx ends.
func (l *Log) Flush(ctx context.Context) {
	written := make(chan struct{})
	l.mu.Lock()
	l.waiting = append(l.waiting, written)
	l.signal()
	l.mu.Unlock()
	select {
	case <-written:
	case <-l.done:
	case <-ctx.Done():
	}
}

// Close writes what is queued, for at most two seconds, and closes the file. The logger is told how
// many entries were lost and are counted nowhere.
func (l *Log) Close() {
	l.mu.Lock()
	l.closed = true
	l.signal()
	l.mu.Unlock()
	timer := time.AfterFunc(closing, l.cancel)
	defer timer.Stop()
	<-l.done
	l.cancel()
	if lost := l.Lost(); lost > 1 || lost == 1 && !l.failed {
		l.o.Logger.Warn("questions are missing in the query log", "questions", lost)
	}
}

// Lost returns how many entries were not written and are not counted in the file yet.
func (l *Log) Lost() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// run writes until the log is closed and its queue empty.
func (l *Log) run(ctx context.Context) {
	defer close(l.done)
	defer l.closeDatabase()
	for range l.wake {
		for {
			batch, lost, waiting, closed := l.next()
			if len(batch) > 0 {
				l.report(l.write(ctx, batch, lost), int64(len(batch)), lost)
				continue
			}
			for _, w := range waiting {
				close(w)
			}
			if closed {
				return
			}
			break
		}
	}
}

// next takes entries from the queue, with the number of those that were lost before. If there are
// none, it returns the callers that wait for that.
func (l *Log) next() (batch []Entry, lost int64, waiting []chan struct{}, closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.queue), maxBatch)
	batch, l.queue = l.queue[:n:n], l.queue[n:]
	if n == 0 {
		l.queue, waiting, l.waiting = nil, l.waiting, nil
	}
	return batch, l.lost, waiting, l.closed
}

// write writes a batch in one transaction. After an error nothing of it is saved.
func (l *Log) write(ctx context.Context, batch []Entry, lost int64) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	if l.db == nil {
		if l.db, err = openDatabase(ctx, l.path, l.sealer); err != nil {
			return err
		}
	}
	err = l.db.Write(ctx, func(tx *sqlite.Tx) error {
		if lost > 0 {
			missing := Entry{ID: uuid.Must(uuid.NewV7()).String(), Time: l.o.Clock().UTC(), Kind: Lost, Lost: lost}
			if err := insert(tx, missing, l.sealer); err != nil {
				return err
			}
		}
		for _, e := range batch {
			if err := insert(tx, e, l.sealer); err != nil {
				return err
			}
		}
		return nil
	})
	if now := l.o.Clock(); err == nil && now.Sub(l.pruned).Abs() >= pruneEvery {
		l.pruned = now
		if err := prune(ctx, l.db, now.Add(-l.o.Keep), l.o.MaxBytes); err != nil {
			l.tell(err)
		}
	}
	return err
}

// report counts a batch that was written, with the loss before it, or that was lost.
func (l *Log) report(err error, entries, lost int64) {
	l.mu.Lock()
	if err == nil {
		l.lost -= lost
	} else {
		l.lost += entries
	}
	l.mu.Unlock()
	switch {
	case err != nil:
		l.closeDatabase() // the next entry opens it again
		if !l.failed {
			l.tell(err)
		}
	case l.failed:
		l.o.Logger.Warn("the query log can be written again", "missing", lost)
	}
	l.failed = err != nil
}

// tell warns that an entry was not logged. Of failures in a row only the first is reported.
func (l *Log) tell(err error) {
	//nolint:sloglint // the line is prescribed
	l.o.Logger.Warn(fmt.Sprintf("Failed to log query: %v", err))
}

func (l *Log) closeDatabase() {
	if l.db != nil {
		_ = l.db.Close() // what was written is committed
		l.db = nil
	}
}
