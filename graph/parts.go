package graph

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/ragflow/internal/batch"
	"example.com/ragflow/internal/codec"
)

// saveDelay is how long a finished part waits for others, to be saved in one transaction. A
// fan-out that is over before then saves its update only.
const saveDelay = time.Millisecond

// partCodec says what JSON does to the results of parts: it cannot restore all of them, or may
// change them.
type partCodec struct{ lost, differs bool }

// fan is one call of a [FanOut].
type fan[T, U any] struct {
	codec   partCodec
	task    *taskContext // nil outside of a run
	at      fanPlace
	parts   []T
	results []U
	saved   map[int]savedPart       // of an earlier attempt
	asked   bool                    // there are open questions
	done    batch.Writer[savedPart] // finished; its Fail ends the other workers
}

// fanPlace identifies a call of a FanOut: the task, and the number of the call in its attempt.
type fanPlace struct {
	address string
	call    int
}

// savedPart is a finished part in the ledger. Hash identifies the input of the part, so that its
// result is never taken for that of another part.
type savedPart struct {
	Part  int             `json:"part"`
	Hash  string          `json:"hash"`
	At    time.Time       `json:"at"`
	Body  json.RawMessage `json:"body"`
	Notes Notes           `json:"notes,omitzero"`
}

func newFan[T, U any](ctx context.Context, codec partCodec, parts []T) *fan[T, U] {
	f := &fan[T, U]{codec: codec, parts: parts, results: make([]U, len(parts))}
	f.done.Delay, f.done.Write = saveDelay, f.save
	b := taskContextOf(ctx)
	if b == nil {
		return f
	}
	b.mu.Lock()
	b.fans++
	f.at.call = b.fans
	b.mu.Unlock()
	f.task, f.at.address = b, b.address()
	again := Info(ctx).Attempt > 1 // the task has the notes of these parts
	s := b.of
	s.mu.Lock()
	defer s.mu.Unlock()
	f.asked = len(s.open) > 0
	for p, d := range s.ledger {
		if p.path == f.at.address && strings.HasPrefix(p.node, f.at.node()) {
			f.restore(d.Body, s.closed, again)
		}
	}
	return f
}

// node begins the name of the ledger's entries of a call.
func (at fanPlace) node() string { return fmt.Sprintf("%s%d:", partNode, at.call) }

// restore reads a group of saved parts. The notes of those that finished before the run was
// closed are in the failed task already.
func (f *fan[T, U]) restore(group []byte, closed time.Time, noted bool) {
	var parts []savedPart
	if json.Unmarshal(group, &parts) != nil {
		return // they run again
	}
	if f.saved == nil {
		f.saved = map[int]savedPart{}
	}
	for _, p := range parts {
		if noted || !p.At.After(closed) {
			p.Notes = Notes{}
		}
		f.saved[p.Part] = p
	}
}

// part sets the result of a part that finished before, or runs the part and saves its result. A part whose questions
// are open waits.
func (f *fan[T, U]) part(ctx context.Context, i int, work func(context.Context, int) (U, error)) (err error) {
	hash := f.hash(i)
	if p, ok := f.saved[i]; ok && p.Hash == hash {
		taskContextOf(ctx).write(func(n *Notes) { *n = p.Notes })
		f.results[i], err = decode[U](p.Body)
		return err
	}
	if f.asked {
		b := taskContextOf(ctx)
		if open := b.of.unanswered(b.address()); open != nil {
			b.asks(open...)
			return &InterruptError{Questions: open}
		}
	}
	u, err := callNode(ctx, work, i)
	if err == nil && hash != "" {
		if body, none := encode(u); none == nil { // merge may drop what has no JSON
			if f.codec.differs || codec.InvalidUTF8(body) {
				u, err = decode[U](body) // merge must see what a resume returns
			}
			f.done.Add(savedPart{i, hash, f.task.of.o.Clock().UTC(), body, taskContextOf(ctx).soFar()})
		}
	}
	f.results[i] = u
	return err
}

// hash returns the hash of a part; empty if its result is not saved. Without a store, results are kept for
// other attempts of the node.
func (f *fan[T, U]) hash(i int) string {
	if f.task == nil || f.task.of.save == nil && !f.task.retries || f.codec.lost {
		return ""
	}
	body, err := encode(f.parts[i])
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:8])
}

// save puts a group of finished parts into the ledger.
func (f *fan[T, U]) save(group []savedPart) error {
	body, err := encode(group)
	if err != nil {
		return err
	}
	p := place{f.at.address, fmt.Sprintf("%s%d:%s", f.at.node(), group[0].Part, group[0].Hash), 0}
	return f.task.of.put(f.task, p, Delta{Path: p.path, Node: p.node, Body: body})
}

// close ends a call. After a failure it saves all finished parts for the next attempt.
func (f *fan[T, U]) close(err error) {
	if err == nil {
		f.done.Drop()
	} else {
		_ = f.done.Flush() // if it fails, these parts run again
	}
}

// soFar returns a copy of the notes.
func (b *taskContext) soFar() (n Notes) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.notes != nil {
		n = *b.notes
		n.Details, n.Calls, n.Warnings = slices.Clone(n.Details), slices.Clone(n.Calls), slices.Clone(n.Warnings)
	}
	return n
}
