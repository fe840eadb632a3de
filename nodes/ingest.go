package nodes

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// ErrEmptyQuery is the error of a turn without a question: there is no human
// message, or it contains only white space.
var ErrEmptyQuery = errors.New("query cannot be empty")

// Ingest returns the node that starts a turn. The last human message becomes the
// query: white space is collapsed, and text beyond [MaxQueryRunes] is cut with a
// warning. The data of the previous turn is cleared. The node calls no model.
func Ingest() Node {
	return func(ctx context.Context, s state.State) (state.Update, error) {
		m, ok := state.LastHuman(s.Messages)
		if !ok {
			return state.Update{}, ErrEmptyQuery
		}
		query := text.Clean(m.Content)
		if query == "" {
			return state.Update{}, ErrEmptyQuery
		}
		if n := utf8.RuneCountInString(query); n > MaxQueryRunes {
			query = strings.TrimSpace(text.First(query, MaxQueryRunes))
			graph.Warn(ctx, fmt.Sprintf("Query truncated from %d to %d chars", n, MaxQueryRunes))
		}
		graph.Note(ctx, "query", oneLine(query))
		graph.Note(ctx, "chars", strconv.Itoa(utf8.RuneCountInString(query)))
		graph.Note(ctx, "messages", strconv.Itoa(len(s.Messages)))
		return state.Update{NewTurn: &state.Turn{Query: query}}, nil
	}
}
