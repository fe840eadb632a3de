package weaviate

import (
	"context"
	"time"
)

// Limits of settle. By default a server writes to disk after a minute.
const (
	settledFrom  = 1000 // objects put since the last wait; fewer do not affect the ranking
	settledWait  = 75 * time.Second
	settledPause = 250 * time.Millisecond
)

// settle waits after a large import until all passages and files are on the server's disk,
// because BM25 ranks badly before.
func (db *store) settle(ctx context.Context) error {
	if db.put.Swap(0) < settledFrom {
		return nil
	}
	for until := time.Now().Add(settledWait); time.Now().Before(until); {
		written, err := db.written(ctx, "Chunk")
		if written && err == nil {
			written, err = db.written(ctx, "File")
		}
		if written || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(settledPause):
		}
	}
	return nil
}

// written reports whether all objects of a class are on disk, on each node that is up.
func (db *store) written(ctx context.Context, class string) (bool, error) {
	all, err := db.count(ctx, db.prefix+class, "")
	if err != nil {
		return false, err
	}
	status, err := db.client.Cluster().NodesStatusGetter().WithClass(db.prefix + class).WithOutput("verbose").Do(ctx)
	if err != nil {
		return false, db.explain(ctx, err)
	}
	onDisk, up := int64(0), int64(0)
	for _, node := range status.Nodes {
		if len(node.Shards) > 0 { // a node that is down has none
			up++
		}
		for _, shard := range node.Shards {
			onDisk += shard.ObjectCount
		}
	}
	return onDisk >= int64(all)*min(max(1, db.replicas), up), nil
}
