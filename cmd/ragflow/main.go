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
)

func main() {
	ctx, ending := watchSignals(context.Background())
	a := newApp(os.Stdin, os.Stdout, os.Stderr, os.Environ())
	a.ending = ending
	os.Exit(a.run(ctx, os.Args[1:]))
}

// app is one call of the program: its streams, its environment, and how it prints.
type app struct {
	in     io.Reader
	stdout io.Writer     // the file behind out, to find out whether it is a terminal
	out    *bufio.Writer // data
	err    io.Writer     // everything else
	env    map[string]string
	isTerm func(io.Writer) bool
	ending *ending
	quiet  bool
	asJSON bool
	told   []string // lines about settings that were printed
}

func newApp(stdin io.Reader, stdout, stderr io.Writer, env []string) *app {
	return &app{in: stdin, stdout: stdout, out: bufio.NewWriter(stdout), err: stderr, env: environment(env), isTerm: isTerminal, ending: &ending{}}
}

// run runs one command line and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env []string) int {
	return newApp(stdin, stdout, stderr, env).run(ctx, args)
}

func (a *app) run(ctx context.Context, args []string) int {
	g := newGiven()
	root, helpError := a.root(g) //nolint:contextcheck // commands get ctx from cobra, by ExecuteContextC
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = helpError()
	}
	if flushErr := a.out.Flush(); err == nil && flushErr != nil {
		err = &failure{code: exitFailure, err: flushErr, what: "write the output"}
	}
	if err == nil {
		return exitOK
	}
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, errTerminated)) || errors.Is(err, ragflow.ErrDrained) {
		err = interrupted(err, a.ending.terminated())
	}
	return a.report(command, g, err)
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

// root builds the command tree. helpError returns the error of a help that was asked for, after
// the tree has run.
func (a *app) root(g *given) (root *cobra.Command, helpError func() error) {
	root = &cobra.Command{
		Use:           "ragflow",
		Args:          unknownCommand,
		RunE:          func(*cobra.Command, []string) error { return a.welcome(g) },
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       readVersion().Version,

		SuggestionsMinimumDistance: 2,
	}
	root.SetVersionTemplate("ragflow {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	g.add(root.PersistentFlags(), "RAGFLOW_DATA_DIR")
	root.PersistentFlags().BoolVar(&a.quiet, "quiet", false, "on standard error, nothing but errors")
	root.AddCommand(
		a.askCommand(g), a.chatCommand(g), a.searchCommand(g), a.indexCommand(g), a.explainCommand(g),
		a.threadsCommand(g), a.feedbackCommand(g), a.analyticsCommand(g), a.traceCommand(g), a.graphCommand(), a.evalCommand(g),
		a.serveCommand(g), a.mcpCommand(g), a.tokensCommand(g), a.modelsCommand(g), a.initCommand(g), a.trustCommand(g), a.configCommand(g), a.doctorCommand(g), a.versionCommand(),
	)
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		c.Args, c.RunE = subcommands, showHelp
	}
	helpError = checkHelp(root)
	describe(root)
	return root, helpError
}

// unknownCommand turns a word that is no command into an error with a suggestion.
func unknownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if other, ok := otherNames()[args[0]]; ok {
		return usagef("%s", other[0]).with(other[1])
	}
	f := usagef("unknown command %q", args[0])
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		return f.with("did you mean: ragflow " + strings.Join(near, ", ragflow "))
	}
	return f.with(`to ask something: ragflow ask "…"; for all commands: ragflow help`)
}

// otherNames lists commands that other systems have: an error and its hint.
func otherNames() map[string][2]string {
	return map[string][2]string{
		"query":    {"query is called ask here", `ragflow ask "…"`},
		"optimize": {"optimize is called eval optimize here", "ragflow eval optimize --dataset questions.jsonl --metric latency --target 1000ms"},
	}
}
