package ragflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/feedback"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
	"example.com/ragflow/threads"
)

// Facts about feedback; match them with errors.Is.
var (
	// ErrNoAnswer means that the rated turn has no answer to promote: its run did
	// not end, or the documents did not hold the answer.
	ErrNoAnswer = errors.New("the turn has no answer to promote")

	// ErrSealed means that feedback, which is stored as plain text, is not taken
	// from encrypted conversations.
	ErrSealed = errors.New("conversations are encrypted, and feedback would not be")
)

const (
	maxNote     = 2000   // runes of a note
	maxBetter   = 20_000 // runes of a better answer
	goodQuality = 0.95   // an answer of a higher quality is good
)

// Rating is a person's opinion of one answer, or a program's.
type Rating struct {
	Run    string // the run that answered; empty: Thread and Turn say which
	Thread string
	Turn   int  // from 1; 0 is the last turn
	Good   bool // promotes the answer; false withdraws an earlier promotion
	// Quality, from 0 to 1, is for programs that judge answers: above 0.95 the answer is good, else bad, whatever Good
	// says. Nil: Good counts.
	Quality *float64
	Note    string // why; at most 2000 runes; may be empty
	// Better is a better answer in the person's own words; at most 20,000 runes. It marks what a source of the rated
	// answer says with [Source N], and is kept as it is; see Feedback.Unsupported.
	Better string
	// Promote also promotes Better, in place of the answer, if a source that it cites says each of its sentences, as far
	// as the check sees. It puts words of the person before all who ask these documents, so a server lets only those set
	// it who may change documents.
	Promote  bool
	Question string // title of the promoted answer; empty: the question of the turn
}

// Feedback is a stored rating.
type Feedback = feedback.Feedback

// Rate stores a rating in the data folder. A good rating also promotes the
// answer: the passages that it cites are written as a Markdown file that later questions
// over the same documents search like any document, and that a person may edit or delete. A
// bad rating deletes that file, and so does the next question once a document does not say the passage
// any more. Errors match ErrNotFound (no such run, thread or turn), ErrNoAnswer,
// ErrSealed or ErrReadOnly.
func (a *Assistant) Rate(ctx context.Context, r Rating) (*Feedback, error) {
	if err := a.takesFeedback(r); err != nil {
		return nil, err
	}
	run, err := a.rated(ctx, r)
	if err != nil {
		return nil, err
	}
	if r.Quality != nil {
		r.Good = *r.Quality > goodQuality
	}
	turn, config := run.State.Turn, a.config.of(run.State.Scope.Collection)
	cited := config.ofDocuments(turn.Citations)
	f := &feedback.Feedback{
		Time: a.config.Clock().UTC().Truncate(time.Microsecond), ThreadID: run.Thread, RunID: run.ID, Owner: run.owner, Quality: r.Quality,
		Question: cmp.Or(text.Clean(r.Question), turn.Query), Rating: feedback.RatingDown, Note: text.Clean(r.Note),
		Legs: legsOf(turn),
	}
	f.Cite(cited)
	if r.Question == "" {
		f.Before = run.before
	}
	if !turn.Abstained {
		f.Answer = cite.Strip(turn.Answer)
	}
	answered := len(run.Commits) > 0 && run.Commits[0].Status == graph.Completed && !turn.Abstained && len(turn.Citations) > 0
	if r.Good {
		f.Rating = feedback.RatingUp
		if !answered && r.Better == "" {
			return nil, ErrNoAnswer
		}
	}
	if err := config.promote(f, r, turn, cited, answered); err != nil {
		return nil, fmt.Errorf("store feedback: %w", err)
	}
	if err := feedback.AppendFeedback(a.config.DataDir, f); err != nil {
		return nil, err
	}
	if a.cache != nil && !r.Good {
		a.cache.Forget(ctx, run.ID)
		if turn.Cached != nil {
			a.cache.Forget(ctx, turn.Cached.Run)
		}
	}
	return f, a.collections.outdate(ctx, run.State.Scope.Collection)
}

// takesFeedback refuses a rating that cannot be stored, whatever it is about.
func (a *Assistant) takesFeedback(r Rating) error {
	switch {
	case a.config.ThreadKeys != nil:
		return ErrSealed
	case a.config.DataDir == "":
		return errors.New("feedback is kept in the data folder, and Config.DataDir names none")
	case a.ReadOnly():
		return a.readOnly("no feedback can be stored")
	case utf8.RuneCountInString(r.Note) > maxNote:
		return fmt.Errorf("a note has at most %d characters", maxNote)
	case utf8.RuneCountInString(r.Better) > maxBetter:
		return fmt.Errorf("a better answer has at most %d characters", maxBetter)
	case r.Better != "" && strings.TrimSpace(r.Better) == "":
		return errors.New("the better answer is empty")
	case r.Quality != nil && !(*r.Quality >= 0 && *r.Quality <= 1):
		return fmt.Errorf("quality %v is not within 0 and 1", *r.Quality)
	}
	return nil
}

// Ratings returns the ratings of the owner in ctx, or without one all, newest first. With a question it returns only
// those of similar questions, which share 0.7 of its words (cosine of the stems), the most similar first.
func (a *Assistant) Ratings(ctx context.Context, like string) ([]Feedback, error) {
	if a.config.DataDir == "" {
		return nil, nil
	}
	list, err := feedback.ReadFeedback(a.config.DataDir)
	if err != nil {
		return nil, err
	}
	found := list.Feedback
	if like != "" {
		found = list.Like(like)
	}
	owner := graph.OwnerOf(ctx)
	return slices.DeleteFunc(found, func(f Feedback) bool { return owner != "" && f.Owner != owner }), nil
}

// learnt multiplies the weights of the legs of the search by what ratings taught.
func (c Config) learnt(w search.Weights) (search.Weights, error) {
	if !c.AdaptiveWeights || c.DataDir == "" {
		return w, nil
	}
	list, err := feedback.ReadFeedback(c.DataDir)
	if err != nil {
		return w, err
	}
	for leg, of := range map[string]*float64{search.LegDense: &w.Dense, search.LegLexical: &w.Lexical, search.LegGraph: &w.Graph} {
		*of *= cmp.Or(list.Weights[leg], 1)
	}
	return w, nil
}

// legsOf returns how high each leg of the search ranked the best passage that an answer cites, as 1/rank; 0 for a leg
// that found none of them.
func legsOf(t state.Turn) map[string]float64 {
	legs := map[string]float64{}
	for _, h := range t.Hits {
		cited := slices.ContainsFunc(t.Citations, func(c state.Citation) bool { return c.Chunk == h.Chunk })
		for _, l := range h.Legs {
			credit := 0.0
			if cited && l.Rank > 0 {
				credit = 1 / float64(l.Rank)
			}
			legs[l.Name] = max(legs[l.Name], credit)
		}
	}
	return legs
}

// maxBefore is the number of earlier questions of a thread that are kept with a rating.
const maxBefore = 5

// ratedRun is the run that a rating is about.
type ratedRun struct {
	*threads.Run

	owner  string   // of its thread
	before []string // the last questions of the thread before it
}

// rated finds the run that a rating is about.
func (a *Assistant) rated(ctx context.Context, r Rating) (*ratedRun, error) {
	out, thread := &ratedRun{}, r.Thread
	var err error
	if r.Run != "" {
		if out.Run, err = a.log.Run(ctx, r.Run); err != nil {
			return nil, err
		}
		if thread != "" && thread != out.Thread {
			return nil, fmt.Errorf("run %q is not one of thread %q: %w", out.ID, thread, ErrNotFound)
		}
		thread = out.Thread
	}
	t, err := a.log.Thread(ctx, thread)
	if err != nil {
		return nil, err
	}
	asked := slices.DeleteFunc(t.Messages, func(m threads.Message) bool { return m.Role != state.Human })
	at := cmp.Or(r.Turn, len(asked)) - 1
	if out.Run != nil {
		at = slices.IndexFunc(asked, func(m threads.Message) bool { return m.Run == out.ID })
	}
	switch {
	case at < 0 || at >= len(asked):
		return nil, fmt.Errorf("turn %d of thread %q, which has %d: %w", at+1, thread, len(asked), ErrNotFound)
	case asked[at].Run == "":
		return nil, fmt.Errorf("turn %d of thread %q, whose log was pruned: %w", at+1, thread, ErrNotFound)
	}
	out.owner = t.Owner
	for _, m := range asked[max(0, at-maxBefore):at] {
		out.before = append(out.before, text.Clean(m.Content))
	}
	if out.Run == nil {
		out.Run, err = a.log.Run(ctx, asked[at].Run)
	}
	return out, err
}
