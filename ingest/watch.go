package ingest

import (
	"context"
	"strings"
	"time"
)

// DefaultWatchEvery is the preset of WatchOptions.Every.
const DefaultWatchEvery = 2 * time.Second

// watchShare bounds the work of a watch: the pause after a sync is at least so many times as
// long as the sync took.
const watchShare = 20

// WatchOptions say how Watch works. The zero value is ready for use.
type WatchOptions struct {
	Every time.Duration    // the pause between two syncs; default DefaultWatchEvery, longer where a sync takes long
	Tell  func(WatchEvent) // receives what Watch did, in the goroutine of Watch; may be nil
}

// WatchEvent is one thing that Watch did. Either Report or Err is set.
type WatchEvent struct {
	Report  *Report      // the first one always; later ones where something changed
	Changes []FileChange // in the order in which they were saved; nil with the first report
	Err     error        // this sync failed; the next may not
}

// Watch indexes the documents, and again whenever they change, until ctx ends; that is no
// error. It looks at the size and time of each file again and again, which works on every
// file system. An error of the first sync is returned; later ones go to Tell, each once
// while it stays the same.
func (l *Library) Watch(ctx context.Context, o WatchOptions) error {
	switch {
	case len(l.o.Docs) == 0:
		return ErrNoDocuments
	case l.index.ReadOnly():
		return l.o.ReadOnly("the index cannot follow the documents")
	}
	if o.Every <= 0 {
		o.Every = DefaultWatchEvery
	}
	if o.Tell == nil {
		o.Tell = func(WatchEvent) {}
	}
	trouble := "" // what the last sync could not do, to report it once
	for first := true; ; first = false {
		begun := time.Now()
		var changes []FileChange
		report, err := l.sync(ctx, syncOptions{changed: func(c FileChange) { changes = append(changes, c) }})
		now := troubleOf(report, err)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the caller ended the watch
		case first && err != nil:
			return err
		case first:
			o.Tell(WatchEvent{Report: report})
		case err != nil && now != trouble:
			o.Tell(WatchEvent{Err: err})
		case err == nil && (len(changes) > 0 || now != trouble):
			o.Tell(WatchEvent{Report: report, Changes: changes})
		}
		trouble = now
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(max(o.Every, watchShare*time.Since(begun))):
		}
	}
}

// troubleOf names the error of a sync, or the files that could not be read.
func troubleOf(report *Report, err error) string {
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, p := range report.Failed {
		b.WriteString(p.Source + "\x00" + p.Reason + "\x00")
	}
	return b.String()
}
