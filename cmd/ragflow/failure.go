package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/ragflow"
	"example.com/ragflow/eval"
	"example.com/ragflow/graph"
	"example.com/ragflow/search/index"
	"example.com/ragflow/transcript"
)

// Exit codes. They are part of the contract of the command line.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2   // a bad flag, argument or setting
	exitNotFound    = 3   // no such thread, run, file or folder
	exitNoAnswer    = 4   // with --fail-on-no-answer
	exitInterrupted = 130 // Ctrl-C: SIGINT
	exitTerminated  = 143 // SIGTERM
)

// failure is an error as a person is told of it.
type failure struct {
	code int
	what string // that failed; may be empty
	err  error  // why
	hint string // what to do about it; may be empty
}

func (f *failure) Error() string {
	if f.what == "" {
		return f.err.Error()
	}
	return f.what + ": " + f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

func usagef(format string, args ...any) *failure {
	return &failure{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// flagError tells of flags that there are not, which may be words to search for.
func flagError(c *cobra.Command, err error) error {
	f := &failure{code: exitUsage, err: err}
	_, unknown := errors.AsType[*pflag.NotExistError](err)
	if takes := c.Use; unknown && (strings.Contains(takes, "QUERY") || strings.Contains(takes, "QUESTION")) {
		f.hint = fmt.Sprintf("%[1]s --help shows what it takes; words that begin with a minus go behind two: %[1]s -- %[2]q", c.CommandPath(), "-v")
	}
	return f
}

func notFoundf(format string, args ...any) *failure {
	return &failure{code: exitNotFound, err: fmt.Errorf(format, args...)}
}

// errNoAnswer ends a command whose answer is that there is none. What was to
// say has been said on standard output.
var errNoAnswer = errors.New("the documents do not hold the answer")

// failed says what could not be done, unless err says it already. It finds the
// exit code and the hint from the facts that err wraps.
func failed(what string, err error) error {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	code, hint := meaning(err)
	return &failure{code: code, what: what, err: err, hint: hint}
}

// meaning maps the errors of the library to exit code and advice.
func meaning(err error) (code int, hint string) {
	_, limited := errors.AsType[*graph.StepLimitError](err)
	key, unknown := errors.AsType[*index.UnknownKeyError](err)
	switch {
	case errors.Is(err, ragflow.ErrEmptyQuery):
		return exitUsage, `ask something: ragflow ask "How do I …?"`
	case unknown:
		return exitUsage, unknownKey(key)
	case errors.Is(err, ragflow.ErrFiltered):
		return exitFailure, "loosen --filter, --any or --path; \"ragflow search --facets KEY\" counts the values there are"
	case errors.Is(err, ragflow.ErrThreadName):
		return exitUsage, "choose a shorter name, such as: --thread work"
	case errors.Is(err, ragflow.ErrNoPath):
		return exitUsage, "name a folder or a file"
	case errors.Is(err, ragflow.ErrSystemPrompt):
		return exitUsage, "mend the file that RAGFLOW_SYSTEM_PROMPT or system_prompt names, or unset it"
	case errors.Is(err, ragflow.ErrCollectionName):
		return exitUsage, "choose another name, such as: --collection handbook"
	case errors.Is(err, ragflow.ErrNoCollection):
		return exitNotFound, "ragflow index collections list shows those there are"
	case errors.Is(err, ragflow.ErrAmbiguous):
		return exitUsage, "give more of the id"
	case errors.Is(err, ragflow.ErrNoPage):
		return exitNotFound, `"ragflow index stats --files" shows the documents there are`
	case errors.Is(err, ragflow.ErrNoAnswer):
		return exitFailure, "an answer that cites the documents can be promoted, once its run has ended"
	case errors.Is(err, ragflow.ErrSealed):
		return exitFailure, "without RAGFLOW_THREAD_KEYS, in another data folder, answers can be rated"
	case errors.Is(err, graph.ErrNotFound):
		return exitNotFound, `"ragflow threads list" shows the threads there are`
	case errors.Is(err, eval.ErrNoRun):
		return exitNotFound, `"ragflow eval runs" lists the runs there are`
	case errors.Is(err, eval.ErrRunFormat):
		return exitFailure, "give a run's id or name, or a file that \"ragflow eval --json\" wrote"
	case errors.Is(err, fs.ErrNotExist):
		return exitNotFound, "check the path"
	case errors.Is(err, ragflow.ErrEmbedderChanged):
		return exitFailure, `make the vectors anew: ragflow index --rebuild; or search by words: ragflow search --leg lexical "…"`
	case errors.Is(err, ragflow.ErrNoDense):
		return exitFailure, "name a model with EMBEDDING_MODEL, then run: ragflow index"
	case errors.Is(err, ragflow.ErrNoDocuments):
		return exitFailure, `name the folder to answer from: ragflow ask --docs ./docs "…", or once for all: ragflow init --docs ./docs`
	case errors.Is(err, ragflow.ErrNothingToResume), errors.Is(err, graph.ErrNothingToDo):
		return exitFailure, "the last run of the thread ended; ask a new question without --resume"
	case errors.Is(err, ragflow.ErrThreadExists):
		return exitFailure, "choose another name for the new thread"
	case isArchive(err):
		return exitFailure, "nothing was imported; \"ragflow threads export\" writes such files"
	case errors.Is(err, ragflow.ErrKey):
		return exitFailure, "put the keys into the environment or .env: RAGFLOW_THREAD_KEYS=\"2026:KEY\", the current one first; nothing was changed"
	case errors.Is(err, ragflow.ErrDiskFull):
		return exitFailure, "make room on the disk; what was saved before is intact, and an unfinished question goes on with: ragflow ask --thread ID --resume"
	case errors.Is(err, ragflow.ErrDisk):
		return exitFailure, "the disk failed to read or write; what was saved before is intact: check the disk, then \"ragflow threads verify\""
	case errors.Is(err, ragflow.ErrReadOnly):
		return exitFailure, "name a data folder that can be written, with --data-dir or RAGFLOW_DATA_DIR; what is in this one can still be listed, shown, exported and searched"
	case errors.Is(err, ragflow.ErrLocked):
		return exitFailure, "nothing was saved; find the process that was stopped or hangs, let it go on or end it, and try again"
	case errors.Is(err, graph.ErrBusy):
		return exitFailure, "another run holds the thread; try again when it is done, or ask in a new thread by leaving out --thread"
	case errors.Is(err, graph.ErrSuperseded), errors.Is(err, graph.ErrConflict):
		return exitFailure, "another run wrote to the thread meanwhile, and nothing of this one was saved; ask again"
	case errors.Is(err, graph.ErrGraphChanged):
		return exitFailure, "the unfinished run is from another version; ask the question again without --resume"
	case limited:
		return exitFailure, "go on with: ragflow ask --thread ID --resume"
	case errors.Is(err, fs.ErrPermission):
		return exitFailure, "check who may read and write there"
	case errors.Is(err, ragflow.ErrDamaged):
		return exitFailure, "a database is damaged: index.db can be deleted, it is made again from your documents; of threads.db keep a copy, and move it away to begin anew"
	}
	return exitFailure, ""
}

func isArchive(err error) bool {
	_, ok := errors.AsType[*ragflow.ArchiveError](err)
	return ok
}

// interrupted tells of a run that a signal ended.
func (a *app) interrupted() error {
	f := &failure{code: exitInterrupted, err: errors.New("interrupted")}
	if a.ending.terminated() {
		f = &failure{code: exitTerminated, err: errTerminated}
	}
	if a.started != "" {
		f.hint = "go on with: ragflow ask" + a.sameFlags() + " --thread " + quoted(a.started) + " --resume"
	}
	if a.goOn != "" {
		f.hint = a.goOn
	}
	return f
}

// report prints an error and returns the exit code.
func (a *app) report(command *cobra.Command, err error) int {
	if errors.Is(err, errNoAnswer) {
		return exitNoAnswer
	}
	if errors.Is(err, errBroken) {
		return exitFailure
	}
	f, ok := errors.AsType[*failure](err)
	if !ok {
		f = &failure{code: exitFailure, err: err}
		if errors.Is(err, context.Canceled) {
			f.code = exitInterrupted
		}
	}
	hint := f.hint
	if hint == "" && f.code == exitUsage {
		hint = command.CommandPath() + " --help shows what it takes"
	}
	fmt.Fprintf(a.err, "ragflow: %s\n", line(err.Error()))
	if hint != "" {
		fmt.Fprintf(a.err, "hint: %s\n", hint)
	}
	return f.code
}

// sameFlags are the flags that make another call use the same documents and the
// same data folder, from any folder. They begin with a space.
func (a *app) sameFlags() string {
	here, err := os.Getwd()
	if err != nil {
		return ""
	}
	flags := ""
	if a.flags.collection != "" {
		flags += " --collection " + quoted(a.flags.collection)
	}
	var docs strings.Builder
	for _, p := range a.flags.docs {
		if p != stdinDocs {
			docs.WriteString(" --docs " + quoted(absolute(here, p)))
		}
	}
	flags += docs.String()
	if a.flags.dataDir != "" {
		flags += " --data-dir " + quoted(absolute(here, a.flags.dataDir))
	}
	return flags
}

// line makes a text one line that cannot command a terminal.
func line(s string) string {
	return strings.Join(strings.Fields(transcript.Visible(s)), " ")
}
