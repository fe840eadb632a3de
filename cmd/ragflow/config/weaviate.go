package config

import (
	"context"
	"fmt"

	"example.com/ragflow"
	"example.com/ragflow/search"
	"example.com/ragflow/search/weaviate"
)

// embeddedIndex is the value of RAGFLOW_INDEX for the index in the data folder.
const embeddedIndex = "embedded"

// weaviateTable lists the settings of an index on a Weaviate server.
func weaviateTable() []Setting {
	var key string // the row of the key comes first
	return []Setting{
		{
			Name: "WEAVIATE_API_KEY", is: Secret, Allowed: "a key",
			set: text(func(*ragflow.Config) *string { return &key }),
		},
		{
			Name: "RAGFLOW_INDEX", Key: "index", Preset: embeddedIndex, is: FirstPage | Address,
			Allowed: embeddedIndex + ", or an address such as weaviate://localhost:8080?grpc=50051",
			set: or(embeddedIndex, func(c *ragflow.Config, address string) bool {
				c.Index = func(ctx context.Context, collection string, local search.Backend) (search.Backend, error) {
					db, err := weaviate.Open(ctx, address, weaviate.Options{Key: key, Collection: collection, Catalogue: local, Logger: c.Logger})
					if err != nil {
						return nil, fmt.Errorf("open the index: %w", err)
					}
					return db, nil
				}
				return weaviate.CheckAddress(address) == nil
			}),
		},
	}
}
