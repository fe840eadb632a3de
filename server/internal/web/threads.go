package web

import (
	"context"

	"example.com/ragflow/threads"
)

// list returns conversations that were not deleted.
func (s *site) list(ctx context.Context, q threads.Query) (threads.Page, error) {
	return s.a.Threads().List(ctx, q)
}
