package nodes

import (
	"context"
	"fmt"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/state"
)

// verdict is what the check of a model's answer found, and the answer as repaired.
type verdict struct {
	cite.Repaired

	sentences, claims, grounded, invalid int // of what the model wrote
}

// unsupported reports whether no source supports any part of an answer.
func (v verdict) unsupported() bool { return v.Text == "" || v.claims > 0 && v.grounded == 0 }

// judge checks the statements of an answer, or of a part of one.
type judge struct {
	Answering

	ctx      context.Context //nolint:containedctx // of the one answer that it checks
	task     state.Task
	verified int // statements that the verifier has read
	total    verdict
}

// add repairs a part of the answer by its report. It returns the text that may be shown,
// "" if the part is dropped.
func (j *judge) add(part string, r cite.Report) (string, error) {
	if j.Verifier != nil {
		if err := j.verify(&r); err != nil {
			return "", err
		}
	}
	fixed := cite.Repair(part, r, cite.Fixing{Unsupported: prompts.Say(prompts.Unsupported, j.task.Language), Strict: j.Strict})
	v := &j.total
	v.sentences, v.claims, v.grounded, v.invalid = v.sentences+len(r.Sentences), v.claims+r.Claims, v.grounded+r.Grounded, v.invalid+r.Invalid
	v.Picks = append(v.Picks, fixed.Picks...)
	v.Report.Add(fixed.Report)
	v.Reattached, v.Unsupported, v.Dropped = v.Reattached+fixed.Reattached, v.Unsupported+fixed.Unsupported, v.Dropped+fixed.Dropped
	return fixed.Text, nil
}

// unmarked returns the mark that an answer needs which is too short to be checked, such as
// one word that a document told a model to say: the first source that holds it, or that
// none does. It returns "" for other answers.
func (j *judge) unmarked(answer string) string {
	if j.total.sentences == 0 || j.total.claims > 0 || len(j.total.Report.Cited) > 0 {
		return ""
	}
	for i, s := range j.task.Sources {
		if strings.Contains(strings.ToLower(s.Text), strings.ToLower(strings.Trim(answer, " .!\"*"))) {
			return " " + cite.Marker(i+1)
		}
	}
	return " " + prompts.Say(prompts.Unsupported, j.task.Language)
}

// maxVerified is the maximum number of statements of an answer that a [Verifier] reads.
const maxVerified = 20

// verify denies the statements that the rules take for supported and the verifier does not.
func (j *judge) verify(r *cite.Report) error {
	var statements, passages []string
	var at []int
	for i, s := range r.Sentences {
		if s.Kind != cite.Claim || !s.Grounded || j.verified+len(at) == maxVerified {
			continue
		}
		by := s.Cited
		if !s.Supported {
			by = []int{s.Best.N}
		}
		var passage []string
		for _, n := range by {
			passage = append(passage, j.task.Sources[n-1].Text)
		}
		at, statements, passages = append(at, i), append(statements, s.Text), append(passages, strings.Join(passage, "\n\n"))
	}
	if len(at) == 0 {
		return nil
	}
	j.verified += len(at)
	holds, err := j.Verifier.Verify(j.ctx, statements, passages)
	if err != nil {
		return fmt.Errorf("verify the answer: %w", err)
	}
	denied := 0
	for i, holds := range holds {
		if !holds {
			r.Deny(at[i])
			denied++
		}
	}
	if holds != nil {
		graph.Note(j.ctx, "verified", fmt.Sprintf("%d of %d statements", len(at)-denied, len(at)))
	}
	return nil
}
