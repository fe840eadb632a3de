package settings

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"example.com/ragflow"
	"example.com/ragflow/checkpoint"
	"example.com/ragflow/checkpoint/postgres"
	"example.com/ragflow/search"
	"example.com/ragflow/search/pgvector"
	"example.com/ragflow/search/weaviate"
	"example.com/ragflow/threads"
)

// embeddedIndex is the value of RAGFLOW_INDEX for the index in the data folder.
const embeddedIndex = "embedded"

// onPostgres reports whether the address of an index is one of PostgreSQL.
func onPostgres(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// indexTable lists the settings of an index on a server.
func indexTable(c *ragflow.Config) []setting {
	var key string
	open := func(ctx context.Context, address, collection string) (search.Backend, error) {
		if onPostgres(address) {
			return pgvector.Open(ctx, address, collection)
		}
		return weaviate.Open(ctx, address, weaviate.Options{Key: key, Collection: collection, Logger: c.Logger})
	}
	const allowed = embeddedIndex + ", or an address such as weaviate://localhost:8080?grpc=50051 or postgres://user@host:5432/database"
	return []setting{
		row("RAGFLOW_INDEX", embeddedIndex, firstPage|isAddress, allowed, or(embeddedIndex, func(address string) bool {
			c.Index = func(ctx context.Context, collection string) (search.Backend, error) {
				db, err := open(ctx, address, collection)
				if err != nil {
					return nil, fmt.Errorf("open the index: %w", err)
				}
				return db, nil
			}
			if onPostgres(address) {
				return pgvector.CheckAddress(address) == nil
			}
			return weaviate.CheckAddress(address) == nil
		})),
		row("WEAVIATE_API_KEY", "", isSecret, "a key", text(&key)),
	}
}

// openPostgres returns the function that opens the threads at the address of a PostgreSQL
// server.
func openPostgres(address string) func(context.Context, bool) (threads.Store, error) {
	return func(ctx context.Context, readOnly bool) (threads.Store, error) {
		return postgres.Open(ctx, address, postgres.Options{
			Texts: threads.Texts, Owner: checkpoint.ProcessOwner(), OwnerDied: checkpoint.OwnerDied, ReadOnly: readOnly,
		})
	}
}

// openCache returns the function that opens the database of the threads at an address for the cache, in their schema.
func openCache(address string) func(context.Context) (*sql.DB, error) {
	return func(context.Context) (*sql.DB, error) {
		c, err := pgxpool.ParseConfig(address) // knows its own parameters, too
		if err != nil {
			return nil, errors.New("RAGFLOW_STORE is not the address of a PostgreSQL server") // err may show the password
		}
		params := c.ConnConfig.RuntimeParams
		params["search_path"] = cmp.Or(params["search_path"], postgres.DefaultSchema)
		return stdlib.OpenDB(*c.ConnConfig), nil
	}
}

// redacted is an address without its password.
func redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "set"
	}
	return u.Redacted()
}
