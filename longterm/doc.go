// Package longterm is a store of facts that outlive a thread: what a person prefers, what an
// agent has learnt. A fact is a JSON value under a namespace, such as {"users", "ann"}, and a
// key.
//
//	store, err := longterm.Open(ctx, "facts.db", longterm.Options{})
//	err = store.Put(ctx, longterm.Namespace{"users", "ann"}, "diet", map[string]string{"food": "vegetarian"})
//	found, err := store.Search(ctx, longterm.Namespace{"users"}, longterm.Query{Text: "what does ann eat"})
//
// Rules:
//
//   - A fact is found by its key, by the words of its value, and with an embedder by its
//     meaning. Words are ranked by BM25; both lists are fused by reciprocal rank with k = 60
//     (Cormack and others, SIGIR 2009).
//   - Letters without their marks find those with them ("gdansk" finds "Gdańsk"), for half of the weight.
//   - A search by words reads the facts that share a word with it. One by meaning, or without a
//     text, goes through all facts below its namespace, one at a time. The store is made for
//     facts, not for documents: those belong to package search.
//   - A fact with a time to live is gone for every reader once that time has passed. Its row
//     is deleted by [Store.Sweep].
//
// [Open] keeps facts in SQLite; longterm/postgres keeps them in PostgreSQL.
// longterm/longtermtest checks a new kind of [Table].
package longterm
