// Package querylog keeps a record of each question and search in a database of its own, and sums
// up what it holds.
//
//	log := querylog.Open("queries.db", querylog.Options{})
//	log.Add(querylog.Entry{Kind: querylog.Ask, Question: "Who approves leave?"})
//	report, err := querylog.Analyze(ctx, "queries.db", nil, querylog.Query{})
//
// # Rules
//
//   - Add never waits and never fails. One goroutine writes; its queue is bounded. An entry that
//     cannot be written is counted and reported to the logger, and the next one that can be written
//     is preceded by an entry that says how many are missing.
//   - Entries are deleted when they are older than [Options].Keep, and the oldest ones when all
//     have more than [Options].MaxBytes. This happens when others are written.
//   - A run has one entry: that of its last end.
//   - A damaged or foreign file is left as it is.
//
// # The database
//
// The table entries has a row for each entry: its id, its time in microseconds, its bytes, and its JSON,
// which is a text or, with keys, encrypted and bound to id and time. Texts from before there was a key are
// encrypted when the file is next opened for writing. The view query_logs shows the texts.
package querylog
