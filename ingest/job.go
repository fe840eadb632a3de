package ingest

import (
	"context"
	"crypto/rand"
	"iter"
	"slices"
	"time"
)

// maxEnded is how many jobs that ended a library lists, of those that were started.
const maxEnded = 50

// States of a [Job].
const (
	JobWaiting   = "waiting" // for another job on the same documents
	JobRunning   = "running"
	JobDone      = "done"
	JobFailed    = "failed"
	JobCancelled = "cancelled" // it ends soon, or has ended
)

// Job is a sync, or new vectors, that may outlive the call that started it. It is safe for
// concurrent use.
type Job struct {
	l      *Library
	cancel context.CancelCauseFunc
	done   chan struct{}

	// The mutex of the library guards what follows.
	status  JobStatus
	err     error
	started bool          // it needs no caller who waits
	waiters int           // callers who need the result
	moved   chan struct{} // closed by the next progress and by the end; nil afterwards
}

// JobStatus describes a job at one moment. Its JSON is for programs.
type JobStatus struct {
	ID       string     `json:"id"`    // unique among all libraries
	Paths    []string   `json:"paths"` // to sync, as they were given; empty: all documents
	Reembed  bool       `json:"reembed"`
	State    string     `json:"state"` // waiting, running, done, failed or cancelled
	Progress Progress   `json:"progress"`
	Started  *time.Time `json:"started"` // null while it waits
	Ended    *time.Time `json:"ended"`   // null before its end
	Report   *Report    `json:"report"`  // null before its end; with an error, of what was done before
	Error    string     `json:"error"`

	lacking bool // of Reembed: only vectors that passages lack
}

// Start begins a [Library.Sync] that the end of ctx does not cancel. Errors are results of the
// job.
func (l *Library) Start(ctx context.Context, paths ...string) *Job {
	return l.join(ctx, JobStatus{Paths: paths}, true)
}

// Sync makes the index equal to the documents: it reads new and changed files, deletes those
// that are gone, and compares all others by size and time. Each path is a folder or file of
// Options, or lies in one, and need not exist any more; without paths, all documents are
// compared. A file that cannot be read is in the report and stops nothing. A missing folder
// of Options is an error that matches fs.ErrNotExist. The report is not nil: what was done
// before an error or the end of ctx is kept.
//
// Calls with the same paths share one job unless it has begun to read: a sync finds all
// changes made before it was called. The job ends when no caller waits for it.
//
// An index that cannot be written stays as it is, with a warning in the report; the error
// matches ErrReadOnly if it holds none of the documents, or if paths are given.
func (l *Library) Sync(ctx context.Context, paths ...string) (*Report, error) {
	return l.wait(ctx, l.join(ctx, JobStatus{Paths: paths}, false))
}

// Jobs lists the jobs under way, and those of Start and StartReembed that ended last, newest
// first.
func (l *Library) Jobs() []*Job {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := slices.Clone(l.jobs)
	slices.Reverse(out)
	return out
}

// Status describes the job now.
func (j *Job) Status() JobStatus {
	j.l.mu.Lock()
	defer j.l.mu.Unlock()
	return j.status
}

// Done is closed when the job has ended.
func (j *Job) Done() <-chan struct{} { return j.done }

// Wait returns the result of [Library.Sync] once the job has ended. The end of ctx ends the
// waiting, not the job.
func (j *Job) Wait(ctx context.Context) (*Report, error) {
	select {
	case <-j.done:
		return j.status.Report, j.err
	case <-ctx.Done():
		return newReport(), context.Cause(ctx)
	}
}

// Watch yields the progress until the job or ctx ends: at once what is known, then the newest
// each time the reader is ready, which may skip some. The last one is always yielded.
func (j *Job) Watch(ctx context.Context) iter.Seq[Progress] {
	return func(yield func(Progress) bool) {
		for seen := (Progress{}); ; {
			j.l.mu.Lock()
			p, moved := j.status.Progress, j.moved
			j.l.mu.Unlock()
			if p != seen && !yield(p) {
				return
			}
			if seen = p; moved == nil {
				return
			}
			select {
			case <-moved:
			case <-ctx.Done():
				return
			}
		}
	}
}

// Cancel ends the job early, and keeps the changes that it has made. It does not wait.
func (j *Job) Cancel() {
	j.l.mu.Lock()
	defer j.l.mu.Unlock()
	j.stop(context.Canceled)
}

// stop cancels the job unless it has ended. The caller holds the mutex.
func (j *Job) stop(cause error) {
	if j.moved != nil {
		j.status.State = JobCancelled
		j.cancel(cause)
	}
}

func (j *Job) report(p Progress) {
	j.l.mu.Lock()
	defer j.l.mu.Unlock()
	j.status.Progress = p
	close(j.moved)
	j.moved = make(chan struct{})
}

// begin notes that the job reads from now on: nobody joins it any more who expects later
// changes to be read.
func (j *Job) begin() {
	j.l.mu.Lock()
	defer j.l.mu.Unlock()
	if now := j.l.o.Clock(); j.status.State == JobWaiting {
		j.status.State, j.status.Started = JobRunning, &now
	}
}

// join returns a job of s.Paths and s.Reembed that has not begun, and starts one if there is
// none. Unless it is started to outlive the caller, the caller waits for it.
func (l *Library) join(ctx context.Context, s JobStatus, started bool) *Job {
	l.mu.Lock()
	defer l.mu.Unlock()
	var j *Job
	for _, other := range l.jobs {
		if o := other.status; o.State == JobWaiting && o.Reembed == s.Reembed && o.lacking == s.lacking && slices.Equal(o.Paths, s.Paths) {
			j = other
		}
	}
	if j == nil {
		j = l.launch(ctx, s)
	}
	if j.started = j.started || started; !started {
		j.waiters++
	}
	return j
}

// launch starts a job. The caller holds the mutex.
func (l *Library) launch(ctx context.Context, s JobStatus) *Job {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	s.ID, s.State, s.Paths = rand.Text(), JobWaiting, append([]string{}, s.Paths...)
	j := &Job{l: l, status: s, cancel: cancel, moved: make(chan struct{}), done: make(chan struct{})}
	if l.closed {
		l.end(j, newReport(), ErrClosed)
		return j
	}
	l.jobs = append(l.jobs, j)
	l.running.Go(func() {
		report := newReport()
		err := l.run(ctx, j, report)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.end(j, report, err)
	})
	return j
}

// end stores the result of a job and forgets jobs that are listed no more. The caller holds
// the mutex.
func (l *Library) end(j *Job, report *Report, err error) {
	now := l.o.Clock()
	switch j.status.Report, j.status.Ended, j.err = report, &now, err; {
	case err == nil:
		j.status.State = JobDone
	case j.status.State != JobCancelled:
		j.status.State = JobFailed
	}
	if err != nil {
		j.status.Error = err.Error()
	}
	j.cancel(nil)
	close(j.moved)
	j.moved = nil
	close(j.done)
	ended := 0
	for i, other := range slices.Backward(l.jobs) {
		if other.moved != nil {
			continue
		}
		if ended++; !other.started || ended > maxEnded {
			l.jobs = slices.Delete(l.jobs, i, i+1)
		}
	}
}

// wait is Job.Wait for a caller of join: the job is cancelled when the last caller gives up,
// unless it was started.
func (l *Library) wait(ctx context.Context, j *Job) (*Report, error) {
	report, err := j.Wait(ctx)
	l.mu.Lock()
	j.waiters--
	last := j.waiters == 0 && !j.started && j.moved != nil
	if last {
		j.stop(context.Cause(ctx))
	}
	l.mu.Unlock()
	if last {
		<-j.done
		return j.status.Report, j.err
	}
	return report, err
}
