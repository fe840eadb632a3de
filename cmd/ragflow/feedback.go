package main

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/internal/feedback"
	"example.com/ragflow/internal/settings"
	"example.com/ragflow/internal/transcript"
)

func (a *app) feedbackCommand(g *given) *cobra.Command {
	return group("feedback", a.rateCommand(g, feedback.RatingUp), a.rateCommand(g, feedback.RatingDown), a.scoreCommand(g),
		a.feedbackListCommand(g), a.feedbackExportCommand(g), a.feedbackResetCommand(g))
}

func (a *app) rateCommand(g *given, rating string) *cobra.Command {
	r := &ragflow.Rating{Good: rating == feedback.RatingUp, Promote: true}
	c := command(rating+" THREAD", 1, func(c *cobra.Command, args []string) error { return a.rate(c, g, r, args[0]) })
	a.ratingFlags(c, r)
	c.Flags().StringVar(&r.Better, "better", "", "keep `TEXT` as a better answer; [Source N] marks what a source of the answer says")
	c.Flags().StringVar(&r.Question, "as", "", "promote it under this `QUESTION`, not under that of the turn")
	return c
}

func (a *app) scoreCommand(g *given) *cobra.Command {
	r := &ragflow.Rating{}
	c := command("score THREAD QUALITY", 2, func(c *cobra.Command, args []string) error {
		quality, err := strconv.ParseFloat(args[1], 64)
		if err != nil || !(quality >= 0 && quality <= 1) {
			return usagef("the quality is %q, but must be a number from 0 to 1", args[1])
		}
		r.Quality = &quality
		return a.rate(c, g, r, args[0])
	})
	a.ratingFlags(c, r)
	return c
}

func (a *app) ratingFlags(c *cobra.Command, r *ragflow.Rating) {
	c.Flags().IntVar(&r.Turn, "turn", 0, "rate the answer of turn `N`, from 1 (default: the last)")
	c.Flags().StringVar(&r.Note, "note", "", "keep this `TEXT` with the rating")
	a.jsonFlag(c)
}

// rate stores a rating of an answer of a thread or a run, and says what came of it.
func (a *app) rate(c *cobra.Command, g *given, r *ragflow.Rating, name string) error {
	if c.Flags().Changed("turn") && r.Turn < 1 {
		return usagef("--turn is %d, but turns are counted from 1", r.Turn)
	}
	return a.with(c.Context(), g, opening{models: settings.NoModels}, func(opened *session) (err error) {
		if r.Thread, err = findThread(c.Context(), opened.Threads(), name); err != nil {
			if _, notRun := opened.Threads().Run(c.Context(), name); notRun != nil {
				return err
			}
			if r.Run = name; r.Turn > 0 {
				return usagef("--turn counts the turns of a thread, but %s is a run", name)
			}
		}
		f, err := opened.Rate(c.Context(), *r)
		if err != nil {
			return failed("", err)
		}
		for _, u := range f.Unsupported {
			a.tell("not said by a source that it cites: %s", u)
		}
		if f.Better != "" && f.Document == "" {
			a.tell("the better answer is kept with the rating; later questions find only one whose sentences are all said by the sources that they cite")
		}
		return a.print(f, func() {
			fmt.Fprintf(a.out, "rated %s: %s\n", f.Rating, line(f.Question))
			if f.Document != "" {
				fmt.Fprintf(a.out, "promoted: %s\n", f.Document)
			}
		})
	})
}

// ratings reads the ratings of the data folder.
func (a *app) ratings(g *given) (list *feedback.List, dataDir string, err error) {
	s, err := a.trusted(a.input(g))
	if err != nil {
		return nil, "", err
	}
	list, err = feedback.ReadFeedback(s.Config.DataDir)
	return list, s.Config.DataDir, failed("read the ratings", err)
}

func (a *app) feedbackExportCommand(g *given) *cobra.Command {
	return command("export", 0, func(*cobra.Command, []string) error {
		list, _, err := a.ratings(g)
		if err != nil {
			return err
		}
		var lines bytes.Buffer
		written, left, err := list.WriteDataset(&lines)
		_, writeErr := a.out.Write(transcript.VisibleJSON(lines.Bytes()))
		if err = errors.Join(err, writeErr, a.out.Flush()); err != nil {
			return failed("write the dataset", err)
		}
		a.tell("wrote %s", count(written, "question"))
		if left > 0 {
			a.tell("left out %s of which nobody said a better one: ragflow feedback down THREAD --better \"…\"", count(left, "bad answer"))
		}
		return nil
	})
}

func (a *app) feedbackResetCommand(g *given) *cobra.Command {
	return command("reset", 0, func(*cobra.Command, []string) error {
		_, dataDir, err := a.ratings(g)
		if err != nil {
			return err
		}
		if err := feedback.AppendFeedback(dataDir, &feedback.Feedback{Time: time.Now().UTC(), Rating: feedback.Reset}); err != nil {
			return failed("", err)
		}
		a.tell("the weights of the search start again from their defaults; the ratings stay")
		return nil
	})
}

func (a *app) feedbackListCommand(g *given) *cobra.Command {
	like := ""
	c := command("list", 0, func(*cobra.Command, []string) error {
		reply, _, err := a.ratings(g)
		if err != nil {
			return err
		}
		if like != "" {
			reply.Feedback = reply.Like(like)
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
				if f.Note != "" {
					fmt.Fprintf(a.out, "    note: %s\n", line(f.Note))
				}
				if f.Better != "" {
					fmt.Fprintf(a.out, "    better: %s\n", line(f.Better))
				}
			}
			if like == "" && len(reply.Feedback) > 0 {
				a.tell("%d of %s good", reply.Up, count(reply.Up+reply.Down, "rated answer"))
			}
		})
	})
	c.Flags().StringVar(&like, "like", "", "only ratings of questions like this `QUESTION`, the most similar first")
	a.jsonFlag(c)
	return c
}
