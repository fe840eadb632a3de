package weaviate

import (
	"context"
	"time"
)

// What settle waits for, and how long. By default a server writes to disk after a minute.
const (
	settledFrom  = 1000 // passages; fewer are ranked well enough
	settledShare = 0.9
	settledWait  = 75 * time.Second
	settledPause = 250 * time.Millisecond
)

// settle waits until the server ranks by what it holds: for BM25 it counts only the passages
// and files that it has written to disk, and ranks badly right after a large import.
func (db *Store) settle(ctx context.Context) error {
	chunks, err := db.count(ctx, db.prefix+"Chunk", "")
	if err != nil || chunks < settledFrom {
		return err
	}
	files, err := db.count(ctx, db.prefix+"File", "")
	if err != nil {
		return err
	}
	for until := time.Now().Add(settledWait); time.Now().Before(until); {
		written, err := db.written(ctx, db.prefix+"Chunk", chunks)
		if written && err == nil {
			written, err = db.written(ctx, db.prefix+"File", files)
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

// written reports whether most of the objects of a class are on disk, on each node that is up.
func (db *Store) written(ctx context.Context, class string, all int) (bool, error) {
	status, err := db.client.Cluster().NodesStatusGetter().WithClass(class).WithOutput("verbose").Do(ctx)
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
	return float64(onDisk) >= settledShare*float64(int64(all)*min(max(1, db.replicas), up)), nil
}
