package checkpoint

import (
	"context"
	"fmt"
	"iter"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sqlite"
)

// walkFirst and walkMore are how many commits Walk reads at a time: few at
// first, because most who walk want only the newest.
const (
	walkFirst = 16
	walkMore  = 256
)

// Walk implements [graph.Store]. It holds no lock and no connection while the
// caller looks at a commit: the log only grows, so that reading it in parts
// gives the same as reading it at once. Where it is pruned or deleted meanwhile,
// the walk ends with ErrNotFound.
func (s *SQLite) Walk(ctx context.Context, thread string, from graph.CommitID) iter.Seq2[graph.Commit, error] {
	return func(yield func(graph.Commit, error) bool) {
		next, count := from, walkFirst
		for {
			commits, err := s.walk(ctx, thread, next, count)
			if err != nil {
				yield(graph.Commit{}, fmt.Errorf("walk: %w", err))
				return
			}
			for _, c := range commits {
				if !yield(c, nil) {
					return
				}
			}
			if len(commits) < count {
				return
			}
			if next = commits[len(commits)-1].Parent; next == 0 {
				return
			}
			count = walkMore
		}
	}
}

// part is a piece of the line of a commit, of a number of commits.
const part = `WITH RECURSIVE line(id, parent, time) AS (
	SELECT id, parent, time FROM commits WHERE id = ?
	UNION ALL
	SELECT c.id, c.parent, c.time FROM line JOIN commits c ON c.id = line.parent
	LIMIT ?) `

func (s *SQLite) walk(ctx context.Context, thread string, from graph.CommitID, count int) (commits []graph.Commit, err error) {
	err = s.db.Read(ctx, func(tx *sqlite.Tx) error {
		commits, err = s.walkPart(tx, thread, from, count)
		return err
	})
	return commits, err
}

// walkPart returns up to count commits with their deltas, from one back.
func (s *SQLite) walkPart(tx *sqlite.Tx, thread string, from graph.CommitID, count int) ([]graph.Commit, error) {
	newest, err := locate(tx, thread, from)
	if err != nil {
		return nil, err
	}
	rows := tx.Query(part+`SELECT `+commitColumns+` FROM line JOIN commits c ON c.id = line.id
		JOIN runs r ON r.id = c.run ORDER BY c.id DESC`, int64(newest), count)
	commits, err := s.scanCommits(tx, rows, thread)
	if err != nil {
		return nil, err
	}
	place := make(map[graph.CommitID]int, len(commits))
	for i, c := range commits {
		place[c.ID] = i
	}
	rows = tx.Query(part+deltasOf(`line`), int64(newest), count)
	return commits, s.eachDelta(tx, rows, func(at graph.CommitID, d graph.Delta) {
		c := &commits[place[at]]
		c.Deltas = append(c.Deltas, d)
	})
}
