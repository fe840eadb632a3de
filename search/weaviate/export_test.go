package weaviate

import (
	"context"

	"example.com/ragflow/internal/remote"
)

// OpenStore returns what an index on the server stands on.
func OpenStore(ctx context.Context, address string) (remote.Store, error) {
	return open(ctx, address, Options{})
}
