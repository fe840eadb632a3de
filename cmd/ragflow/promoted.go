package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow"
)

func (a *app) promotedCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "promoted",
		Short: "Keep good answers, and find them again by similar questions",
		Long: `An answer that you promote is kept with its question and citations in promoted.db
of the data folder, whatever becomes of its thread and of the index, until you
remove it. A question in the same words replaces it when it is promoted.

What was promoted never stands for an answer: "similar" shows what was asked
before, and says of each answer whether a passage that it cites has changed since.
Conversations that are encrypted have nothing to promote: promoted.db is plain
text.`,
		Example: `  ragflow promoted add last
  ragflow promoted add work --turn 2
  ragflow promoted similar "Can I back up volumes?"
  ragflow promoted list
  ragflow promoted remove 3f0c`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			f := usagef("unknown command %q", args[0])
			f.hint = "there are: add, similar, list, remove"
			return f
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.promotedAddCommand(), a.promotedSimilarCommand(), a.promotedListCommand(), a.promotedRemoveCommand())
	return c
}

func (a *app) promotedAddCommand() *cobra.Command {
	var (
		turn     int
		question string
		asJSON   bool
	)
	c := &cobra.Command{
		Use:   "add ID",
		Short: "Promote an answer of a conversation",
		Long: `Promote the last answer of a conversation, or that of another turn, counted from
1. A thread is named as for "ragflow threads show". What the documents did not
answer cannot be promoted.

The answer is found again by its question, and that of a follow-up also by words of
the conversation that it leant on. --as says it in better words.`,
		Example: `  ragflow promoted add last
  ragflow promoted add work --turn 2 --as "How do I back up a volume?"`,
		Args: argsBetween(1, 1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if c.Flags().Changed("turn") && turn < 1 {
				return usagef("--turn is %d, but turns are counted from 1", turn)
			}
			if c.Flags().Changed("as") && strings.TrimSpace(question) == "" {
				return usagef("--as needs a question")
			}
			assistant, err := a.open(c.Context(), nil)
			if err != nil {
				return err
			}
			defer closeInto(&err, assistant)
			id, err := findThread(c.Context(), assistant, args[0])
			if err != nil {
				return err
			}
			p, err := assistant.Promote(c.Context(), ragflow.Promoting{Thread: id, Turn: turn, Question: question})
			if err != nil {
				return failed("", err)
			}
			if asJSON {
				return a.writeJSON(p)
			}
			verb := "promoted"
			if p.Replaced {
				verb = "promoted, in the place of an earlier answer"
			}
			fmt.Fprintf(a.out, "%s  %s  (%s)\n", p.ID, line(p.Standalone), verb)
			return nil
		},
	}
	c.ValidArgsFunction = a.completeThreadArgs
	c.Flags().IntVar(&turn, "turn", 0, "promote the answer of turn `N`, from 1 (default: the last)")
	c.Flags().StringVar(&question, "as", "", "find it by this `QUESTION`, not by that of the turn")
	c.Flags().BoolVar(&asJSON, "json", false, "write one JSON object instead of text")
	return c
}

func (a *app) promotedListCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the promoted answers, the newest first",
		Example: `  ragflow promoted list
  ragflow promoted list --json | jq -r '.promoted[] | select(.stale) | .id'`,
		Args: argsBetween(0, 0),
		RunE: func(c *cobra.Command, _ []string) (err error) {
			assistant, err := a.open(c.Context(), nil)
			if err != nil {
				return err
			}
			defer closeInto(&err, assistant)
			reply, err := assistant.Promoted(c.Context())
			if err != nil {
				return failed("list promoted answers", err)
			}
			if asJSON {
				return a.writeJSON(reply)
			}
			if len(reply.Promoted) == 0 && !a.quiet {
				fmt.Fprintln(a.err, `no promoted answers yet; promote one: ragflow promoted add last`)
			}
			for _, p := range reply.Promoted {
				stale := ""
				if p.Stale {
					stale = "  [stale]"
				}
				fmt.Fprintf(a.out, "%s  %s  %s%s\n", p.ID, p.Promoted.Format("2006-01-02 15:04"), line(p.Standalone), stale)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write one JSON object instead of text")
	return c
}

func (a *app) promotedSimilarCommand() *cobra.Command {
	var (
		threshold float64
		asJSON    bool
	)
	c := &cobra.Command{
		Use:   "similar QUESTION",
		Short: "Show promoted answers to similar questions",
		Long: `Show the promoted answers whose questions are similar to a question: their rare
words are mostly the same. A question that denies another, turns it round, or asks
who instead of when is not similar. What is shown was asked before; none of it
is the answer to this question.`,
		Example: `  ragflow promoted similar "Can I back up volumes?"
  ragflow promoted similar --threshold 0.5 --json "back up a volume"`,
		Args: argsBetween(1, -1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if !(threshold > 0 && threshold <= 1) {
				return usagef("--threshold is %v, but must be above 0 and at most 1", threshold)
			}
			reply, err := a.similar(c.Context(), strings.Join(args, " "), threshold)
			if err != nil {
				return err
			}
			if asJSON {
				return a.writeJSON(reply)
			}
			if len(reply.Promoted) == 0 && !a.quiet {
				fmt.Fprintln(a.err, "nothing similar was promoted")
			}
			for i := range reply.Promoted {
				a.printPromoted(&reply.Promoted[i])
			}
			return nil
		},
	}
	c.Flags().Float64Var(&threshold, "threshold", ragflow.SimilarThreshold, "show answers from this similarity on, `X` above 0 and at most 1")
	c.Flags().BoolVar(&asJSON, "json", false, "write one JSON object instead of text")
	return c
}

// similar asks the index how rare words are, where documents are configured.
func (a *app) similar(ctx context.Context, question string, threshold float64) (reply *ragflow.PromotedReply, err error) {
	assistant, err := a.open(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer closeInto(&err, assistant)
	reply, err = assistant.Similar(ctx, question, threshold)
	if err != nil {
		return nil, failed("", err)
	}
	return reply, nil
}

// printPromoted prints a promoted answer as one that was given before.
func (a *app) printPromoted(p *ragflow.PromotedAnswer) {
	s := a.styleOf(a.stdout)
	fmt.Fprintf(a.out, "%s  %s\n", s.bold("Asked before: "+line(p.Standalone)),
		s.dim(fmt.Sprintf("(similarity %.2f, promoted %s, %s)", p.Similarity, p.Promoted.Format("2006-01-02"), p.ID)))
	fmt.Fprintf(a.out, "\n%s\n\n", s.markdown(strings.TrimSpace(p.Answer)))
	for _, c := range p.Citations {
		fmt.Fprintf(a.out, "[%d] %s  %s\n", c.N, place(c.Source, c.StartLine, c.EndLine, c.Pages), s.dim(line(c.Title)))
		if c.Changed {
			fmt.Fprintf(a.out, "    %s\n", p.ChangedNotice)
		}
	}
	fmt.Fprintln(a.out)
}

func (a *app) promotedRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "remove ID",
		Short:   "Forget a promoted answer",
		Long:    `Forget a promoted answer, named by its id or a beginning of it. Its thread stays.`,
		Example: `  ragflow promoted remove 3f0c`,
		Args:    argsBetween(1, 1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			assistant, err := a.open(c.Context(), nil)
			if err != nil {
				return err
			}
			defer closeInto(&err, assistant)
			id, err := assistant.Demote(c.Context(), args[0])
			if err != nil {
				return failed("", err)
			}
			fmt.Fprintln(a.out, "removed "+id)
			return nil
		},
	}
}
