package ragflow

import (
	"context"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/internal/index"
	"example.com/ragflow/state"
)

// Statements is how many SQL statements an assistant with a data folder has run.
func Statements(a *Assistant) int64 {
	return a.store.(*checkpoint.SQLite).Counters().Statements + a.collections.open[a.config.Collection].index.(*index.DB).Counters().Statements
}

// CountReads answers a question and counts how often it reads chunks from the index.
func CountReads(ctx context.Context, a *Assistant, q Question) (reply *Reply, reads int, err error) {
	r, err := a.prepare(ctx, q)
	if err != nil {
		return nil, 0, err
	}
	read := r.chunks.read
	r.chunks.read = func(ctx context.Context, ids []string) ([]state.Chunk, error) {
		reads++
		return read(ctx, ids)
	}
	err = a.tell(ctx, r, "", func(string, int64) {}, func(e Event) {
		if e.Kind == Done {
			reply = e.Reply
		}
	}, nil)
	return reply, reads, err
}
