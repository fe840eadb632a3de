package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/ragflow"
	"example.com/ragflow/threads"
)

// threadFlags are the flags of all operations on threads.
type threadFlags struct {
	all, dryRun, yes       bool
	before, output, as, at string
	older                  time.Duration
	prune                  threads.PruneOptions
	given                  func(flag string) bool
}

// threadOperation is one command below "ragflow threads".
type threadOperation struct {
	use, short, long, example string
	most                      int // arguments; below 0 is no limit
	json                      bool
	flags                     func(*threadFlags, *pflag.FlagSet)
	do                        func(*app, context.Context, *threads.Log, *threadFlags, []string) error
}

func threadOperations() []threadOperation {
	return []threadOperation{
		{
			use: "list", short: "List all conversations, the last used first", json: true, do: (*app).listThreads,
			long: `List all conversations, the last used first: id, number of turns, when it was
last used, how many bytes its log takes, and its first question. On a terminal the
question is cut to fit; an id never is.`,
			example: `  ragflow threads list
  ragflow threads list --json | jq -r '.threads[0].id'`,
		},
		{
			use: "show ID", short: "Show a conversation from its first question on", most: 1, json: true, do: (*app).showThread,
			long: `Show a conversation as Markdown, from its first question on, including messages
that were summarised since. Each answer has its sources and the id of its run,
which "ragflow trace" shows.`,
			example: `  ragflow threads show last
  ragflow threads show 0198f3c2
  ragflow threads show --json last`,
		},
		{
			use: "export ID", short: "Write a conversation to a file that can be imported", most: 1, do: (*app).exportThread,
			long: `Write a conversation as text, one JSON object a line: a header, one line for each
step with all that it changed and noted, and a checksum. Importing it gives the
same history, the same state and the same traces.`,
			example: `  ragflow threads export last -o conversation.jsonl
  ragflow threads export last | gzip > conversation.jsonl.gz`,
			flags: func(o *threadFlags, f *pflag.FlagSet) {
				f.StringVarP(&o.output, "output", "o", "", "write to this `FILE` (default: standard output)")
			},
		},
		{
			use: "import FILE", short: "Add a conversation that was exported", most: 1, json: true, do: (*app).importThread,
			long: `Add a conversation from a file that "threads export" wrote, or from standard
input with "-". The whole file is checked first; a damaged one changes nothing.
The thread and its runs keep their ids. If a thread of that id exists, give
another name with --thread.`,
			example: `  ragflow threads import conversation.jsonl
  ragflow threads import conversation.jsonl --thread copy
  gunzip < conversation.jsonl.gz | ragflow threads import -`,
			flags: func(o *threadFlags, f *pflag.FlagSet) {
				f.StringVar(&o.as, "thread", "", "import it under this `NAME`")
			},
		},
		{
			use: "fork ID [NEW]", short: "Begin a new conversation with the history of another", most: 2, json: true, do: (*app).forkThread,
			long: `Begin a new conversation with the history and state of another, as they are, or
with --at as they were after a run (its id, as "ask --json" and traces show it, or
the beginning of the id) or a commit (a number, as in the table of threads.db).
Afterwards the two are independent. Without a name the new one gets an id, which
is printed.`,
			example: `  ragflow threads fork last experiment
  ragflow threads fork work --at 0198f3c2 before-the-mistake`,
			flags: func(o *threadFlags, f *pflag.FlagSet) {
				f.StringVar(&o.at, "at", "", "as it was after this `RUN` or commit")
			},
		},
		{
			use: "prune [ID]", short: "Drop the oldest turns of a conversation from its log", most: 1, json: true, do: (*app).pruneThreads,
			long: `Drop the oldest turns of a conversation, or of all with --all, from the log: what
they retrieved, noted and answered. What the conversation knows stays, and so do
the traces of the turns that are kept. A turn that meets every condition stays.
Messages that no summary holds yet stay readable. The file shrinks at the end.`,
			example: `  ragflow threads prune last --keep-last 10
  ragflow threads prune --all --before 2026-01-31 --dry-run
  ragflow threads prune --all --max-bytes 1000000`,
			flags: func(o *threadFlags, f *pflag.FlagSet) {
				f.BoolVar(&o.all, "all", false, "all conversations")
				f.IntVar(&o.prune.KeepLast, "keep-last", 0, "keep the last `N` turns")
				f.StringVar(&o.before, "before", "", "drop turns asked before this `TIME`: 2026-01-31 or 2026-01-31T08:30:00Z")
				f.Int64Var(&o.prune.MaxBytes, "max-bytes", 0, "keep the newest turns that together take at most `N` bytes")
				f.BoolVar(&o.prune.DryRun, "dry-run", false, "only tell what would go")
			},
		},
		{
			use: "expire", short: "Delete the conversations that were not used for long", json: true, do: (*app).expireThreads,
			long: `Delete the conversations in which nothing was asked for longer than --older: their
content is overwritten in the file. A conversation in which a question is being
answered stays. It does not ask; try --dry-run first. A time is written in hours
and minutes, such as 720h for 30 days.`,
			example: `  ragflow threads expire --older 720h --dry-run
  ragflow threads expire --older 720h`,
			flags: func(o *threadFlags, f *pflag.FlagSet) {
				f.DurationVar(&o.older, "older", 0, "delete what was not used for this `TIME`, such as 720h")
				f.BoolVar(&o.dryRun, "dry-run", false, "only tell what would go")
			},
		},
		{
			use: "delete ID...", short: "Delete conversations for good", most: -1, json: true, do: (*app).deleteThreads,
			long: `Delete conversations with all that was said in them. Their content is overwritten
in the file. On a terminal it asks first; elsewhere it needs --yes.`,
			example: `  ragflow threads delete last
  ragflow threads delete --yes work experiment`,
			flags: func(o *threadFlags, f *pflag.FlagSet) { f.BoolVar(&o.yes, "yes", false, "do not ask") },
		},
		{
			use: "seal", short: "Encrypt all conversations with the current key", do: (*app).sealThreads,
			long: `Encrypt all conversations with the first key of RAGFLOW_THREAD_KEYS, also those
that were written without a key or with an older one, which is not needed
afterwards. Questions may be asked meanwhile, and it may be stopped and begun
again. A key is written ID:KEY; make one with
  echo "2026:$(openssl rand -base64 32)"
Keep it safe: without it, nobody can read the conversations. Names of threads,
times and sizes stay readable, and so does the index of your documents.`,
			example: `  RAGFLOW_THREAD_KEYS="2027:… 2026:…" ragflow threads seal`,
		},
		{
			use: "verify [ID]...", short: "Check that conversations are whole", most: -1, json: true, do: (*app).verifyThreads,
			long: `Check the conversations named, or all, and then their file: that no step is
missing, that every text matches its hash, that every change can be read, and that
each snapshot matches the steps before it. Nothing is changed. The exit code is 1
if something is wrong.`,
			example: `  ragflow threads verify
  ragflow threads verify last --json`,
		},
		{
			use: "backup FILE", short: "Write a backup of all conversations to a new file", most: 1, do: (*app).backupThreads,
			long: `Write all conversations, as they are at one moment, to a new file. It works while
questions are being answered. Encrypted conversations stay encrypted. "threads
restore" reads the file.`,
			example: `  ragflow threads backup threads-2026-01-31.db`,
		},
		{
			use: "restore FILE", short: "Replace all conversations by those of a backup", most: 1, do: (*app).restoreThreads,
			long: `Replace all conversations by those of a file that "threads backup" wrote. The file
is checked first; nothing changes unless it is whole. Questions that are being
answered meanwhile are not saved. If the present database is damaged, it is set
aside under another name. On a terminal it asks first; elsewhere it needs --yes.`,
			example: `  ragflow threads restore threads-2026-01-31.db`,
			flags:   func(o *threadFlags, f *pflag.FlagSet) { f.BoolVar(&o.yes, "yes", false, "do not ask") },
		},
	}
}

// command makes the command of an operation. It needs as many arguments as its
// use has names outside of brackets.
func (t threadOperation) command(a *app) *cobra.Command {
	o := &threadFlags{}
	least := len(strings.Fields(t.use)) - 1 - strings.Count(t.use, "[")
	c := &cobra.Command{
		Use: t.use, Short: t.short, Long: t.long, Example: t.example, Args: argsBetween(least, t.most),
		RunE: func(c *cobra.Command, args []string) error {
			o.given = c.Flags().Changed
			if c.Name() == "restore" { // a damaged database cannot be opened
				return t.do(a, c.Context(), nil, o, args)
			}
			return a.withAssistant(c.Context(), nil, func(assistant *ragflow.Assistant) error {
				return t.do(a, c.Context(), assistant.Threads(), o, args)
			})
		},
	}
	if t.flags != nil {
		t.flags(o, c.Flags())
	}
	if t.json {
		a.jsonFlag(c)
	}
	return c
}
