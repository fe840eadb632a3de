// Package threads lists, shows and edits the conversations of a checkpoint
// store.
//
//	log := threads.New(store, plan, threads.Options{})
//	page, err := log.List(ctx, threads.Query{Text: "leave", Limit: 20})
//	whole, err := log.Thread(ctx, page.Threads[0].ID)
//
// A store may hold the threads of many owners. [Log.For] returns the log of one of them.
//
// The store is an append-only log, so history is always complete: undo and
// prune are commits, never rewrites. Files:
//
//   - list.go lists, searches and renames threads, as the store describes them;
//   - history.go folds a log into its messages;
//   - find.go finds runs by id or "last";
//   - edit.go undoes, deletes and seals; prune.go drops old turns;
//   - archive.go exports and imports; verify.go checks every commit and snapshot;
//   - views.go holds the SQL views that make the database readable.
package threads
