package checkpoint_test

import (
	"context"
	"fmt"
	"io"
	"time"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sqlite"
)

// childFault acts as a process that something goes wrong with.
func childFault(ctx context.Context, s *checkpoint.SQLite, mode, path string, out io.Writer) error {
	switch mode {
	case "holding": // dies within a transaction, holding the lock
		db, err := sqlite.Open(ctx, path, sqlite.Options{Migrations: []string{""}})
		if err != nil {
			return err
		}
		return db.Write(ctx, func(tx *sqlite.Tx) error {
			if _, err := tx.Exec(`UPDATE threads SET head = 1`); err != nil {
				return err
			}
			fmt.Fprintln(out, "holding")
			select {}
		})
	case "frozen": // writes until it finds that it was superseded
		const ttl = 300 * time.Millisecond
		l, err := s.Acquire(ctx, "t", graph.AcquireOptions{Owner: checkpoint.ProcessOwner(), TTL: ttl})
		if err != nil {
			return err
		}
		for at := graph.CommitID(0); ; {
			b := graph.Batch{Commit: graph.Commit{Parent: at, Run: "frozen", Source: graph.SourceInput, Status: graph.Running}}
			if at, err = s.Commit(ctx, l, b); err != nil {
				fmt.Fprintln(out, "refused:", err)
				return nil
			}
			fmt.Fprintln(out, at)
			time.Sleep(10 * time.Millisecond)
		}
	}
	return fmt.Errorf("unknown mode %q", mode)
}
