// Package server opens one [ragflow.Assistant] to the clients that people already use, over HTTP.
//
//	s, err := server.New(a, server.Options{Tokens: "/srv/ragflow/tokens", Logger: logger})
//	err = s.Serve(ctx, listener)
//
// Each protocol is a package of its own that lists its routes: internal/api is our own one. Package
// internal/door checks every request before it reaches a route: by default only programs of this
// machine may call, under its loopback names. A question that a client asks and leaves is cancelled,
// unless its protocol lets runs go on; answers are streams of server-sent events, made from
// [ragflow.Event].
package server
