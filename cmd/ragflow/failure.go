package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/ragflow"
	"example.com/ragflow/checkpoint/postgres"
	"example.com/ragflow/cmd/ragflow/internal/chat"
	"example.com/ragflow/eval"
	"example.com/ragflow/graph"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/folder"
	"example.com/ragflow/internal/newfile"
	"example.com/ragflow/internal/settings"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/search"
	"example.com/ragflow/search/pgvector"
	"example.com/ragflow/search/weaviate"
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

// failure is an error as a person sees it.
type failure struct {
	code int
	what string // could not be done; may be empty
	err  error  // why
	hint string // says what to do about it; may be empty
}

func (f *failure) Error() string {
	if f.what == "" {
		return f.err.Error()
	}
	return f.what + ": " + f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// with adds a hint.
func (f *failure) with(hint string) *failure {
	f.hint = hint
	return f
}

func usagef(format string, args ...any) *failure {
	return &failure{code: exitUsage, err: fmt.Errorf(format, args...)}
}

func notFoundf(format string, args ...any) *failure {
	return &failure{code: exitNotFound, err: fmt.Errorf(format, args...)}
}

// flagError explains a value that a flag cannot have, and an unknown flag, which may be meant as
// search text.
func flagError(c *cobra.Command, err error) error {
	if words := c.Flags().Args(); !c.HasParent() && len(words) > 0 {
		return unknownCommand(c, words)
	}
	f := &failure{code: exitUsage, err: err}
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if kind := map[string]string{"int": "a whole number", "float64": "a number", "bool": "true or false"}[wrong.GetFlag().Value.Type()]; kind != "" {
			f.err = fmt.Errorf("--%s is %q, but must be %s", wrong.GetFlag().Name, wrong.GetValue(), kind)
		}
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if near := nearFlag(c, unknown.GetSpecifiedName()); near != "" {
			return f.with("did you mean --" + near)
		}
		if strings.Contains(c.Use, "QUERY") || strings.Contains(c.Use, "QUESTION") {
			f.hint = fmt.Sprintf("%[1]s --help shows what it takes; words that begin with a minus go behind two: %[1]s -- %[2]q", c.CommandPath(), "-v")
		}
	}
	return f
}

// nearFlag returns the first flag that begins like name, or that name begins with.
func nearFlag(c *cobra.Command, name string) (near string) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if near == "" && len(name) > 1 && (strings.HasPrefix(f.Name, name) || strings.HasPrefix(name, f.Name)) {
			near = f.Name
		}
	})
	return near
}

// errNoAnswer ends a command that has said on standard output that there is no answer.
var errNoAnswer = errors.New("the documents do not hold the answer")

// failed adds what could not be done, exit code and advice to an error that has none; nil for nil.
func failed(what string, err error) error {
	if f, ok := errors.AsType[*failure](err); ok || err == nil {
		if !ok {
			return nil
		}
		return f
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	if file, ok := err.(*fs.PathError); ok { //nolint:errorlint // an error around it says more
		err = fmt.Errorf("%s: %w", file.Path, file.Err)
	}
	if bad, ok := errors.AsType[*settings.Error](err); ok {
		f := usagef("%w", bad.Err).with(bad.Hint)
		if bad.Conflict {
			f.code = exitFailure
		}
		return f
	}
	f := &failure{code: exitFailure, what: what, err: err}
	switch {
	case is[*search.UnknownKeyError](err):
		f.code = exitUsage
		return f.with("keys are what front matter, or a page's own metadata, says of the documents")
	case is[*graph.StepLimitError](err):
		return f.with("go on with: ragflow ask --thread ID --resume")
	case is[*ragflow.ArchiveError](err):
		return f.with(`nothing was imported; "ragflow threads export" writes such files`)
	}
	for _, a := range advices() {
		if errors.Is(err, a.err) {
			f.code, f.hint = a.code, a.hint
			return f
		}
	}
	return f
}

// is reports whether err is or wraps a T.
func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// advice is the exit code and the hint of an error of the library.
type advice struct {
	err  error
	code int
	hint string
}

const kindsRead = "PDF, Word, Markdown, HTML, EPUB, tables, JSON, plain text and code can"

const writeElsewhere = "name a data folder that can be written, with --data-dir or RAGFLOW_DATA_DIR; what is in this one can still be listed, shown, exported and searched"

const noServer = "start the server, or unset RAGFLOW_INDEX for the index in the data folder"

// advices lists the errors that people can do something about. The first match counts.
func advices() []advice {
	return []advice{
		{weaviate.ErrUnreachable, exitFailure, noServer},
		{pgvector.ErrDown, exitFailure, noServer},
		{pgvector.ErrDenied, exitFailure, "check user, database and rights in RAGFLOW_INDEX, and the password there or in PGPASSWORD"},
		{pgvector.ErrExtension, exitFailure, "install pgvector on the server (Debian: postgresql-17-pgvector of the PostgreSQL project), and let a superuser run: CREATE EXTENSION vector"},
		{ragflow.ErrEmptyQuery, exitUsage, `ask something: ragflow ask "How do I …?"`},
		{ragflow.ErrFiltered, exitFailure, `loosen --filter, --any or --path`},
		{ragflow.ErrThreadName, exitUsage, "choose a shorter name, such as: --thread work"},
		{folder.ErrNoPath, exitUsage, "name a folder or a file"},
		{ragflow.ErrSystemPrompt, exitUsage, "correct the file that RAGFLOW_SYSTEM_PROMPT or system_prompt names, or unset it"},
		{ragflow.ErrPrompts, exitUsage, "correct the file, or take it out; the original: ragflow models prompts show NAME"},
		{ingest.ErrCollectionName, exitUsage, "choose another name, such as: --collection handbook"},
		{ingest.ErrNoCollection, exitNotFound, "ragflow index collections lists those there are; to make one: ragflow index --collection NAME ./docs"},
		{tokens.ErrName, exitUsage, ""},
		{tokens.ErrUnknown, exitNotFound, "ragflow tokens list shows those that are there"},
		{ragflow.ErrNoAnswer, exitFailure, "an answer that cites the documents can be promoted, once its run has ended"},
		{ragflow.ErrSealed, exitFailure, "without RAGFLOW_THREAD_KEYS, in another data folder, answers can be rated"},
		{graph.ErrNotFound, exitNotFound, threadsHint + `, "ragflow trace last" the last run`},
		{eval.ErrDataset, exitUsage, exampleItem},
		{eval.ErrEmptyDataset, exitUsage, exampleItem},
		{eval.ErrRunFormat, exitFailure, `name a file that "ragflow eval --json" wrote`},
		{newfile.ErrOutside, exitUsage, "name the folder itself"},
		{fs.ErrNotExist, exitNotFound, "check the path"},
		{search.ErrEmbedderChanged, exitFailure, `make the vectors again: ragflow index --rebuild; or search by words: ragflow search --leg lexical "…"`},
		{search.ErrNoDense, exitFailure, "make the vectors: ragflow index, with the model in the program or one that EMBEDDING_MODEL names"},
		{ragflow.ErrNoOCR, exitFailure, "install it: apt install tesseract-ocr, brew install tesseract, or winget install UB-Mannheim.TesseractOCR; or go on without --ocr and RAGFLOW_OCR"},
		{ingest.ErrUnread, exitNotFound, "save it in a format that is read: " + kindsRead},
		{ingest.ErrNoDocuments, exitFailure, `name the folder to answer from: ragflow ask --docs ./docs "…", or for all later questions: ragflow init --docs ./docs`},
		{ragflow.ErrNothingToResume, exitFailure, "the last run of the thread ended; ask a new question without --resume"},
		{graph.ErrNothingToDo, exitFailure, "the last run of the thread ended; ask a new question without --resume"},
		{ragflow.ErrThreadExists, exitFailure, "import it under another name: --thread NAME"},
		{ragflow.ErrKey, exitFailure, `put the keys into the environment or .env: RAGFLOW_THREAD_KEYS="2026:KEY", the current one first; nothing was changed`},
		{postgres.ErrDown, exitFailure, "check that RAGFLOW_STORE names the server and that it runs; an unfinished question goes on with: ragflow ask --thread ID --resume"},
		{postgres.ErrDenied, exitFailure, "check user, database and rights in RAGFLOW_STORE, and the password there or in PGPASSWORD"},
		{postgres.ErrFull, exitFailure, "free space on the disk of the server; the step was not saved: go on with: ragflow ask --thread ID --resume"},
		{postgres.ErrNewer, exitFailure, "use the version of ragflow that the other machines use; nothing was changed"},
		{postgres.ErrForeign, exitFailure, "name another schema in RAGFLOW_STORE: postgres://…?search_path=NAME; nothing was changed"},
		{ragflow.ErrDiskFull, exitFailure, "free space on the disk; what was saved before is intact, and an unfinished question goes on with: ragflow ask --thread ID --resume"},
		{ragflow.ErrDisk, exitFailure, `the disk failed to read or write; what was saved before is intact: check the disk, then "ragflow threads verify"`},
		{ragflow.ErrReadOnly, exitFailure, writeElsewhere},
		{ingest.ErrReadOnly, exitFailure, writeElsewhere},
		{ragflow.ErrLocked, exitFailure, "nothing was saved; find the process that was stopped or hangs, let it go on or end it, and try again"},
		{graph.ErrBusy, exitFailure, "another run holds the thread; try again when it is done, or ask in a new thread by leaving out --thread"},
		{graph.ErrSuperseded, exitFailure, "another run wrote to the thread meanwhile, and nothing of this one was saved; ask again"},
		{graph.ErrConflict, exitFailure, "another run wrote to the thread meanwhile, and nothing of this one was saved; ask again"},
		{graph.ErrGraphChanged, exitFailure, "the unfinished run is from another version; ask the question again without --resume"},
		{syscall.EADDRINUSE, exitFailure, "end the program that uses this address, or choose another one: --addr 127.0.0.1:0 takes a free port"},
		{fs.ErrExist, exitFailure, "name a file that is not there yet"},
		{fs.ErrPermission, exitFailure, "check who may read and write there"},
		{
			ragflow.ErrDamaged, exitFailure,
			"a database is damaged: index.db can be deleted, it is made again from your documents; queries.db can be moved away, and a new query log begins; of threads.db keep a copy, and move it away to begin again",
		},
	}
}

// unfinishedError is the error of a question whose run was stopped after it was saved.
type unfinishedError struct {
	error

	resume string // the command that resumes it
}

func (e *unfinishedError) Unwrap() error { return e.error }

// interrupted is the error of a call that a signal ended: by SIGTERM if terminated, else by Ctrl-C.
func interrupted(err error, terminated bool) error {
	f := &failure{code: exitInterrupted, err: errors.New("interrupted")}
	if terminated {
		f = &failure{code: exitTerminated, err: errTerminated}
	}
	if run, ok := errors.AsType[*unfinishedError](err); ok {
		f.hint = "go on with: " + run.resume
	}
	return f
}

// report prints an error and returns the exit code.
func (a *app) report(command *cobra.Command, g *given, err error) int {
	if errors.Is(err, errNoAnswer) {
		return exitNoAnswer
	}
	if errors.Is(err, errBroken) {
		return exitFailure
	}
	f, ok := errors.AsType[*failure](failed("", err))
	if !ok {
		f = &failure{code: exitFailure, err: err}
		if errors.Is(err, context.Canceled) {
			f.code = exitInterrupted
		}
	}
	if errors.Is(err, chat.ErrReported) {
		return f.code
	}
	hint := f.hint
	if strings.Contains(hint, threadsHint) {
		hint += a.otherThreads(g)
	}
	if hint == "" && f.code == exitUsage {
		hint = command.CommandPath() + " --help shows what it takes"
	}
	fmt.Fprintf(a.err, "ragflow: %s\n", once(line(err.Error())))
	if hint != "" {
		fmt.Fprintf(a.err, "hint: %s\n", hint)
	}
	return f.code
}

const threadsHint = `"ragflow threads list" shows the threads there are`

// otherThreads names the data folder of threads that were begun outside of the project; "" if
// there are none.
func (a *app) otherThreads(g *given) string {
	s, err := a.readSettings(g)
	if err != nil || s.Project == "" || s.Config.DataDir == s.PersonalDataDir() || !present(s.PersonalDataDir(), settings.ThreadsFile) {
		return ""
	}
	return "; those begun outside of this project lie in your data folder: --data-dir " + quoted(s.PersonalDataDir())
}

// once removes the parts of a message that repeat the part before them, if several layers say
// what failed.
func once(text string) string {
	const colon = ": "
	return strings.Join(slices.Compact(strings.Split(text, colon)), colon)
}
