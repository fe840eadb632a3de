package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/internal/feedback"
	"example.com/ragflow/internal/rank"
	"example.com/ragflow/internal/settings"
	"example.com/ragflow/internal/text"
)

func (a *app) feedbackCommand(g *given) *cobra.Command {
	return group("feedback", a.rateCommand(g, feedback.RatingUp), a.rateCommand(g, feedback.RatingDown), a.feedbackListCommand(g))
}

func (a *app) rateCommand(g *given, rating string) *cobra.Command {
	r := ragflow.Rating{Good: rating == feedback.RatingUp}
	c := command(rating+" THREAD", 1, func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("turn") && r.Turn < 1 {
			return usagef("--turn is %d, but turns are counted from 1", r.Turn)
		}
		return a.with(c.Context(), g, opening{models: settings.NoModels}, func(opened *session) (err error) {
			if r.Thread, err = findThread(c.Context(), opened.Threads(), args[0]); err != nil {
				return err
			}
			f, err := opened.Rate(c.Context(), r)
			if err != nil {
				return failed("", err)
			}
			return a.print(f, func() {
				fmt.Fprintf(a.out, "rated %s: %s\n", f.Rating, line(f.Question))
				if f.Document != "" {
					fmt.Fprintf(a.out, "promoted: %s\n", f.Document)
				}
			})
		})
	})
	c.Flags().IntVar(&r.Turn, "turn", 0, "rate the answer of turn `N`, from 1 (default: the last)")
	c.Flags().StringVar(&r.Note, "note", "", "keep this `TEXT` with the rating")
	if r.Good {
		c.Flags().StringVar(&r.Question, "as", "", "promote it under this `QUESTION`, not under that of the turn")
	}
	a.jsonFlag(c)
	return c
}

func (a *app) feedbackListCommand(g *given) *cobra.Command {
	like := ""
	c := command("list", 0, func(*cobra.Command, []string) error {
		s, err := a.trusted(a.input(g))
		if err != nil {
			return err
		}
		reply, err := feedback.ReadFeedback(s.Config.DataDir)
		if err != nil {
			return failed("list feedback", err)
		}
		if like != "" {
			reply.Feedback = similarFeedback(reply.Feedback, like)
		}
		return a.print(reply, func() {
			switch {
			case len(reply.Feedback) == 0 && like != "":
				a.tell("no question that was rated is like it")
			case len(reply.Feedback) == 0:
				a.tell("no feedback yet; rate an answer: ragflow feedback up last")
			}
			for _, f := range reply.Feedback {
				fmt.Fprintf(a.out, "%s  %-4s  %s\n", f.Time.Format("2006-01-02 15:04"), f.Rating, line(f.Question))
			}
		})
	})
	c.Flags().StringVar(&like, "like", "", "only ratings of questions like this `QUESTION`, the most similar first")
	a.jsonFlag(c)
	return c
}

// minSimilarity is the cosine of the words of two questions from which they are alike.
const minSimilarity = 0.7

// similarFeedback returns the feedback on questions like one, the most similar first.
func similarFeedback(list []feedback.Feedback, question string) []feedback.Feedback {
	vector := func(s string) rank.Vector {
		var stems []string
		for _, t := range text.For(text.Language(s)).Analyze(s) {
			stems = append(stems, t.Term)
		}
		return rank.NewVector(stems)
	}
	asked := vector(question)
	similarity := func(f feedback.Feedback) float64 { return rank.Cosine(asked, vector(f.Question)) }
	list = slices.DeleteFunc(list, func(f feedback.Feedback) bool { return !rank.AtLeast(minSimilarity)(similarity(f)) })
	slices.SortStableFunc(list, func(a, b feedback.Feedback) int { return cmp.Compare(similarity(b), similarity(a)) })
	return list
}
