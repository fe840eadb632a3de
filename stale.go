package ragflow

import (
	"context"
	"slices"
	"strings"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/nodes"
	"example.com/ragflow/state"
)

// renewing returns the node retrieval of a turn over some collections. If the file of one of
// the best passages is not the one that was indexed, the file is indexed and the node runs
// again, as that of a turn over the new index, which makes the rest of the turn. This is done
// before there is an answer, because text that was told would have to be taken back, and the
// second answer would be a second turn of the thread.
func (a *Assistant) renewing(t *turn, collections []string, f state.Filter) nodes.Node {
	retrieve := t.nodes[nodes.RetrievalID]
	return func(ctx context.Context, s state.State) (state.Update, error) {
		update, err := retrieve(ctx, s)
		if err != nil || update.Hits == nil {
			return update, err
		}
		best, err := t.best(ctx, *update.Hits, *update.Ranking)
		if err != nil {
			return update, err
		}
		changed, err := t.renew(ctx, best)
		if err == nil && len(changed) == 0 && slices.ContainsFunc(best, isPromoted) { // the document that it rests on is not among the best
			changed, err = a.collections.dropPromoted(ctx, collections, best)
		}
		if err != nil || len(changed) == 0 {
			return update, err
		}
		b, err := a.collections.current(ctx, collections...)
		if err != nil || b == t.bound {
			return update, err
		}
		next, err := a.newTurn(ctx, b, t.settings, f)
		if err != nil {
			return update, err
		}
		if t.researcher != nil {
			a.research(next)
		}
		t.next.Store(next)
		graph.Note(ctx, "changed since indexed", strings.Join(changed, ", "))
		return next.nodes[nodes.RetrievalID](ctx, s)
	}
}

// renewTime is how long a question waits until changed files are indexed: another job may hold
// their folder, and OCR and models take their time.
const renewTime = 3 * time.Second

// best returns a chunk of each file that the best passages are from.
func (t *turn) best(ctx context.Context, hits []state.Hit, ranking state.Ranking) (best []state.Chunk, err error) {
	var ids []string
	for _, i := range ranking.Hits {
		ids = append(ids, hits[i].Chunk)
	}
	chunks, err := t.chunks.Chunks(ctx, ids)
	for _, c := range chunks {
		same := func(o state.Chunk) bool { return o.Root == c.Root && o.Source == c.Source }
		if len(best) < nodes.MaxSources && !slices.ContainsFunc(best, same) {
			best = append(best, c)
		}
	}
	return best, err
}

// renew indexes the files of the best passages that are not those that were indexed, and
// returns their sources. If that fails or takes too long, the person is warned.
func (t *turn) renew(ctx context.Context, best []state.Chunk) (changed []string, err error) {
	limited, cancel := context.WithTimeout(ctx, renewTime)
	defer cancel()
	for _, l := range t.libraries {
		sources, err := l.Renew(limited, best)
		if err != nil && ctx.Err() == nil {
			graph.Warn(ctx, "A document has changed and could not be indexed: "+err.Error())
		}
		changed = append(changed, sources...)
	}
	return changed, ctx.Err()
}
