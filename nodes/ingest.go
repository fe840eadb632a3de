package nodes

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"example.com/ragflow/graph"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// ErrEmptyQuery says that a turn holds no question: no message of a person, or
// only white space.
var ErrEmptyQuery = errors.New("query cannot be empty")

// Ingest returns the node that makes the last message of a person the query of
// a new turn: white space is collapsed, what is beyond [MaxQueryRunes] is cut
// with a warning, and the scratch of the turn before is cleared. It calls no
// model.
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
