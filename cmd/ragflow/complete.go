package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/ingest/chunk"
)

// completion is what a shell asks for when the Tab key is pressed.
type completion = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective)

// completeThreads offers "last" and the ids of threads, each with its title.
func (a *app) completeThreads(c *cobra.Command, _ []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.completeFrom(c.Context(), start, func(ctx context.Context, assistant *ragflow.Assistant) ([]cobra.Completion, error) {
		list, err := assistant.Threads().List(ctx)
		var out []cobra.Completion
		for i, t := range list {
			if i == 0 {
				out = append(out, cobra.CompletionWithDesc(lastName, line(t.Title)))
			}
			out = append(out, cobra.CompletionWithDesc(t.ID, line(t.Title)))
		}
		return out, err
	})
}

// completeRuns offers "last" and the ids of runs, newest first.
func (a *app) completeRuns(c *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completeFrom(c.Context(), start, func(ctx context.Context, assistant *ragflow.Assistant) ([]cobra.Completion, error) {
		runs, err := assistant.Threads().RecentRuns(ctx, mostOffers)
		var out []cobra.Completion
		for i, r := range runs {
			if i == 0 {
				out = append(out, cobra.CompletionWithDesc(lastName, line(r.Question)))
			}
			out = append(out, cobra.CompletionWithDesc(r.ID, line(r.Question)))
		}
		return out, err
	})
}

// mostOffers is how many completions a shell is given.
const mostOffers = 50

// completeFrom asks the data folder. A shell at work must not be disturbed: the
// folder is not made, and where something fails nothing is offered.
func (a *app) completeFrom(
	ctx context.Context, start string, list func(context.Context, *ragflow.Assistant) ([]cobra.Completion, error),
) (offers []cobra.Completion, _ cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	s, err := a.settings()
	if err != nil || s.config.ThreadStore == nil && !present(s.config.DataDir, "threads.db") {
		return nil, directive
	}
	assistant, err := ragflow.Open(ctx, ragflow.Config{DataDir: s.config.DataDir, ThreadStore: s.config.ThreadStore})
	if err != nil {
		return nil, directive
	}
	defer func() {
		if assistant.Close() != nil {
			offers = nil
		}
	}()
	all, err := list(ctx, assistant)
	if err != nil {
		return nil, directive
	}
	for _, o := range all {
		if strings.HasPrefix(o, start) && len(offers) < mostOffers {
			offers = append(offers, o)
		}
	}
	return offers, directive
}

// completeThreadArgs offers threads for the first argument only.
func (a *app) completeThreadArgs(c *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completeThreads(c, args, start)
}

// addCompletions gives every command of the tree what its flags and arguments
// may be completed with.
func (a *app) addCompletions(c *cobra.Command) {
	flags := map[string]completion{
		"thread": a.completeThreads,
		"docs":   completePaths,
		"corpus": completePaths, "queries": completePaths, "qrels": completePaths, "run": completePaths, "from-run": completePaths,
		"dataset": completeDatasets,
		"chunker": cobra.FixedCompletions(chunk.Chunkers(), cobra.ShellCompDirectiveNoFileComp),
		"output":  completeFolders, "data-dir": completeFolders,
		"format": cobra.FixedCompletions([]cobra.Completion{"mermaid", "ascii", "svg"}, cobra.ShellCompDirectiveNoFileComp),
	}
	for name, complete := range flags {
		if c.Flags().Lookup(name) != nil || c.PersistentFlags().Lookup(name) != nil {
			// It fails only for flags that are not there, or that have one already.
			_ = c.RegisterFlagCompletionFunc(name, complete)
		}
	}
	if c.ValidArgsFunction == nil {
		switch path := c.CommandPath(); {
		case path == "ragflow trace":
			c.ValidArgsFunction = a.completeRuns
		case path == "ragflow eval compare", path == "ragflow eval show":
			c.ValidArgsFunction = a.completeEvalRuns
		case strings.HasPrefix(path, "ragflow threads ") && strings.Contains(c.Use, "ID"):
			c.ValidArgsFunction = a.completeThreadArgs
		case path != "ragflow index" && !c.HasSubCommands():
			c.ValidArgsFunction = cobra.NoFileCompletions
		}
	}
	for _, sub := range c.Commands() {
		a.addCompletions(sub)
	}
}

func completePaths(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

func completeFolders(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}
