package graph

import "context"

type ownerKey struct{}

// OwnedBy returns a context for the calls of one user. With it every function of this package and of a
// [Store] sees only the threads of that owner: any other thread is [ErrNotFound], and lists leave it out.
// A thread belongs to the owner in the context of the first [Store].Acquire, for good. Without an owner
// all threads are seen, and new ones belong to nobody. An owner is valid UTF-8 without NUL.
func OwnedBy(ctx context.Context, owner string) context.Context {
	return context.WithValue(ctx, ownerKey{}, owner)
}

// OwnerOf returns the owner in a context; empty for none.
func OwnerOf(ctx context.Context) string {
	owner, _ := ctx.Value(ownerKey{}).(string)
	return owner
}
