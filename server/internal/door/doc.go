// Package door has what all doors of the server share: who asks, what they may do, how much, and
// how they are answered.
//
// A protocol is a list of [Route]; a [Gate] serves the routes of all protocols and is the only one
// that checks. In this order: the host, the origin, the token, its scope, its rate, the number of
// long requests. A handler therefore runs only for a [Principal], which it finds in its context,
// together with the owner for graph.OwnerOf; the context ends when the token is revoked.
//
// [Keys] knows the tokens, [Stream] writes server-sent events.
package door
