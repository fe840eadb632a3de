// Package threads lists, shows and edits the conversations of a checkpoint
// store.
//
//	log := threads.New(store, plan, threads.Options{})
//	list, err := log.List(ctx)
//	whole, err := log.Thread(ctx, list[0].ID)
//
// The store is an append-only log, so history is always complete: undo and
// prune are commits, never rewrites. Files:
//
//   - history.go lists threads and folds a log into its messages;
//   - find.go finds runs by id or "last";
//   - edit.go undoes, deletes and seals; prune.go drops old turns;
//   - archive.go exports and imports; verify.go checks every commit and snapshot;
//   - views.go holds the SQL views that make the database readable.
package threads
