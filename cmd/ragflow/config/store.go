package config

import (
	"context"
	"net/url"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/checkpoint/postgres"
	"example.com/ragflow/threads"
)

// openPostgres returns the function that opens the threads at the address of a PostgreSQL
// server.
func openPostgres(address string) func(context.Context, bool) (threads.Store, error) {
	return func(ctx context.Context, readOnly bool) (threads.Store, error) {
		return postgres.Open(ctx, address, postgres.Options{
			Views: threads.PostgresViews(), OwnerDied: checkpoint.OwnerDied, ReadOnly: readOnly,
		})
	}
}

// Redacted is an address without its password.
func Redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "set"
	}
	return u.Redacted()
}
