package feedback

import (
	"encoding/json"
	"io"
	"slices"

	"example.com/ragflow/internal/skills/cite"
)

// item is a line of a dataset as `ragflow eval` reads it, see eval.Item.
type item struct {
	ID       string `json:"id"`
	Question string `json:"question,omitempty"`
	expected
	Turns []turn `json:"turns,omitempty"`
}

type turn struct {
	Question string `json:"question"`
	expected
}

// expected holds what was rated. Passages and Quality are for programs; eval does not read them.
type expected struct {
	ExpectedAnswer string   `json:"expected_answer,omitempty"`
	Relevant       []string `json:"relevant,omitempty"`
	Passages       []string `json:"passages,omitempty"`
	Quality        *float64 `json:"quality,omitempty"`
}

// WriteDataset writes the rated questions as a dataset, oldest first: of each answer the last rating, with the better
// answer of the person or else the good one, and the pages that it cites. A question that continued a conversation
// comes as its last turn. It returns how many were written, and how many bad answers were left out because nobody
// said what a better one is.
func (l *List) WriteDataset(w io.Writer) (written, left int, err error) {
	latest := l.Latest()
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	for _, f := range slices.Backward(latest) {
		e := expected{cite.Strip(f.Better), f.Sources, f.Passages, f.Quality}
		if e.ExpectedAnswer == "" && f.Rating == RatingUp {
			e.ExpectedAnswer = f.Answer
		}
		if e.ExpectedAnswer == "" {
			left++
			continue
		}
		it := item{ID: f.RunID}
		if len(f.Before) == 0 {
			it.Question, it.expected = f.Question, e
		} else {
			for _, q := range f.Before {
				it.Turns = append(it.Turns, turn{Question: q})
			}
			it.Turns = append(it.Turns, turn{f.Question, e})
		}
		if err := lines.Encode(it); err != nil {
			return written, left, err
		}
		written++
	}
	return written, left, nil
}
