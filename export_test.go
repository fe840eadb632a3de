package ragflow

import (
	"example.com/ragflow/checkpoint"
	"example.com/ragflow/internal/index"
)

// Statements is how many SQL statements an assistant with a data folder has run.
func Statements(a *Assistant) int64 {
	return a.store.(*checkpoint.SQLite).Counters().Statements + a.index.(*index.DB).Counters().Statements
}
