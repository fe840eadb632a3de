// Package threads lists, shows and edits the conversations of a checkpoint
// store.
//
//	log := threads.New(store, plan, threads.Options{})
//	list, err := log.List(ctx)
//	whole, err := log.Thread(ctx, list[0].ID)
//
// The store is an append-only log, so history is always complete: undo, prune
// and fork are commits or copies, never rewrites. Files:
//
//   - history.go lists threads and folds a log into its messages;
//   - find.go and runs.go find runs by id, prefix or "last";
//   - edit.go undoes, forks, deletes and seals; prune.go drops old turns and threads;
//   - archive.go exports and imports; verify.go checks every commit and snapshot;
//   - views.go holds the SQL views that make the database readable.
package threads
