package ragflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"

	"example.com/ragflow/graph"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/feedback"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
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
	promotedDir = "promoted" // beside index.db: promoted answers, one Markdown file each
	maxNote     = 2000       // runes of a note
)

// Rating is a person's opinion of one answer.
type Rating struct {
	Thread   string
	Turn     int    // from 1; 0 is the last turn
	Good     bool   // promotes the answer; false withdraws an earlier promotion
	Note     string // why; at most 2000 runes; may be empty
	Question string // title of the promoted answer; empty: the question of the turn
}

// Feedback is a stored rating.
type Feedback = feedback.Feedback

// Rate stores a rating in the data folder. A good rating also promotes the
// answer: the passages that it cites are written as a Markdown file that later questions
// over the same documents search like any document, and that a person may edit or delete. A
// bad rating deletes that file, and so does [Open] once a document does not say the passage
// any more. Errors match ErrNotFound (no such thread or turn), ErrNoAnswer,
// ErrSealed or ErrReadOnly.
func (a *Assistant) Rate(ctx context.Context, r Rating) (*Feedback, error) {
	switch {
	case a.config.ThreadKeys != nil:
		return nil, ErrSealed
	case a.config.DataDir == "":
		return nil, errors.New("feedback is kept in the data folder, and Config.DataDir names none")
	case a.ReadOnly():
		return nil, a.readOnly("no feedback can be stored")
	case utf8.RuneCountInString(r.Note) > maxNote:
		return nil, fmt.Errorf("a note has at most %d characters", maxNote)
	}
	id, err := a.runOfTurn(ctx, r.Thread, r.Turn)
	if err != nil {
		return nil, err
	}
	run, err := a.log.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	turn := run.State.Turn
	f := &feedback.Feedback{
		Time: a.config.Clock().UTC().Truncate(time.Microsecond), ThreadID: r.Thread, RunID: id,
		Question: cmp.Or(text.Clean(r.Question), turn.Query), Rating: feedback.RatingDown, Note: text.Clean(r.Note),
	}
	path := ""
	if len(turn.Citations) > 0 {
		path = filepath.Join(a.config.promotedFolder(turn.Citations[0].Root), feedback.PromotedName(id)+".md")
	}
	if r.Good {
		if len(run.Commits) == 0 || run.Commits[0].Status != graph.Completed || turn.Abstained || path == "" {
			return nil, ErrNoAnswer
		}
		f.Rating, f.Document = feedback.RatingUp, path
		err = feedback.WritePromoted(path, f, turn)
	} else if err = os.Remove(path); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("store feedback: %w", err)
	}
	a.library.Outdate() // the next question reads the promoted answers again
	return f, feedback.AppendFeedback(a.config.DataDir, f)
}

// promotedFolder is where answers lie that were promoted from the documents of a root:
// beside the index that finds them. So questions over other documents do not see them.
func (c Config) promotedFolder(root string) string {
	return filepath.Join(filepath.Dir(c.indexPath()), promotedDir, feedback.PromotedName(root))
}

// promotedFolders are the folders of answers that were promoted from the documents of c, or from
// all documents where c names none.
func (c Config) promotedFolders() (out []string) {
	for _, docs := range c.Docs {
		if root, err := ingest.Root(docs); err == nil {
			out = append(out, c.promotedFolder(root))
		}
	}
	if len(c.Docs) > 0 {
		return out
	}
	all := filepath.Dir(c.promotedFolder(""))
	entries, _ := os.ReadDir(all) // nothing was promoted yet
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, filepath.Join(all, e.Name()))
		}
	}
	return out
}

// dropPromoted deletes promoted answers whose documents do not say them any more.
func (a *Assistant) dropPromoted(ctx context.Context) error {
	if a.config.indexPath() == "" || a.ReadOnly() {
		return nil
	}
	files := &ingest.CitedFiles{}
	for _, folder := range a.config.promotedFolders() {
		promoted, err := feedback.Promoted(folder)
		if err != nil {
			return fmt.Errorf("read promoted answers: %w", err)
		}
		for path, id := range promoted {
			run, err := a.log.Run(ctx, id)
			if err != nil {
				continue // its thread was deleted, or cannot be read: the person's file stays
			}
			if slices.ContainsFunc(run.State.Turn.Citations, func(c state.Citation) bool { return files.Changed(ctx, c) }) {
				if err := os.Remove(path); err != nil {
					return fmt.Errorf("delete a promoted answer whose document changed: %w", err)
				}
			}
		}
	}
	return nil
}

// runOfTurn returns the run that answered a turn of a thread.
func (a *Assistant) runOfTurn(ctx context.Context, thread string, turn int) (string, error) {
	t, err := a.log.Thread(ctx, thread)
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
