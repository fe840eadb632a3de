package ragflow

import (
	"context"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/internal/index"
)

// Statements is how many SQL statements an assistant with a data folder has run.
func Statements(a *Assistant) int64 {
	return a.store.(*checkpoint.SQLite).Counters().Statements + a.collections.open[a.config.Collection].index.(*index.DB).Counters().Statements
}

// Bind makes the flow over what is indexed, as the first question does.
func Bind(ctx context.Context, a *Assistant) error {
	_, err := a.collections.current(ctx)
	return err
}
