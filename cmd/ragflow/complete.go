package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow"
)

// mostOffers is the maximum number of completions.
const mostOffers = 50

// completeThreads offers "last" and the ids of threads, each with its title, for a
// flag or a first argument. It makes no data folder, and offers nothing where something
// fails, for a shell at work must not be disturbed.
func (a *app) completeThreads(c *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	if len(args) > 0 {
		return nil, directive
	}
	offers, err := a.threadOffers(c.Context(), start)
	if err != nil {
		return nil, directive
	}
	return offers[:min(len(offers), mostOffers)], directive
}

func (a *app) threadOffers(ctx context.Context, start string) (offers []cobra.Completion, err error) {
	s, err := a.settings()
	if err != nil || s.config.ThreadStore == nil && !present(s.config.DataDir, threadsFile) {
		return nil, err
	}
	assistant, err := ragflow.Open(ctx, ragflow.Config{DataDir: s.config.DataDir, ThreadStore: s.config.ThreadStore})
	if err != nil {
		return nil, err
	}
	defer closeInto(&err, assistant)
	list, err := assistant.Threads().List(ctx)
	for i, t := range list {
		names := []string{t.ID}
		if i == 0 {
			names = []string{lastName, t.ID}
		}
		for _, name := range names {
			if strings.HasPrefix(name, start) {
				offers = append(offers, cobra.CompletionWithDesc(name, line(t.Title)))
			}
		}
	}
	return offers, err
}

// addCompletions completes threads wherever a command takes one.
func (a *app) addCompletions(c *cobra.Command) {
	if c.Flags().Lookup("thread") != nil {
		// It fails only for flags that are not there, or that have one already.
		_ = c.RegisterFlagCompletionFunc("thread", a.completeThreads)
	}
	if strings.Contains(c.Use, " ID") || strings.Contains(c.Use, "[ID]") {
		c.ValidArgsFunction = a.completeThreads
	}
	for _, sub := range c.Commands() {
		a.addCompletions(sub)
	}
}
