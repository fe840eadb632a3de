package main

import (
	"context"

	"example.com/ragflow"
	"example.com/ragflow/search"
	"example.com/ragflow/search/weaviate"
)

// embeddedIndex is the value of RAGFLOW_INDEX for the index in the data folder.
const embeddedIndex = "embedded"

// weaviateTable lists the settings of an index on a Weaviate server.
func weaviateTable() []setting {
	var key string // the row of the key comes first
	return []setting{
		{
			name: "WEAVIATE_API_KEY", is: secret, allowed: "a key",
			set: text(func(*ragflow.Config) *string { return &key }),
		},
		{
			name: "RAGFLOW_INDEX", key: "index", preset: embeddedIndex, is: firstPage | address,
			allowed: embeddedIndex + ", or an address such as weaviate://localhost:8080?grpc=50051",
			set: or(embeddedIndex, func(c *ragflow.Config, address string) bool {
				c.Index = func(ctx context.Context, collection string, local search.Backend) (search.Backend, error) {
					db, err := weaviate.Open(ctx, address, weaviate.Options{Key: key, Collection: collection, Catalogue: local, Logger: c.Logger})
					if err != nil {
						return nil, failed("open the index", err)
					}
					return db, nil
				}
				return weaviate.CheckAddress(address) == nil
			}),
		},
	}
}
