package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/ragflow"
	"example.com/ragflow/state"
)

// conversation is the thread of a question, and what it is answered from.
type conversation struct {
	given  *given
	thread string // empty: a new one without a name
	isNew  bool
	scope  state.Scope // without Docs: those of flags and settings
}

// converse finds the thread of a name (see threadToAsk) and what it was answered from before,
// which is used again unless a flag says otherwise. Other documents are announced; the next
// question keeps them in the thread. A run is resumed only with the documents that it began with.
func (a *app) converse(ctx context.Context, g *given, name string, resume bool) (c conversation, err error) {
	c.given, c.isNew = g, true
	if c.scope.Filter, err = g.filter(); err != nil || name == "" {
		return c, err
	}
	s, err := a.trusted(a.input(g))
	if err != nil {
		return c, err
	}
	if err := a.makeData(s); err != nil {
		return c, err
	}
	log, store, err := ragflow.OpenThreads(ctx, s.Config)
	if err != nil {
		return c, failed("open "+s.Config.DataDir, err)
	}
	defer closeInto(&err, store)
	if c.thread, c.isNew, err = threadToAsk(ctx, log, name, resume); err != nil || c.isNew {
		return c, err
	}
	last, err := log.StateAt(ctx, c.thread, 0)
	if err != nil || last.Scope.Empty() {
		return c, err
	}
	kept := last.Scope
	if len(g.docs()) == 0 && g.collection == "" {
		return c, c.goOn(kept)
	}
	now := state.Scope{Collection: g.collection, Filter: c.scope.Filter}
	for _, p := range g.docs() {
		now.Docs = append(now.Docs, s.Absolute(p))
	}
	switch {
	case now.Equal(kept):
	case resume:
		return c, usagef("--resume goes on with the documents of the question, %s; leave out --docs and --collection", scopeName(kept)).
			with("ragflow ask --thread " + quoted(c.thread) + " --resume")
	default:
		a.tell("thread %q was answered from %s; from now on it is answered from %s", c.thread, scopeName(kept), scopeName(now))
	}
	return c, nil
}

// goOn makes a conversation use the documents that its thread was answered from.
func (v *conversation) goOn(kept state.Scope) error {
	g := *v.given
	g.collection, v.given = kept.Collection, &g
	v.scope.Docs = kept.Docs
	if v.scope.Filter.Empty() {
		v.scope.Filter = kept.Filter
	}
	err := exist(kept.Docs)
	if f, ok := errors.AsType[*failure](err); ok {
		return f.with(fmt.Sprintf("thread %q was answered from there; name other documents with --docs", v.thread))
	}
	return err
}

// configure makes c answer from the documents of the conversation.
func (v conversation) configure(c *ragflow.Config) {
	if len(v.scope.Docs) > 0 {
		c.Docs = v.scope.Docs
	}
}

// scopeName names the documents of a thread.
func scopeName(s state.Scope) string {
	name := line(strings.Join(s.Docs, ", "))
	if s.Collection != "" {
		name = "the collection " + line(strings.Join(append([]string{s.Collection}, s.More...), ", "))
	}
	if !s.Filter.Empty() {
		name += " (filtered)"
	}
	return cmp.Or(name, "all that is indexed")
}
