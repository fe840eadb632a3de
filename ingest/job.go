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
	JobCancelled = "cancelled"
)

// Job is a sync, or new vectors, that may outlive the call that started it. It is safe for
// concurrent use.
type Job struct {
	id     string
	work   work
	l      *Library
	cancel context.CancelCauseFunc
	done   chan struct{}

	// The mutex of the library guards what follows.
	detached       bool // goes on if nobody waits
	waiters        int
	stopping       bool
	outdated       int // Library.outdated when it began
	state          string
	progress       Progress
	moved          chan struct{} // closed by the next progress and by the end
	begun, stopped time.Time
	report         *Report
	err            error
}

// work says what a job does.
type work struct {
	paths   []string // to sync; empty: all
	folders bool     // all but Options.Docs
	reembed bool
}

// JobStatus describes a job at one moment. Its JSON is for programs.
type JobStatus struct {
	ID       string     `json:"id"`
	Paths    []string   `json:"paths"` // as they were given; empty: all documents
	Reembed  bool       `json:"reembed"`
	State    string     `json:"state"` // waiting, running, done, failed or cancelled
	Progress Progress   `json:"progress"`
	Started  *time.Time `json:"started"` // null while it waits
	Ended    *time.Time `json:"ended"`   // null before its end
	Report   *Report    `json:"report"`  // null before its end; what was done before an error is in it
	Error    string     `json:"error"`
}

// ID identifies the job among all jobs of all libraries.
func (j *Job) ID() string { return j.id }

// Done is closed when the job has ended.
func (j *Job) Done() <-chan struct{} { return j.done }

// Cancel ends the job early. What it has done is kept. Cancel does not wait.
func (j *Job) Cancel() {
	j.l.mu.Lock()
	defer j.l.mu.Unlock()
	j.stop(context.Canceled)
}

// stop cancels the job under the mutex of the library.
func (j *Job) stop(cause error) {
	j.stopping = true
	j.cancel(cause)
}

// Wait returns the result once the job has ended. The report is not nil; with an error, it
// says what was done before. The end of ctx ends the waiting, not the job.
func (j *Job) Wait(ctx context.Context) (*Report, error) {
	select {
	case <-j.done:
		return j.report, j.err
	case <-ctx.Done():
		return newReport(), context.Cause(ctx)
	}
}

// Status describes the job now.
func (j *Job) Status() JobStatus {
	j.l.mu.Lock()
	defer j.l.mu.Unlock()
	s := JobStatus{
		ID: j.id, Paths: append([]string{}, j.work.paths...), Reembed: j.work.reembed,
		State: j.state, Progress: j.progress, Report: j.report,
	}
	if !j.begun.IsZero() {
		s.Started = &j.begun
	}
	if !j.stopped.IsZero() {
		s.Ended = &j.stopped
	}
	if j.err != nil {
		s.Error = j.err.Error()
	}
	return s
}

// Watch yields the progress until the job or ctx ends: at once what is known, then the newest
// each time the reader is ready, which may skip some. The last one is always yielded.
func (j *Job) Watch(ctx context.Context) iter.Seq[Progress] {
	return func(yield func(Progress) bool) {
		for seen := (Progress{}); ; {
			j.l.mu.Lock()
			p, moved := j.progress, j.moved
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

func (j *Job) progressed(p Progress) {
	j.l.mu.Lock()
	defer j.l.mu.Unlock()
	j.progress = p
	close(j.moved)
	j.moved = make(chan struct{})
}

// joinable reports whether others may share the result. The caller holds the mutex.
func (j *Job) joinable() bool {
	return !j.stopping && (j.state == JobWaiting || j.state == JobRunning)
}

// Start begins a [Library.Sync] that goes on when ctx ends. Errors are results of the job.
func (l *Library) Start(ctx context.Context, paths ...string) *Job {
	return l.start(ctx, work{paths: paths})
}

func (l *Library) start(ctx context.Context, w work) *Job {
	l.mu.Lock()
	defer l.mu.Unlock()
	j := l.join(ctx, w)
	j.waiters--
	j.detached = true
	return j
}

// Sync makes the index equal to the documents: it reads new and changed files, deletes those
// that are gone, and compares all others by size and time. Each path is a folder or file of
// Options, or lies in one, and need not exist any more; without paths, all documents are
// compared. A file that cannot be read is in the report and stops nothing. A missing folder
// of Options is an error that matches fs.ErrNotExist. Progress before an error or the end of
// ctx is kept.
//
// Calls with the same paths share one job unless it has begun to read: a sync finds all
// changes made before it was called. It goes on until the last caller's ctx ends.
//
// An index that cannot be written stays as it is, with a warning in the report; the error
// matches ErrReadOnly if it holds none of the documents, or if paths are given.
func (l *Library) Sync(ctx context.Context, paths ...string) (*Report, error) {
	return l.do(ctx, work{paths: paths})
}

func (l *Library) do(ctx context.Context, w work) (*Report, error) {
	l.mu.Lock()
	j := l.join(ctx, w)
	l.mu.Unlock()
	return l.wait(ctx, j)
}

// wait is Job.Wait that stops the job when the last one who waits gives up.
func (l *Library) wait(ctx context.Context, j *Job) (*Report, error) {
	select {
	case <-j.done:
		return j.report, j.err
	case <-ctx.Done():
	}
	l.mu.Lock()
	j.waiters--
	last := j.waiters == 0 && !j.detached
	if last {
		j.stop(context.Cause(ctx))
	}
	l.mu.Unlock()
	if !last {
		return newReport(), context.Cause(ctx)
	}
	<-j.done
	return j.report, j.err
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

// join returns a job that does w and has not begun, for one more caller who waits for it. It
// starts one if there is none. The caller holds the mutex.
func (l *Library) join(ctx context.Context, w work) *Job {
	for _, j := range l.jobs {
		same := j.work.folders == w.folders && j.work.reembed == w.reembed && slices.Equal(j.work.paths, w.paths)
		if same && j.state == JobWaiting && j.joinable() {
			j.waiters++
			return j
		}
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	j := &Job{id: newID(), work: w, l: l, cancel: cancel, waiters: 1, state: JobWaiting, moved: make(chan struct{}), done: make(chan struct{})}
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

// newID returns a random id of 26 letters and digits.
func newID() string { return rand.Text() }

// begin notes that the job reads from now on, so that nobody joins it any more who expects
// later changes to be read. A second call does nothing.
func (l *Library) begin(j *Job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if j.state == JobWaiting {
		j.state, j.begun, j.outdated = JobRunning, l.o.Clock(), l.outdated
	}
}

// end stores the result of a job, and forgets the oldest of those that ended. The caller
// holds the mutex.
func (l *Library) end(j *Job, report *Report, err error) {
	j.report, j.err, j.stopped = report, err, l.o.Clock()
	switch {
	case err == nil:
		j.state = JobDone
	case j.stopping:
		j.state = JobCancelled
	default:
		j.state = JobFailed
	}
	j.cancel(nil)
	close(j.moved)
	j.moved = nil
	close(j.done)
	ended := 0
	for i, k := range slices.Backward(l.jobs) {
		if k.moved != nil {
			continue
		}
		if ended++; !k.detached || ended > maxEnded {
			l.jobs = slices.Delete(l.jobs, i, i+1)
		}
	}
}
