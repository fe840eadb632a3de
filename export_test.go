package ragflow

import "example.com/ragflow/checkpoint"

// Statements is how many SQL statements an assistant with a data folder has run.
func Statements(a *Assistant) int64 {
	threads, ok := a.threads.(*checkpoint.SQLite)
	if !ok {
		return 0
	}
	return threads.Counters().Statements + a.index.Counters().Statements
}
