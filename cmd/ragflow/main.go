package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/cmd/ragflow/config"
)

func main() {
	ctx, ending := watchSignals(context.Background())
	a := newApp(os.Stdin, os.Stdout, os.Stderr, os.Environ())
	a.ending = ending
	os.Exit(a.run(ctx, os.Args[1:]))
}

// app is one call of the program: its streams, its environment and the flags
// that all commands share.
type app struct {
	in      io.Reader
	stdout  io.Writer     // as given, to find out whether it is a terminal
	out     *bufio.Writer // data
	err     io.Writer     // everything else
	env     map[string]string
	flags   settingFlags
	quiet   bool
	asJSON  bool
	isTerm  func(io.Writer) bool
	ending  *ending   // how the system asks to end
	started string    // id of the thread a question was saved in, for the hint after an interruption
	opened  *settings // of the assistant opened last
	badHelp error     // help was asked for a word that is no command
	warned  []string  // warnings about the settings that were printed

	asked       config.Asked
	collecting  bool // a collection may be made
	reembedding bool // what is configured of embedding counts, not what a collection noted
}

func newApp(stdin io.Reader, stdout, stderr io.Writer, env []string) *app {
	return &app{in: stdin, stdout: stdout, out: bufio.NewWriter(stdout), err: stderr, env: environment(env), isTerm: isTerminal, ending: &ending{}}
}

// run runs one command line and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env []string) int {
	return newApp(stdin, stdout, stderr, env).run(ctx, args)
}

func (a *app) run(ctx context.Context, args []string) int {
	root := a.root() //nolint:contextcheck // commands get ctx from cobra, by ExecuteContextC
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = a.badHelp
	}
	if flushErr := a.out.Flush(); err == nil && flushErr != nil {
		err = &failure{code: exitFailure, err: flushErr, what: "write the output"}
	}
	if err == nil {
		return exitOK
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) || errors.Is(err, ragflow.ErrDrained) {
		err = a.interrupted()
	}
	return a.report(command, err)
}

// environment turns os.Environ into a map.
func environment(list []string) map[string]string {
	env := make(map[string]string, len(list))
	for _, e := range list {
		name, value, _ := strings.Cut(e, "=")
		env[name] = value
	}
	return env
}

// root builds the command tree.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "ragflow",
		Args:          a.rootArgs,
		RunE:          a.welcome,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       readVersion().Version,

		SuggestionsMinimumDistance: 2,
	}
	root.SetVersionTemplate("ragflow {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	flags := root.PersistentFlags()
	a.textFlag(flags, "RAGFLOW_DATA_DIR", "data-dir", "keep threads and index in this `DIR` (default: .ragflow of the project, else your data folder)")
	flags.BoolVar(&a.quiet, "quiet", false, "on standard error, nothing but errors")
	root.AddCommand(
		a.askCommand(), a.chatCommand(), a.searchCommand(), a.indexCommand(), a.explainCommand(),
		a.threadsCommand(), a.feedbackCommand(), a.traceCommand(), a.graphCommand(), a.evalCommand(),
		a.modelsCommand(), a.initCommand(), a.trustCommand(), a.configCommand(), a.doctorCommand(), a.versionCommand(),
	)
	for name, says := range otherNames() {
		root.AddCommand(&cobra.Command{
			Use: name, Hidden: true, DisableFlagParsing: true,
			RunE: func(*cobra.Command, []string) error { return usagef("%s", says[0]).with(says[1]) },
		})
	}
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		c.Args, c.RunE = subcommands, func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	a.checkHelp(root)
	describe(root)
	return root
}

// rootArgs turns a word that is no command into an error with a suggestion.
func (*app) rootArgs(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	f := usagef("unknown command %q", args[0])
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		f.hint = "did you mean: ragflow " + strings.Join(near, ", ragflow ")
	} else {
		f.hint = `to ask something: ragflow ask "…"; for all commands: ragflow help`
	}
	return f
}
