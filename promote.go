package ragflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/promoted"
	"example.com/ragflow/prompts"
	"example.com/ragflow/search/text"
	"example.com/ragflow/skills/cite"
	"example.com/ragflow/state"
)

// Facts about promoted answers; match them with errors.Is.
var (
	ErrNotPromoted = promoted.ErrNotFound // no promoted answer has that id

	// ErrNoAnswer tells that a turn has nothing to promote: its run did not end, or
	// the documents did not hold the answer.
	ErrNoAnswer = errors.New("the turn has no answer to promote")

	// ErrSealed tells that promoted answers, which are kept in plain text, are not
	// taken from conversations that are encrypted.
	ErrSealed = errors.New("conversations are encrypted, and promoted answers would not be")
)

// SimilarThreshold is how similar a question must be to count as asked before.
const SimilarThreshold = promoted.Threshold

// standsBy is the least weight of words of the conversation that make a follow-up
// stand by itself.
const standsBy = 0.5

// PromotedReply lists promoted answers. Its JSON is the schema of `ragflow
// promoted list --json` and `ragflow promoted similar --json`.
type PromotedReply struct {
	Promoted []PromotedAnswer `json:"promoted"`
}

// PromotedAnswer is an answer that somebody found good. It is what was said then:
// look at Stale before it is taken for what holds.
type PromotedAnswer struct {
	ID         string          `json:"id"`
	Question   string          `json:"question"`   // as it was asked
	Standalone string          `json:"standalone"` // what it is found by
	Answer     string          `json:"answer"`
	Citations  []CitationReply `json:"citations"`
	Stale      bool            `json:"stale"` // a passage that it cites has changed, or is gone
	ThreadID   string          `json:"thread_id"`
	RunID      string          `json:"run_id"`
	Promoted   time.Time       `json:"promoted"`             // UTC
	Similarity float64         `json:"similarity,omitempty"` // to the question of Similar, from 0 to 1

	ChangedNotice string `json:"-"` // what to say of a citation whose Changed is set, in the language of the question
}

// Promoting names the answer to promote.
type Promoting struct {
	Thread string
	Turn   int // from 1; 0 is the last

	// Question is what to find the answer by; empty takes the turn's question, and
	// of a follow-up also the words of the conversation that it leant on.
	Question string
}

// Promotion tells what Promote did.
type Promotion struct {
	PromotedAnswer

	Replaced bool `json:"replaced"` // an earlier answer to the same words
}

// Promote keeps the answer of a turn with its question and citations, until
// [Assistant.Demote]: whatever becomes of the thread and the index. The answer that
// was promoted for the same words, if there is one, is replaced. Errors match
// ErrNotFound (no such thread or turn), ErrNoAnswer, ErrSealed or ErrReadOnly.
func (a *Assistant) Promote(ctx context.Context, p Promoting) (*Promotion, error) {
	switch {
	case a.config.ThreadKeys != nil:
		return nil, ErrSealed
	case a.config.DataDir == "":
		return nil, errors.New("promoted answers are kept in the data folder, and Config.DataDir names none")
	case a.ReadOnly():
		return nil, a.readOnly("no answer can be promoted")
	}
	run, err := a.runOfTurn(ctx, p.Thread, p.Turn)
	if err != nil {
		return nil, err
	}
	r, err := a.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	t := r.State.Turn
	if len(r.Commits) == 0 || r.Commits[0].Status != graph.Completed || t.Abstained || len(t.Citations) == 0 {
		return nil, fmt.Errorf("promote the answer of run %q: %w", run, ErrNoAnswer)
	}
	answer := promoted.Answer{
		Question: t.Query, Standalone: cmp.Or(text.Clean(p.Question), standalone(t)), Language: t.Language, Text: t.Answer, Citations: t.Citations,
		Thread: p.Thread, Run: run, Promoted: a.config.Clock().UTC().Truncate(time.Microsecond),
	}
	out := &Promotion{}
	err = a.withPromoted(ctx, true, func(s *promoted.Store) (err error) {
		answer.ID, out.Replaced, err = s.Put(ctx, answer)
		return err
	})
	if err != nil {
		return nil, err
	}
	out.PromotedAnswer = a.promotedReply(ctx, []promoted.Match{{Answer: answer}}).Promoted[0]
	return out, nil
}

// Promoted lists the promoted answers, the newest first.
func (a *Assistant) Promoted(ctx context.Context) (*PromotedReply, error) {
	all, err := a.promotedAnswers(ctx)
	if err != nil {
		return nil, err
	}
	matches := make([]promoted.Match, len(all))
	for i, answer := range all {
		matches[i].Answer = answer
	}
	return a.promotedReply(ctx, matches), nil
}

// Similar lists the promoted answers whose questions are similar to one, the most
// similar first: from threshold on, 0 to 1, where 0 stands for SimilarThreshold.
// [promoted.Similarity] says what that means; how rare a word is, the index tells
// where there is one. They were asked before; none is the answer to this question.
func (a *Assistant) Similar(ctx context.Context, question string, threshold float64) (*PromotedReply, error) {
	switch {
	case strings.TrimSpace(question) == "":
		return nil, ErrEmptyQuery
	case !(threshold >= 0 && threshold <= 1):
		return nil, fmt.Errorf("similar questions: the threshold is %v, but must be from 0 to 1", threshold)
	case threshold == 0:
		threshold = SimilarThreshold
	}
	all, err := a.promotedAnswers(ctx)
	if err != nil {
		return nil, err
	}
	var stats cite.Stats
	if len(all) > 0 {
		e, err := a.current(ctx)
		if gone := errors.Is(err, ErrNoDocuments) || errors.Is(err, fs.ErrNotExist); err != nil && !gone {
			return nil, err
		}
		if e != nil {
			stats = e.skills.stats
		}
	}
	return a.promotedReply(ctx, promoted.Similar(question, all, stats, threshold)), nil
}

// Demote forgets a promoted answer, named by its id or a beginning of it that no
// other has, and returns the whole id. The error matches ErrNotPromoted,
// ErrAmbiguous or ErrReadOnly.
func (a *Assistant) Demote(ctx context.Context, id string) (whole string, err error) {
	if a.ReadOnly() {
		return "", a.readOnly("no promoted answer can be dropped")
	}
	err = a.withPromoted(ctx, false, func(s *promoted.Store) (err error) {
		if s == nil {
			return fmt.Errorf("promoted answer %q: %w", id, ErrNotPromoted)
		}
		whole, err = s.Delete(ctx, id)
		return err
	})
	if errors.Is(err, promoted.ErrAmbiguous) {
		err = fmt.Errorf("promoted answer %q: %w", id, ErrAmbiguous)
	}
	return whole, err
}

// runOfTurn returns the run that answered a turn of a thread.
func (a *Assistant) runOfTurn(ctx context.Context, thread string, turn int) (string, error) {
	t, err := a.Thread(ctx, thread)
	if err != nil {
		return "", err
	}
	var runs []string // of the questions
	for _, m := range t.Messages {
		if m.Role == state.Human {
			runs = append(runs, m.Run)
		}
	}
	if turn == 0 {
		turn = len(runs)
	}
	switch {
	case turn < 1 || turn > len(runs):
		return "", fmt.Errorf("turn %d of thread %q, which has %d: %w", turn, thread, len(runs), ErrNotFound)
	case runs[turn-1] == "":
		return "", fmt.Errorf("turn %d of thread %q, whose log was pruned: %w", turn, thread, ErrNotFound)
	}
	return runs[turn-1], nil
}

// standalone is a question with the words that it took from the conversation: the
// text of the query that counted most, and what weighed most beside it, where the
// raw turn did not stand by itself.
func standalone(t state.Turn) string {
	best := state.Query{Text: t.Query}
	for _, q := range t.Queries {
		if q.Attempt <= 1 && q.Weight > best.Weight {
			best = q
		}
	}
	words := []string{best.Text}
	for _, b := range best.Boosts {
		if b.Weight >= standsBy {
			words = append(words, b.Text)
		}
	}
	return strings.Join(words, " ")
}

// withPromoted calls f with the store of promoted answers; with nil where there is
// none yet and none is to be made.
func (a *Assistant) withPromoted(ctx context.Context, make bool, f func(*promoted.Store) error) (err error) {
	path := filepath.Join(a.config.DataDir, "promoted.db")
	if _, missing := os.Stat(path); a.config.DataDir == "" || missing != nil && !make {
		return f(nil)
	}
	s, err := promoted.Open(ctx, path, a.config.access())
	if err != nil {
		return fmt.Errorf("open promoted answers: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return f(s)
}

func (a *Assistant) promotedAnswers(ctx context.Context) (all []promoted.Answer, err error) {
	err = a.withPromoted(ctx, false, func(s *promoted.Store) (err error) {
		if s != nil {
			all, err = s.All(ctx)
		}
		return err
	})
	return all, err
}

// promotedReply looks which of the cited passages have changed.
func (a *Assistant) promotedReply(ctx context.Context, matches []promoted.Match) *PromotedReply {
	out := &PromotedReply{Promoted: make([]PromotedAnswer, len(matches))}
	files := sourceFiles{known: a.knownFiles(ctx)}
	for i, m := range matches {
		p := PromotedAnswer{
			ID: m.Answer.ID, Question: m.Answer.Question, Standalone: m.Answer.Standalone, Answer: m.Answer.Text,
			Citations: files.citations(ctx, m.Answer.Citations, m.Answer.Language),
			ThreadID:  m.Answer.Thread, RunID: m.Answer.Run, Promoted: m.Answer.Promoted.UTC(), Similarity: m.Similarity,
			ChangedNotice: prompts.Say(prompts.Changed, m.Answer.Language),
		}
		for _, c := range p.Citations {
			p.Stale = p.Stale || c.Changed
		}
		out.Promoted[i] = p
	}
	return out
}
